public import GatewayModel
public import Observation
public import Stage

/// A show with hosts and an audience, as the views of both need it.
///
/// ## Overview
///
///     let model = MeetingModel(call: call, capture: capture)
///     model.join("show", mode: .receiveOnly)
///     model.hosts                                // those to be shown
///     model.isAudienceMode                       // which of the two views
///     model.controls                             // what it offers
///     try await model.changeMode(.sendAndReceive)
///
/// Modes are one's own: others are promoted by an invitation to the stage, which they accept or do not.
@MainActor @Observable
public final class MeetingModel {
    /// The call itself.
    public let call: BroadcastCall
    /// The user's devices.
    public let media: LocalMedia
    /// Who is seen and heard.
    public private(set) var streams = StreamMaps()
    /// What the view of a host offers.
    public var hostControls = CallControl.standard(for: .sendAndReceive)
    /// What the view of the audience offers.
    public var audienceControls = CallControl.standard(for: .receiveOnly)
    /// Is called when something happens.
    @ObservationIgnored public weak var listener: (any MeetingListening)?

    private var requestedMode: ParticipantMode?
    @ObservationIgnored private var status: CallStatus
    @ObservationIgnored private var participants: [ParticipantResource] = []
    /// A list that waits for the status it came after, so that who is in a meeting is told after being in it oneself.
    @ObservationIgnored private var held: [ParticipantResource]?
    @ObservationIgnored private var audience = 0
    @ObservationIgnored private var livestream: String?
    @ObservationIgnored private var hls: String?
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []

