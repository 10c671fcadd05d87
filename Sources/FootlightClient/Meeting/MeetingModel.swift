public import FootlightModel
public import Observation
public import Stage

/// The model of a show with hosts and an audience, for the views of both.
///
/// ## Overview
///
///     let model = MeetingModel(call: call)       // with `capture:` for those who may come on stage
///     model.join("show", mode: .receiveOnly)
///     model.hosts                                // those to be shown
///     model.isAudienceMode                       // which of the two views
///     model.controls                             // what it offers
///     try await model.changeMode(.sendAndReceive)
///
/// A participant changes its own mode; others are promoted by an invitation to the stage, which they may accept.
@MainActor @Observable
public final class MeetingModel {
    /// The underlying call.
    public let call: BroadcastCall
    /// The user's devices.
    public let media: LocalMedia
    /// The streams of the hosts.
    public private(set) var streams = StreamMaps()
    /// The controls of a host's view.
    public var hostControls = CallControl.standard(for: .sendAndReceive)
    /// The controls of a viewer's view.
    public var audienceControls = CallControl.standard(for: .receiveOnly)
    /// Receives the callbacks.
    @ObservationIgnored public weak var listener: (any MeetingListener)?

    private var requestedMode: ParticipantMode?
    @ObservationIgnored private var status: CallStatus
    @ObservationIgnored private var participants: [ParticipantResource] = []
    /// A list that waits for its status, so that participants are reported after the local connection.
    @ObservationIgnored private var pendingParticipants: [ParticipantResource]?
    @ObservationIgnored private var audience = 0
    @ObservationIgnored private var livestream: WireEnum<LivestreamStatus.State>?
    @ObservationIgnored private var hls: WireEnum<HLSState>?
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []

