import GatewayModel
import Stage

extension EventResource {
    /// - Parameter context: What events do not bring along themselves.
    init(_ event: StageEvent, context: EventContext) {
        self.init(
            type: event.name.rawValue,
            roomSID: event.roomSID,
            rev: event.revision,
            ts: Timestamp(event.at)
        )
        switch event.payload {
        case .snapshot(let view):
            room = context.room(view)
            participants = view.participants.map { ParticipantResource($0) }
            hands = view.hands.map { HandResource($0) }
            set(view.layout)
        case .roomCreated(let view), .roomUpdated(let view), .roomEnded(let view):
            room = context.room(view)
        case .participantJoined(let view), .participantUpdated(let view), .participantReconnected(let view):
            participant = ParticipantResource(view)
        case .participantReconnecting(let view, let why):
            participant = ParticipantResource(view)
            reason = why.code == Self.mediaCode ? "media" : "signalling"
            code = why.code
        case .participantMediaFailed(let view, let why):
            participant = ParticipantResource(view)
            error = ErrorResource(why)
        case .participantLeft(let view, let why):
            participant = ParticipantResource(view)
            reason = why.rawValue
        case .participantModeChanged(let view, let from):
            participant = ParticipantResource(view)
            previousMode = from.rawValue
        case .trackPublished(let what, let view), .trackEnabled(let what, let view), .trackDisabled(let what, let view),
            .trackSubscribed(let what, let view), .trackUnsubscribed(let what, let view):
            set(what, of: view)
        case .trackUnpublished(let what, let view, let why):
            set(what, of: view)
            // Once more with its last state, but no longer offered.
            track?.published = false
            track?.subscribed = false
            reason = why.rawValue
        case .dominantSpeakerChanged(let change):
            sid = ExplicitNull(wrappedValue: change.participantSID)
            previousSID = ExplicitNull(wrappedValue: change.previousSID)
            reason = change.reason.rawValue
        case .pinChanged(let change):
            participantSID = change.participantSID
            pin = ExplicitNull(wrappedValue: change.pin.map { PinResource($0) })
        case .layoutChanged(let view):
            set(view)
        case .invitation(let change):
            invitation = InvitationResource(change.invitation)
            identities = change.identities
        case .hand(let change):
            hand = HandResource(change.hand)
            reason = change.reason?.rawValue
        case .custom(let event):
            custom = CustomEventResource(event)
        case .assetStored(let file), .assetRemoved(let file):
            asset = AssetResource(file)
        case .viewershipUpdated:
            counts = context.counts(event)
            viewership = context.viewership(event)
        default:
            setEgress(event, context)
        }
    }

    /// The code that says that a host's media is lost, and not its connection to the API.
    private static let mediaCode = 53405

    private mutating func setEgress(_ event: StageEvent, _ context: EventContext) {
        switch event.payload {
        case .livestreamStateChanged(let status): livestream = LivestreamResource(status)
        case .livestreamOutputUpdated(let status): output = OutputResource(status)
        case .livestreamWarning(let what): warning = WarningResource(what)
        case .livestreamError(let why): error = ErrorResource(why)
        case .hlsStateChanged(let status): hls = context.playlist(status, event)
        case .recordingStateChanged(let status), .recordingRotated(let status): recording = RecordingResource(status)
        case .recordingFailed(let why): error = ErrorResource(why)
        case .sessionDisconnected(let why): error = ErrorResource(why)
        default: break
        }
    }

    private mutating func set(_ what: Track, of view: ParticipantView) {
        participant = ParticipantResource(view)
        track = TrackResource(what)
    }

    private mutating func set(_ view: LayoutView) {
        let resource = LayoutResource(view)
        layout = resource
        tiles = resource.tiles
    }
}
