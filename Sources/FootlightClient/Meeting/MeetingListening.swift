public import GatewayModel
public import Stage

/// Who wants to be called when something happens in a meeting; everything is optional.
@MainActor
public protocol MeetingListening: AnyObject {
    func onMeetingJoined()
    /// The meeting is over for oneself; nil when that was wished for.
    func onMeetingLeft(_ error: StageError?)
    func onMeetingStateChanged(_ state: MeetingState)
    func onParticipantJoined(_ participant: ParticipantResource)
    func onParticipantLeft(_ participant: ParticipantResource)
    func onParticipantModeChanged(_ participant: ParticipantResource)
    /// A stream is seen or heard from now on.
    func onStreamEnabled(_ kind: StreamEdges.Kind, _ participant: ParticipantResource)
    /// It no longer is.
    func onStreamDisabled(_ kind: StreamEdges.Kind, _ participant: ParticipantResource)
    /// Who has the floor; nil when nobody speaks.
    func onSpeakerChanged(_ participant: ParticipantResource?)
    func onAudienceCountChanged(_ count: Int)
    /// Somebody asks to speak.
    func onHandRaised(_ hand: HandResource)
    /// Somebody does not ask any more: it was lowered or answered, or its time is over.
    func onHandLowered(_ hand: HandResource)
    /// Somebody told everybody something in the words of the app; a reaction is one of these.
    func onCustomEvent(_ event: CustomEventResource)
    func onLivestreamStateChanged(_ state: String)
    func onHLSStateChanged(_ state: String, playbackURL: String?)
    func onError(_ error: StageError)
}

extension MeetingListening {
    /// Does nothing.
    public func onMeetingJoined() {}
    /// Does nothing.
    public func onMeetingLeft(_ error: StageError?) {}
    /// Does nothing.
    public func onMeetingStateChanged(_ state: MeetingState) {}
    /// Does nothing.
    public func onParticipantJoined(_ participant: ParticipantResource) {}
    /// Does nothing.
    public func onParticipantLeft(_ participant: ParticipantResource) {}
    /// Does nothing.
    public func onParticipantModeChanged(_ participant: ParticipantResource) {}
    /// Does nothing.
    public func onStreamEnabled(_ kind: StreamEdges.Kind, _ participant: ParticipantResource) {}
    /// Does nothing.
    public func onStreamDisabled(_ kind: StreamEdges.Kind, _ participant: ParticipantResource) {}
    /// Does nothing.
    public func onSpeakerChanged(_ participant: ParticipantResource?) {}
    /// Does nothing.
    public func onAudienceCountChanged(_ count: Int) {}
    /// Does nothing.
    public func onHandRaised(_ hand: HandResource) {}
    /// Does nothing.
    public func onHandLowered(_ hand: HandResource) {}
    /// Does nothing.
    public func onCustomEvent(_ event: CustomEventResource) {}
    /// Does nothing.
    public func onLivestreamStateChanged(_ state: String) {}
    /// Does nothing.
    public func onHLSStateChanged(_ state: String, playbackURL: String?) {}
    /// Does nothing.
    public func onError(_ error: StageError) {}

    func hear(_ news: RoomNews) {
        switch news {
        case .participantConnected(let participant): onParticipantJoined(participant)
        case .participantDisconnected(let participant): onParticipantLeft(participant)
        case .modeChanged(let participant, _): onParticipantModeChanged(participant)
        case .streamEnabled(let kind, let participant): onStreamEnabled(kind, participant)
        case .streamDisabled(let kind, let participant): onStreamDisabled(kind, participant)
        case .dominantSpeakerChanged(let participant): onSpeakerChanged(participant)
        default: break
        }
    }
}