    /// Creates the model of a call.
    ///
    /// - Parameters:
    ///   - call: The underlying call.
    ///   - capture: The capture devices; none by default, for an app whose users only watch.
    public init(call: BroadcastCall, capture: any MediaCapturing = NoCapture()) {
        self.call = call
        call.publishesTracks = false
        media = LocalMedia(publisher: call, capture: capture, clock: call.clock)
        status = call.status
        tasks = [
            Task { [weak self, statuses = call.statusSubject.lastingStream()] in
                for await status in statuses { await self?.apply(status) }
            },
            Task { [weak self, lists = call.participantsSubject.lastingStream()] in
                for await list in lists { await self?.apply(list) }
            },
            Task { [weak self, counts = call.audienceSubject.lastingStream()] in
                for await count in counts { self?.apply(audience: count) }
            },
            Task { [weak self, events = call.eventSubject.lastingStream()] in
                for await event in events { self?.apply(event) }
            },
            Task { [weak self, events = call.customEventSubject.lastingStream()] in
                for await event in events { self?.listener?.onCustomEvent(event) }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }

    // MARK: State

    /// The state of the meeting; nil before a join.
    public var meetingState: MeetingState? { call.status.meetingState }
    /// The error that ended the last attempt.
    public var error: StageError? { call.status.error }
    /// The local participant; nil outside a meeting.
    public var localParticipant: ParticipantResource? { call.localParticipant }
    /// The hosts in join order; other participants have no tile.
    public var hosts: [ParticipantResource] { call.hosts }
    /// The number of viewers.
    public var audienceCount: Int { call.audienceCount }
    /// The raised hands in the order in which they were raised.
    public var raisedHands: [HandResource] { call.hands }
    /// Whether the local participant's hand is raised.
    public var isHandRaised: Bool { call.raisedHand != nil }
    /// The dominant speaker; nil if there is none.
    public var activeSpeaker: ParticipantResource? {
        call.participants.first { $0.isDominantSpeaker }
    }
    /// Whether to show the audience's view: by the local mode, or by the requested mode before that is known.
    public var isAudienceMode: Bool { localMode == .receiveOnly }
    /// The controls of the view: those of hosts or those of the audience, by the same rule.
    public var controls: [CallControl] {
        switch localMode {
        case .sendAndReceive, nil: hostControls
        case .receiveOnly: audienceControls
        case .signallingOnly: CallControl.standard(for: .signallingOnly)
        }
    }
    private var localMode: ParticipantMode? {
        localParticipant.map(\.mode.value) ?? requestedMode
    }
    /// The livestream's state, such as `LIVESTREAM_STARTED`; nil outside a meeting.
    public var livestreamState: WireEnum<LivestreamStatus.State>? { call.room?.room.egress.livestream.state }
    /// The state of HLS, such as `HLS_PLAYABLE`; nil outside a meeting.
    public var hlsState: WireEnum<HLSState>? { call.room?.room.egress.hls.state }

    /// Returns the content of a participant's tile.
    public func tile(of participant: ParticipantResource) -> ParticipantTileContent {
        ParticipantTileContent(
            participant,
            isLocal: participant.identity == call.identity,
            camera: media.cameraPosition
        )
    }

    // MARK: Requests and commands

    /// Joins a meeting.
    public func join(_ room: String, mode: ParticipantMode) {
        requestedMode = mode
        call.join(CallJoin(room: room, mode: mode))
    }

    /// Leaves.
    public func leave() {
        call.leave()
    }

    /// Changes the local participant's mode; the devices follow.
    ///
    /// - Throws: 4065 without permission, 4010 for a full stage, 3065 while reconnecting, 3035 outside a meeting.
    public func changeMode(_ mode: ParticipantMode) async throws(StageError) {
        try await call.changeMode(mode)
        if let own = call.localParticipant { await media.follow(isHost: own.isHost) }
    }

    /// Raises or lowers the hand; when a host accepts, the participant joins the stage and the devices follow.
    ///
    /// - Throws: 3066 for a host, 429 for too many requests, 3065 while reconnecting, 3035 outside a meeting.
    public func setHandRaised(_ isRaised: Bool) async throws(StageError) {
        if isRaised {
            try await call.raiseHand()
        } else {
            try await call.lowerHand()
        }
    }

    /// Starts the livestream; the listener is notified of its progress.
    public func startLivestream(_ body: StartLivestreamBody) async throws(StageError) {
        _ = try await call.client.startLivestream(of: room(), body)
    }

    /// Stops the livestream.
    public func stopLivestream() async throws(StageError) {
        _ = try await call.client.stopLivestream(of: room())
    }

    /// Starts HLS; the listener is notified of its progress.
    public func startHLS(_ body: StartHLSBody = StartHLSBody()) async throws(StageError) {
        _ = try await call.client.startHLS(of: room(), body)
    }

    /// Stops HLS.
    public func stopHLS() async throws(StageError) {
        _ = try await call.client.stopHLS(of: room())
    }

    private func room() throws(StageError) -> String {
        guard let room = call.room?.room.sid else { throw .notJoined }
        return room
    }

    // MARK: Updates

    func apply(_ next: CallStatus) async {
        let before = status
        status = next
        if next.meetingState != before.meetingState, let state = next.meetingState {
            listener?.onMeetingStateChanged(state)
        }
        switch ConnectionChange(from: before, to: next) {
        case .connected: listener?.onMeetingJoined()
        case .failedToConnect(let error): listener?.onError(error)
        case .disconnected(let error):
            streams = StreamMaps()
            (livestream, hls) = (nil, nil)
            listener?.onMeetingLeft(error)
        case .reconnecting, .reconnected, nil: break
        }
        deliverPending()
        await media.apply(next, of: call)
    }

    func apply(_ next: [ParticipantResource]) async {
        pendingParticipants = next
        deliverPending()
        await media.updateRole(of: call)
    }

    private func deliverPending() {
        guard status == call.status, let next = pendingParticipants else { return }
        pendingParticipants = nil
        let changes = RoomChange.changes(from: participants, to: next)
        participants = next
        for change in changes {
            streams.apply(change)
            listener?.notify(change)
        }
    }

    private func apply(audience count: Int) {
        guard count != audience else { return }
        audience = count
        listener?.onAudienceCountChanged(count)
    }

    private func apply(_ event: EventResource) {
        if let error = event.error, event.type == .livestreamError {
            listener?.onError(StageError(error))
        }
        if let hand = event.hand {
            switch event.type.value {
            case .handRaised: listener?.onHandRaised(hand)
            default: listener?.onHandLowered(hand)
            }
        }
        // Reads the event, not the current state, so that states in quick succession are all reported.
        let egress = event.room?.egress
        if let next = (event.livestream ?? egress?.livestream)?.state, next != livestream {
            livestream = next
            listener?.onLivestreamStateChanged(next)
        }
        if let next = event.hls ?? egress?.hls, next.state != hls {
            hls = next.state
            listener?.onHLSStateChanged(next.state, playbackURL: next.playbackHLSURL)
        }
    }
}

/// Receives callbacks for the events of a meeting; every method is optional.
@MainActor
public protocol MeetingListener: AnyObject {
    func onMeetingJoined()
    /// The local participant left the meeting; nil if by request.
    func onMeetingLeft(_ error: StageError?)
    func onMeetingStateChanged(_ state: MeetingState)
    func onParticipantJoined(_ participant: ParticipantResource)
    func onParticipantLeft(_ participant: ParticipantResource)
    func onParticipantModeChanged(_ participant: ParticipantResource)
    /// A stream became visible or audible.
    func onStreamEnabled(_ kind: StreamTransitions.Kind, _ participant: ParticipantResource)
    /// A stream is no longer visible or audible.
    func onStreamDisabled(_ kind: StreamTransitions.Kind, _ participant: ParticipantResource)
    /// The dominant speaker changed; nil if there is none.
    func onSpeakerChanged(_ participant: ParticipantResource?)
    func onAudienceCountChanged(_ count: Int)
    /// A participant raised a hand.
    func onHandRaised(_ hand: HandResource)
    /// A hand was lowered, answered, or has expired.
    func onHandLowered(_ hand: HandResource)
    /// A custom event was sent; a reaction is one.
    func onCustomEvent(_ event: CustomEventResource)
    func onLivestreamStateChanged(_ state: WireEnum<LivestreamStatus.State>)
    func onHLSStateChanged(_ state: WireEnum<HLSState>, playbackURL: String?)
    func onError(_ error: StageError)
}

extension MeetingListener {
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
    public func onStreamEnabled(_ kind: StreamTransitions.Kind, _ participant: ParticipantResource) {}
    /// Does nothing.
    public func onStreamDisabled(_ kind: StreamTransitions.Kind, _ participant: ParticipantResource) {}
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
    public func onLivestreamStateChanged(_ state: WireEnum<LivestreamStatus.State>) {}
    /// Does nothing.
    public func onHLSStateChanged(_ state: WireEnum<HLSState>, playbackURL: String?) {}
    /// Does nothing.
    public func onError(_ error: StageError) {}

    func notify(_ change: RoomChange) {
        switch change {
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

/// The visible and audible streams of hosts, by participant.
///
/// Only hosts are in the maps.
public struct StreamMaps: Sendable, Equatable {
    /// The visible camera tracks by participant sid.
    public private(set) var videoTracks: [String: TrackResource] = [:]
    /// Whether microphones are on, by participant sid.
    public private(set) var micStatus: [String: Bool] = [:]
    /// Whether cameras are on, by participant sid.
    public private(set) var cameraStatus: [String: Bool] = [:]

    /// Creates empty maps.
    public init() {}

    /// Returns a participant's camera track; nil if it is not visible.
    public func videoTrack(of sid: String) -> TrackResource? { videoTracks[sid] }
    /// Whether a participant's microphone is on; false if unknown.
    public func isMicOn(_ sid: String) -> Bool { micStatus[sid] ?? false }
    /// Whether a participant's camera is on; false if unknown.
    public func isCameraOn(_ sid: String) -> Bool { cameraStatus[sid] ?? false }

    /// Records that a stream began; participants that are not hosts have none.
    public mutating func streamEnabled(_ kind: StreamTransitions.Kind, of participant: ParticipantResource) {
        let sid = participant.sid
        guard participant.isHost else {
            videoTracks[sid] = nil
            micStatus[sid] = false
            cameraStatus[sid] = false
            return
        }
        switch kind {
        case .video:
            videoTracks[sid] = participant.track(.camera)
            cameraStatus[sid] = true
        case .audio: micStatus[sid] = true
        case .share: break
        }
    }

    /// Records that a stream ended, whatever the participant's mode.
    public mutating func streamDisabled(_ kind: StreamTransitions.Kind, of sid: String) {
        switch kind {
        case .video:
            videoTracks[sid] = nil
            cameraStatus[sid] = false
        case .audio: micStatus[sid] = false
        case .share: break
        }
    }

    /// Removes a participant that left or stepped down.
    public mutating func remove(_ sid: String) {
        videoTracks[sid] = nil
        micStatus[sid] = nil
        cameraStatus[sid] = nil
    }

    /// Applies a change of the room.
    public mutating func apply(_ change: RoomChange) {
        switch change {
        case .streamEnabled(let kind, let participant): streamEnabled(kind, of: participant)
        case .streamDisabled(let kind, let participant): streamDisabled(kind, of: participant.sid)
        case .modeChanged(let participant, _) where !participant.isHost: remove(participant.sid)
        case .participantDisconnected(let participant): remove(participant.sid)
        default: break
        }
    }
}