    /// Makes the model of a call.
    public init(call: BroadcastCall, capture: any MediaCapturing) {
        self.call = call
        call.publishesTracks = false
        media = LocalMedia(publisher: call, capture: capture, clock: call.clock)
        status = call.status
        tasks = [
            Task { [weak self, statuses = call.statuses] in
                for await status in statuses { await self?.take(status) }
            },
            Task { [weak self, lists = call.participantLists] in
                for await list in lists { await self?.take(list) }
            },
            Task { [weak self, counts = call.audienceCounts] in
                for await count in counts { self?.take(audience: count) }
            },
            Task { [weak self, events = call.events] in
                for await event in events { self?.take(event) }
            },
            Task { [weak self, events = call.customEvents] in
                for await event in events { self?.listener?.onCustomEvent(event) }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }

    // MARK: What is to be seen

    /// Where the meeting stands; nil before a join.
    public var meetingState: MeetingState? { call.status.meetingState }
    /// What ended the last attempt.
    public var error: StageError? { call.status.error }
    /// Oneself; nil outside of a meeting.
    public var localParticipant: ParticipantResource? { call.localParticipant }
    /// Those on stage, in join order; nobody else has a tile.
    public var hosts: [ParticipantResource] { call.hosts }
    /// How many watch.
    public var audienceCount: Int { call.audienceCount }
    /// The hands that are up, the one that was raised first at the beginning.
    public var raisedHands: [HandResource] { call.hands }
    /// Whether one's own hand is up.
    public var isHandRaised: Bool { call.raisedHand != nil }
    /// Who has the floor; nil when nobody speaks.
    public var activeSpeaker: ParticipantResource? {
        call.participants.first { $0.isDominantSpeaker }
    }
    /// Whether the audience's view is to be shown: by one's mode, and before that is known by the mode asked for.
    public var isAudienceMode: Bool { localMode == .receiveOnly }
    /// What the view offers: the controls of hosts or those of the audience, by the same rule.
    public var controls: [CallControl] {
        switch localMode {
        case .sendAndReceive, nil: hostControls
        case .receiveOnly: audienceControls
        case .signallingOnly: CallControl.standard(for: .signallingOnly)
        }
    }
    private var localMode: ParticipantMode? {
        (localParticipant?.mode ?? requestedMode?.rawValue).flatMap { ParticipantMode(wireName: $0) }
    }
    /// The livestream's state, such as `LIVESTREAM_STARTED`; nil outside of a meeting.
    public var livestreamState: String? { call.room?.room.egress.livestream.state }
    /// The state of HLS, such as `HLS_PLAYABLE`; nil outside of a meeting.
    public var hlsState: String? { call.room?.room.egress.hls.state }

    /// What is drawn in somebody's tile.
    public func tile(of participant: ParticipantResource) -> TileContent {
        TileContent(
            participant,
            isLocal: participant.identity == call.identity,
            camera: media.cameraPosition
        )
    }

    // MARK: Wishes and commands

    /// Joins a meeting.
    public func join(_ room: String, mode: ParticipantMode) {
        requestedMode = mode
        call.join(CallJoin(room: room, mode: mode))
    }

    /// Leaves.
    public func leave() {
        call.leave()
    }

    /// Changes one's own mode; devices follow.
    ///
    /// - Throws: 4065 without permission, 4010 for a full stage, 3065 while reconnecting, 3035 outside of a meeting.
    public func changeMode(_ mode: ParticipantMode) async throws(StageError) {
        try await call.changeMode(mode)
        if let own = call.localParticipant { await media.follow(isHost: own.isHost) }
    }

    /// Asks to speak, or asks no more; once a host accepts, one comes on stage and devices follow.
    ///
    /// - Throws: 3066 for a host, 429 for who does so again and again, 3065 while reconnecting, 3035 outside of a meeting.
    public func setHandRaised(_ isRaised: Bool) async throws(StageError) {
        if isRaised {
            try await call.raiseHand()
        } else {
            try await call.lowerHand()
        }
    }

    /// Starts pushing the program; the listener hears how it goes.
    public func startLivestream(_ body: StartLivestreamBody) async throws(StageError) {
        _ = try await call.client.startLivestream(of: room(), body)
    }

    /// Stops pushing.
    public func stopLivestream() async throws(StageError) {
        _ = try await call.client.stopLivestream(of: room())
    }

    /// Starts offering the program as HLS; the listener hears how it goes.
    public func startHLS(_ body: StartHLSBody = StartHLSBody()) async throws(StageError) {
        _ = try await call.client.startHLS(of: room(), body)
    }

    /// Stops offering HLS.
    public func stopHLS() async throws(StageError) {
        _ = try await call.client.stopHLS(of: room())
    }

    private func room() throws(StageError) -> String {
        guard let room = call.room?.room.sid else { throw .notJoined }
        return room
    }

    // MARK: News

    func take(_ next: CallStatus) async {
        let before = status
        status = next
        if next.meetingState != before.meetingState, let state = next.meetingState {
            listener?.onMeetingStateChanged(state)
        }
        switch ConnectionNews(from: before, to: next) {
        case .connected: listener?.onMeetingJoined()
        case .failedToConnect(let error): listener?.onError(error)
        case .disconnected(let error):
            streams = StreamMaps()
            (livestream, hls) = (nil, nil)
            listener?.onMeetingLeft(error)
        case .reconnecting, .reconnected, nil: break
        }
        tellHeld()
        await media.take(next, of: call)
    }

    func take(_ next: [ParticipantResource]) async {
        held = next
        tellHeld()
        await media.takeParticipants(of: call)
    }

    private func tellHeld() {
        guard status == call.status, let next = held else { return }
        held = nil
        let news = RoomNews.changes(from: participants, to: next)
        participants = next
        for one in news {
            streams.take(one)
            listener?.hear(one)
        }
    }

    private func take(audience count: Int) {
        guard count != audience else { return }
        audience = count
        listener?.onAudienceCountChanged(count)
    }

    private func take(_ event: EventResource) {
        if let error = event.error, event.type == StageEvent.Name.livestreamError.rawValue {
            listener?.onError(StageError(error))
        }
        if let hand = event.hand {
            switch StageEvent.Name(rawValue: event.type) {
            case .handRaised: listener?.onHandRaised(hand)
            default: listener?.onHandLowered(hand)
            }
        }
        // What an event says, and not what is known by now: states that follow each other closely are all told.
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
