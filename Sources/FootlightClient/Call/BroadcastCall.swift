public import FootlightModel
public import Observation
public import Stage

/// A participant's call: joins a room, follows its events, sends heartbeats, and reconnects.
///
/// ## Overview
///
///     let call = BroadcastCall(client: client, identity: "ann")
///     call.join(CallJoin(room: "show", mode: .sendAndReceive))       // phase is `joining` at once
///     for await status in call.statuses { print(status.callState) }  // joining, joined, …
///
/// The call is observable (`@Observable`) and isolated to the main actor; networking runs elsewhere. It works wherever
/// there is a main actor, with or without a user interface.
///
/// - **Its state** is ``status``: the `CallStateMachine` of `Stage` decides by the transitions U1 to U20, and `status`
///   offers the terms of all source systems (`callState`, `callingState`, `roomState`, `meetingState`).
/// - **Requests** return immediately, and the status reports the result: ``enterLobby(_:)``, ``join(_:)``,
///   ``ring(_:)``, ``accept()``, ``reject()``, ``hangUp()``.
/// - **Commands** of a participant await the gateway and throw its error: ``changeMode(_:)``,
///   ``publish(_:isEnabled:)``, ``setEnabled(_:_:)``, ``unpublish(_:)``, ``pin(_:_:)``, ``unpin(_:)``, ``invite(_:)``.
///   ``raiseHand(timeout:)``, ``lowerHand()``, ``acceptHand(_:)``, ``rejectHand(_:)``, ``sendEvent(type:data:)``,
///   ``sendReaction(_:)``. All other commands are methods of ``client``.
/// - **The room** is ``room``, nil outside a room; ``participants``, ``localParticipant``, ``hosts``, ``audienceCount``
///   and ``hands`` are shortcuts.
/// - **Streams** begin with the current value, and finish when the call ends: ``statuses``, ``participantLists``,
///   ``audienceCounts``, ``events``, ``problems``; ``customEvents`` begins with none.
/// - **Media** of a host is published by ``publish(from:isScreen:settings:)``. An app with a publisher of its own finds
///   in ``ingest`` where to publish, reports a loss with ``mediaLost()`` and its recovery with ``mediaRestored()``, and
///   sets ``recoverMedia``.
///
/// Errors of a call are `StageError`s: 53000 if the gateway cannot be reached to join; 53001 (event stream) and 53405
/// (media) as the reason of `reconnecting`, and as the final error if the connection is not restored within 30 s; and
/// the gateway's errors.
@MainActor @Observable
public final class BroadcastCall {
    /// The client of the gateway's API; a fresh token may be set at any time.
    public var client: BroadcastClient
    /// The local participant's identity.
    public let identity: String

    /// The status of the call.
    public internal(set) var status = CallStatus()
    /// The open invitation to the stage; nil without one.
    public internal(set) var stageInvitation: CallInvitation?
    /// The room; nil outside a room.
    public internal(set) var room: CallRoom?
    /// The room in the lobby; nil elsewhere, and until the gateway has returned it.
    public internal(set) var lobbyRoom: RoomResource?
    /// The RTMP server and stream keys of a host; nil for other participants.
    public internal(set) var ingest: RTMPIngestResource?
    /// The playback URLs of the program; nil outside a room.
    public internal(set) var playback: PlaybackResource?
    /// The settings that result from ``callSettings``; nil outside a room.
    public internal(set) var effectiveSettings: CallSettingsResource?
    /// The gateway's settings for devices that the user has not changed: in a room or its lobby; nil elsewhere.
    public var serverSettings: CallSettingsResource? { effectiveSettings ?? lobbyRoom?.callSettings }
    /// The limits of what a host may send; nil for other participants.
    public internal(set) var effectiveOptions: ConnectOptionsResource?
    /// The latest failure that did not end the call, such as a track that could not be published.
    public internal(set) var problem: StageError?

    /// The displayed name; sent with the next join, nil for the identity.
    public var displayName: String?
    /// The image displayed while the participant has no video; sent with the next join, nil for none.
    ///
    /// `asset:NAME` for an image that was uploaded to the room, or an `http://` or `https://` URL; other values are
    /// refused with 3073.
    public var avatar: String?
    /// Metadata of the app for other participants; sent with the next join.
    public var metadata: [String: AnyJSON]?
    /// The devices at the start; the gateway decides nil values, and the end of a call resets all.
    public var callSettings = CallSettings()
    /// The limits that a host requests; sent with the next join.
    public var connectOptions: ConnectOptionsBody?
    /// The microphone level in dBFS, -127 to 0, sent with each heartbeat; nil if it is not measured.
    @ObservationIgnored public var audioLevel: Double?
    /// Whether the call publishes the tracks of its settings; false if another object does, such as `LocalMedia`.
    @ObservationIgnored public var publishesTracks = true
    /// Tries to restore lost media, given the attempt from 1; nil if the publisher reconnects by itself.
    @ObservationIgnored public var recoverMedia: (@MainActor (Int) async throws(StageError) -> Void)?

    @ObservationIgnored var machine: CallStateMachine
    @ObservationIgnored let clock: ClientClock
    @ObservationIgnored var session: CallSession?
    /// The connection that is followed or about to be.
    @ObservationIgnored var connection: EventConnection?
    /// Responses to joins, by request, until the call is joined or the participant is removed.
    @ObservationIgnored var answers: [Int: JoinAnswer] = [:]
    /// Cancelled joins that may still succeed.
    @ObservationIgnored var cancelledJoins: Set<Int> = []
    /// The snapshot of a new connection, until the state machine applies it.
    @ObservationIgnored var snapshot: CallRoom?
    /// The time of the last confirmed heartbeat.
    @ObservationIgnored var lastHeartbeat = Duration.zero

    @ObservationIgnored private var waiting: [CallEvent] = []
    @ObservationIgnored private var isHandling = false
    /// Whether the events that are being handled have ended the call.
    @ObservationIgnored private var hasEnded = false
    @ObservationIgnored private var timer: Task<Void, Never>?
    @ObservationIgnored var heartbeats: Task<Void, Never>?
    @ObservationIgnored var reconnecting: Task<Void, Never>?
    @ObservationIgnored var listening: Task<Void, Never>?

    @ObservationIgnored let statusSubject = CurrentValue<CallStatus>(CallStatus(), waiting: 64)
    @ObservationIgnored let lobbySubject = CurrentValue<RoomResource>(nil, waiting: 1)
    @ObservationIgnored let participantsSubject = CurrentValue<[ParticipantResource]>([], waiting: 1)
    @ObservationIgnored let audienceSubject = CurrentValue<Int>(0, waiting: 1)
    @ObservationIgnored let eventSubject = CurrentValue<EventResource>(nil, waiting: 1024)
    @ObservationIgnored let customEventSubject = CurrentValue<CustomEventResource>(nil, waiting: 256)
    @ObservationIgnored let problemSubject = CurrentValue<StageError>(nil, waiting: 16)

    /// Creates an idle call.
    ///
    /// - Parameters:
    ///   - client: The client of the gateway's API; the call keeps its clock, even if the client is replaced.
    ///   - identity: The identity that the client's token names, or any for an operator.
    ///   - limits: The timeouts and limits of the call.
    public init(client: BroadcastClient, identity: String, limits: CallLimits = .init()) {
        self.client = client
        clock = client.clock
        self.identity = identity
        machine = CallStateMachine(identity: identity, limits: limits)
    }

    deinit {
        for task in [timer, listening, heartbeats, reconnecting] { task?.cancel() }
        connection?.close()
    }

    /// Passes an event to the state machine and performs its actions, one event after the other.
    func handle(_ event: CallEvent) {
        waiting.append(event)
        guard !isHandling else { return }
        isHandling = true
        while !waiting.isEmpty {
            let actions = machine.handle(waiting.removeFirst(), at: clock.now(), chance: clock.chance())
            for action in actions { perform(action) }
        }
        isHandling = false
        if hasEnded { finishStreams() }
        scheduleTimer()
    }

    private func finishStreams() {
        hasEnded = false
        statusSubject.finishStreams()
        lobbySubject.finishStreams()
        participantsSubject.finishStreams()
        audienceSubject.finishStreams()
        eventSubject.finishStreams()
        customEventSubject.finishStreams()
        problemSubject.finishStreams()
    }

    private func scheduleTimer() {
        timer?.cancel()
        timer = nil
        guard let deadline = machine.elapsedDeadline else { return }
        timer = Task { [weak self, clock] in
            do {
                try await clock.sleep(until: deadline)
            } catch {
                // Another deadline has replaced it.
                return
            }
            self?.handle(.timePassed)
        }
    }
}

/// Streams of the call's state.
///
/// Each stream begins with the current value, and finishes when the call ends: when a call that was joined, was being
/// joined or rang is left. A stream that is made afterwards lasts until the end of the next call. The buffer for a slow
/// reader is bounded and keeps the newest values.
extension BroadcastCall {
    /// The status of the call; the last one of a call is `left`, with its error.
    ///
    /// Buffers up to 64.
    public var statuses: AsyncStream<CallStatus> { statusSubject.stream() }

    /// The room in the lobby, once the gateway has returned it; buffers only the latest.
    public var lobbyRooms: AsyncStream<RoomResource> { lobbySubject.stream() }

    /// The participants in join order, empty outside a room; buffers only the latest.
    public var participantLists: AsyncStream<[ParticipantResource]> { participantsSubject.stream() }

    /// The number of viewers; buffers only the latest.
    public var audienceCounts: AsyncStream<Int> { audienceSubject.stream() }

    /// Every event of the room, once and in order, beginning with the latest one; buffers up to 1,024.
    ///
    /// Heartbeats are omitted. After an interruption a `room.snapshot` may replace the missed events.
    public var events: AsyncStream<EventResource> { eventSubject.stream() }

    /// Failures that did not end the call; buffers up to 16.
    public var problems: AsyncStream<StageError> { problemSubject.stream() }

    /// The participants in join order; empty outside a room.
    public var participants: [ParticipantResource] { room?.participants ?? [] }

    /// The local participant; nil outside a room.
    public var localParticipant: ParticipantResource? { participants.first { $0.identity == identity } }

    /// The other participants in join order.
    public var remoteParticipants: [ParticipantResource] { participants.filter { $0.identity != identity } }

    /// The hosts in join order.
    public var hosts: [ParticipantResource] { room?.hosts ?? [] }

    /// The number of viewers; 0 outside a room.
    public var audienceCount: Int { room?.audienceCount ?? 0 }
}

/// Requests of the user; each returns immediately, and the status reports the result.
extension BroadcastCall {
    /// Enters the lobby of a room before joining it (U1).
    public func enterLobby(_ info: LobbyInfo) {
        handle(.enterLobby(info))
    }

    /// Joins a room (U9); ignored while joining or in a call.
    public func join(_ join: CallJoin) {
        handle(.join(join))
    }

    /// Invites others and joins when one of them accepts (U6); starts listening for invitations.
    public func ring(_ ring: CallRing) {
        startListening()
        handle(.ring(ring))
    }

    /// Accepts the incoming call (U4), or the invitation to the stage (U20).
    public func accept() {
        handle(.accept)
    }

    /// Rejects the incoming call (U5), or the invitation to the stage.
    public func reject() {
        handle(.reject)
    }

    /// Leaves the call in any phase (U2, U5, U8, U12, U16).
    public func hangUp() {
        handle(.hangUp)
    }

    /// Leaves the call; the same as ``hangUp()``.
    public func leave() {
        hangUp()
    }
}

extension CallPhase {
    /// Whether a call is made or is being made, which `left` ends.
    fileprivate var isCall: Bool {
        switch self {
        case .outgoing, .joining, .joined, .reconnecting, .leaving: true
        case .idle, .lobby, .incoming, .left: false
        }
    }
}

/// Performs the actions of the state machine.
extension BroadcastCall {
    func perform(_ action: CallAction) {
        switch action {
        case .emit(let status):
            if case .left = status.phase { hasEnded = self.status.phase.isCall }
            self.status = status
            statusSubject.send(status)
            if case .lobby = status.phase { break }
            lobbyRoom = nil
        case .fetchRoom(let info): fetchRoom(info)
        case .sendInvitations(let ring, let number): sendInvitations(ring, number)
        case .cancelInvitations(let sids):
            inBackground { client in
                for sid in sids { _ = try? await client.cancelInvitation(sid) }
            }
        case .acceptInvitation(let sid): acceptInvitation(sid)
        case .rejectInvitation(let sid): inBackground { client in _ = try? await client.rejectInvitation(sid) }
        case .sendJoin(let order, let request): sendJoin(order, request)
        case .cancelJoin(let request): cancelJoin(request)
        case .abandonJoin(let request): abandonJoin(request)
        case .applySnapshot: applySnapshot()
        case .publishTracks: publishTracks()
        case .reconnect(let loss, let method, let attempt): reconnect(loss, method, attempt: attempt)
        case .stopReconnecting: stopReconnecting()
        case .deleteParticipant: deleteParticipant()
        case .reset: reset()
        case .stageInvitation(let invitation): stageInvitation = invitation
        case .changeMode(let mode, _): changeModeAsPermitted(mode)
        case .report(let error): report(error)
        }
    }

    /// Reports a failure that does not end the call.
    func report(_ error: StageError) {
        problem = error
        problemSubject.send(error)
    }

    /// Sends a request whose result is ignored.
    private func inBackground(_ body: @escaping @Sendable (BroadcastClient) async -> Void) {
        Task { [client] in await body(client) }
    }

    private func fetchRoom(_ info: LobbyInfo) {
        Task { [weak self, client] in
            do throws(StageError) {
                let room = try await client.room(info.callID)
                guard let self, status.phase == .lobby(info) else { return }
                lobbyRoom = room
                lobbySubject.send(room)
            } catch {
                self?.report(error)
            }
        }
    }

    // MARK: Invitations

    private func sendInvitations(_ ring: CallRing, _ number: Int) {
        let others = ring.invitees.filter { $0 != identity }
        let body = CreateInvitationBody(identities: others, mode: .known(ring.join.mode), timeout: ring.timeout)
        Task { [weak self, client] in
            do throws(StageError) {
                let invitation = try await client.invite(to: ring.join.room, body)
                self?.handle(.invitationsSent(sids: [invitation.sid], ring: number))
            } catch {
                self?.handle(.invitationsRefused(error, ring: number))
            }
        }
    }

    private func acceptInvitation(_ sid: String) {
        Task { [weak self, client] in
            do throws(StageError) {
                try await client.acceptInvitation(sid)
                self?.handle(.acceptConfirmed(sid: sid))
            } catch {
                self?.handle(.acceptRefused(sid: sid, error))
            }
        }
    }

    /// Changes to the mode that an accepted invitation or raised hand permits.
    func changeModeAsPermitted(_ mode: ParticipantMode) {
        Task { [weak self] in
            do throws(StageError) {
                try await self?.changeMode(mode)
                if mode == .sendAndReceive { self?.publishTracks() }
            } catch {
                self?.report(error)
            }
        }
    }

    // MARK: In the room

    private func applySnapshot() {
        // After a resume the stream replays the missed events instead.
        guard let snapshot else { return }
        self.snapshot = nil
        show(snapshot)
    }

    private func publishTracks() {
        guard publishesTracks else { return }
        let preferences: [(TrackName, Bool?)] = [(.mic, callSettings.isAudioOn), (.camera, callSettings.isVideoOn)]
        let defaults = [TrackName.mic: effectiveSettings?.audioOn, .camera: effectiveSettings?.videoOn]
        let wanted = preferences.filter { $0.1 ?? defaults[$0.0].flatMap { $0 } ?? true }.map { $0.0 }
        Task { [weak self] in
            for track in wanted {
                do throws(StageError) {
                    try await self?.publish(track)
                } catch {
                    // The session is over, or the track is published already; neither is reported.
                    if !error.endsSession, error.code != StageError.trackNameDuplicated.code { self?.report(error) }
                }
            }
        }
    }

    private func deleteParticipant() {
        guard let session else { return handle(.leaveAcknowledged) }
        endSession()
        Task { [weak self, client] in
            do throws(StageError) {
                try await client.leave(session.participantSID, in: session.roomSID)
                self?.handle(.leaveAcknowledged)
            } catch {
                // Any refusal means that there is nothing left to leave.
                let isUnreachable = error.code == StageError.callNotConnected.code
                self?.handle(isUnreachable ? .networkUnavailable : .leaveAcknowledged)
            }
        }
    }

    /// Resets the call to the state of a new one.
    private func reset() {
        endSession()
        callSettings = CallSettings()
        snapshot = nil
        stageInvitation = nil
        show(nil)
    }

    /// Closes the connection and releases the state of the session.
    func endSession() {
        heartbeats?.cancel()
        heartbeats = nil
        stopReconnecting()
        connection?.close()
        connection = nil
        session = nil
    }

    /// Replaces the room's state and publishes it.
    func show(_ next: CallRoom?) {
        room = next
        if next == nil {
            ingest = nil
            playback = nil
            effectiveSettings = nil
            effectiveOptions = nil
        }
        participantsSubject.send(next?.participants ?? [])
        audienceSubject.send(next?.audienceCount ?? 0)
    }
}

/// Invitations: incoming calls, and the results of the local participant's own.
extension BroadcastCall {
    /// Starts listening for invitations to this identity in any room, until it is stopped.
    ///
    /// A refusal, such as of the token, ends it and is reported as a problem.
    public func startListening() {
        guard listening == nil else { return }
        let events = client.events(ofIdentity: identity)
        listening = Task { [weak self] in
            do throws(StageError) {
                for try await event in events { self?.handleInvitation(event) }
            } catch {
                guard !Task.isCancelled else { return }
                self?.report(error)
            }
            if !Task.isCancelled { self?.listening = nil }
        }
    }

    /// Stops listening; an invitation that rings continues to ring.
    public func stopListening() {
        listening?.cancel()
        listening = nil
    }

    /// Passes an invitation's event to the state machine.
    func handleInvitation(_ event: EventResource) {
        guard let invitation = event.invitation else { return }
        let identities = event.identities ?? []
        switch event.type.value {
        case .invitationCreated:
            guard identities.contains(identity),
                let received = CallInvitation(invitation, to: spelling(invitation), at: event.ts)
            else { return }
            handle(.invitationReceived(received))
        case .invitationAccepted:
            for who in identities { handle(.invitationAccepted(answer(to: invitation, by: who))) }
        case .invitationRejected:
            for who in identities { handle(.invitationRejected(answer(to: invitation, by: who))) }
        case .invitationCancelled: handle(.invitationCancelled(sid: invitation.sid))
        case .invitationMissed: handle(.invitationMissed(sid: invitation.sid))
        default: break
        }
    }

    private func answer(to invitation: InvitationResource, by who: String) -> InvitationAnswer {
        InvitationAnswer(sid: invitation.sid, room: spelling(invitation), identity: who)
    }

    /// The room of an invitation as this call names it: the app may have used its sid.
    private func spelling(_ invitation: InvitationResource) -> String {
        if let session, session.roomSID == invitation.roomSID { return session.reference }
        if case .outgoing(let ring) = status.phase, ring.join.room == invitation.roomSID { return ring.join.room }
        return invitation.room
    }
}

extension CallInvitation {
    /// Creates an invitation; nil if its mode is unknown, so that no call could accept it.
    ///
    /// - Parameters:
    ///   - room: The room as the call names it.
    ///   - now: The gateway's time.
    fileprivate init?(_ invitation: InvitationResource, to room: String, at now: Timestamp) {
        guard let mode = invitation.mode.value else { return nil }
        self.init(
            sid: invitation.sid,
            room: room,
            inviter: invitation.inviter,
            mode: mode,
            timeout: Int((invitation.expiresAt.seconds - now.seconds).rounded(.up))
        )
    }
}

/// Commands of a participant: they await the gateway, and state changes only after its response.
///
/// All throw 3035 outside a room, 3065 while reconnecting, and the gateway's error. When that reports that the session
/// is over (1002, 53002, 53106, 53205) or refuses the token (20101, 20103, 20104, 20107), the call ends too.
extension BroadcastCall {
    /// Changes the local participant's mode.
    ///
    /// - Throws: 4065 without permission, 4010 for a full stage.
    public func changeMode(_ mode: ParticipantMode) async throws(StageError) {
        let answer = try await command { (client, session) throws(StageError) in
            try await client.changeMode(of: session.participantSID, in: session.roomSID, to: mode)
        }
        ingest = answer.ingest?.rtmp
        apply(answer.participant)
    }

    /// Publishes a track.
    ///
    /// - Throws: 3066 for a participant that is not a host, 53304 for a track that is published already.
    @discardableResult
    public func publish(_ track: TrackName, isEnabled: Bool = true) async throws(StageError) -> TrackResource {
        try await command { (client, session) throws(StageError) in
            try await client.publish(track, of: session.participantSID, in: session.roomSID, isEnabled: isEnabled)
        }
    }

    /// Disables a published track, or enables it again.
    @discardableResult
    public func setEnabled(_ track: TrackName, _ isEnabled: Bool) async throws(StageError) -> TrackResource {
        try await command { (client, session) throws(StageError) in
            try await client.setEnabled(track, isEnabled, of: session.participantSID, in: session.roomSID)
        }
    }

    /// Unpublishes a track.
    public func unpublish(_ track: TrackName) async throws(StageError) {
        try await command { (client, session) throws(StageError) in
            try await client.unpublish(track, of: session.participantSID, in: session.roomSID)
        }
    }

    /// Pins a host, by sid or identity.
    @discardableResult
    public func pin(
        _ participant: String,
        _ type: PinType = .screenAndCamera
    ) async throws(StageError) -> PinResource {
        try await command { (client, session) throws(StageError) in
            try await client.pin(participant, in: session.roomSID, type)
        }
    }

    /// Removes a pin of the local participant.
    public func unpin(_ participant: String) async throws(StageError) {
        try await command { (client, session) throws(StageError) in
            try await client.unpin(participant, in: session.roomSID)
        }
    }

    /// Invites others to the stage of this room.
    @discardableResult
    public func invite(_ body: CreateInvitationBody) async throws(StageError) -> InvitationResource {
        try await command { (client, session) throws(StageError) in
            try await client.invite(to: session.roomSID, body)
        }
    }

    func command<Value: Sendable>(
        _ body: (BroadcastClient, CallSession) async throws(StageError) -> Value
    ) async throws(StageError) -> Value {
        guard let session else { throw .notJoined }
        if case .reconnecting = status.phase { throw .reconnecting }
        do {
            return try await body(client, session)
        } catch {
            if error.endsSession { sessionEnded(session, error) }
            throw error
        }
    }
}

extension StageError {
    /// Whether the error means that the session is over or the token refused, so that a retry cannot succeed.
    var endsSession: Bool { Self.endings.contains(code) }

    private static let endings = Set(
        [
            StageError.sessionTimedOut, .duplicateIdentity, .roomNotFound, .roomCompleted,
            .participantRemoved,
            // Revoked or unreadable, for another audience, expired, signed with a removed key.
            .tokenInvalid, .tokenIssuerInvalid, .tokenExpired, .tokenSignatureInvalid,
        ].map(\.code)
    )
}

/// Raised hands, custom events and reactions.
///
/// All throw 3035 outside a room, 3065 while reconnecting, and the gateway's error.
extension BroadcastCall {
    // MARK: Raised hands

    /// The raised hands in the order in which they were raised; empty outside a room.
    public var hands: [HandResource] { room?.hands ?? [] }

    /// The local participant's raised hand; nil if it is not raised.
    public var raisedHand: HandResource? { hands.first { $0.identity == identity } }

    /// Raises the local participant's hand, to ask to speak.
    ///
    /// When a host accepts, the call joins the stage automatically, as after an accepted invitation.
    ///
    /// - Parameter timeout: Seconds until the hand goes down, 10 to 3600; 300 when nil.
    /// - Throws: 3066 for a host, 429 for too many requests.
    @discardableResult
    public func raiseHand(timeout: Int? = nil) async throws(StageError) -> HandResource {
        try await command { (client, session) throws(StageError) in
            try await client.raiseHand(in: session.roomSID, timeout: timeout)
        }
    }

    /// Lowers the local participant's hand; it may be raised again.
    public func lowerHand() async throws(StageError) {
        try await command { (client, session) throws(StageError) in
            try await client.lowerHand(session.participantSID, in: session.roomSID)
        }
    }

    /// Accepts a raised hand, so that its participant may join the stage; for hosts, and bearers with the right
    /// `participants`.
    ///
    /// - Throws: 20106, 404 for a hand that is down, 4010 for a full stage.
    @discardableResult
    public func acceptHand(_ hand: HandResource) async throws(StageError) -> HandResource {
        try await command { (client, session) throws(StageError) in
            try await client.acceptHand(hand.sid, in: session.roomSID)
        }
    }

    /// Rejects a raised hand; for hosts, and bearers with the right `participants`.
    ///
    /// - Throws: 20106, 404 for a hand that is down.
    @discardableResult
    public func rejectHand(_ hand: HandResource) async throws(StageError) -> HandResource {
        try await command { (client, session) throws(StageError) in
            try await client.rejectHand(hand.sid, in: session.roomSID)
        }
    }

    // MARK: Custom events

    /// Custom events from now on, including the local participant's own, in order; buffers up to 256.
    public var customEvents: AsyncStream<CustomEventResource> { customEventSubject.stream() }

    /// Sends a custom event to every participant of the room.
    ///
    /// - Parameters:
    ///   - type: The event's type, `[A-Za-z0-9._-]{1,64}`.
    ///   - data: The event's data, up to 4 KiB as JSON.
    /// - Throws: 3073 naming the field, 429 for too many events.
    public func sendEvent(type: String, data: [String: AnyJSON] = [:]) async throws(StageError) {
        _ = try await command { (client, session) throws(StageError) in
            try await client.sendEvent(type, data, to: session.roomSID)
        }
    }

    /// Sends a reaction, such as an emoji, to every participant of the room.
    ///
    /// - Throws: 429 for too many events.
    public func sendReaction(_ reaction: String) async throws(StageError) {
        try await sendEvent(type: CustomEvent.reaction, data: CustomEventResource.reactionData(reaction))
    }
}

/// Joining: from the request to the room's snapshot.
extension BroadcastCall {
    func sendJoin(_ order: CallJoin, _ request: Int) {
        let body = JoinBody(
            identity: identity,
            displayName: displayName,
            mode: .known(order.mode),
            metadata: metadata,
            avatar: avatar,
            callSettings: CallSettingsBody(callSettings),
            connectOptions: connectOptions,
            invitationSID: order.invitation
        )
        // Never cancelled: only the response tells whether a request that was sent created a participant.
        Task { [weak self, client] in
            do throws(StageError) {
                let answer = try await client.join(order.room, body)
                self?.joinAnswered(answer, order, request)
            } catch {
                self?.cancelledJoins.remove(request)
                self?.handle(.joinFailed(request: request, error))
            }
        }
    }

    private func joinAnswered(_ answer: JoinAnswer, _ order: CallJoin, _ request: Int) {
        answers[request] = answer
        // The state machine removes the participant.
        if cancelledJoins.remove(request) != nil { return succeeded(answer, request) }
        let session = CallSession(answer, of: order.room)
        do throws(StageError) {
            guard answer.participant.mode.value != nil else {
                throw .unexpectedResponse(status: 201, "participant.mode is unknown")
            }
            let connection = try client.connect(to: session.events, startCondition: .snapshot)
            self.session = session
            follow(connection, for: .join(request))
        } catch {
            joinInterrupted(request, error)
        }
    }

    /// Completes a join whose snapshot has arrived.
    func joinCompleted(_ request: Int) {
        guard let answer = answers.removeValue(forKey: request) else { return }
        ingest = answer.ingest?.rtmp
        playback = answer.playback
        effectiveSettings = answer.callSettings
        effectiveOptions = answer.connectOptions
        succeeded(answer, request)
        if let session { startHeartbeats(session) }
    }

    /// Fails a join whose event stream could not be followed, and removes the participant that it created.
    func joinInterrupted(_ request: Int, _ error: StageError) {
        if let answer = answers.removeValue(forKey: request) {
            // Without a network the gateway removes it after 15 s.
            Task { [client] in try? await client.leave(answer.participant.sid, in: answer.room.sid) }
        }
        session = nil
        handle(.joinFailed(request: request, error))
    }

    func cancelJoin(_ request: Int) {
        guard let answer = answers[request] else {
            cancelledJoins.insert(request)
            return
        }
        // Admitted, and about to follow the event stream.
        endSession()
        succeeded(answer, request)
    }

    func abandonJoin(_ request: Int) {
        guard let answer = answers.removeValue(forKey: request) else { return handle(.leaveAcknowledged) }
        Task { [weak self, client] in
            // If this fails, the participant sends no heartbeats, and the gateway removes it.
            try? await client.leave(answer.participant.sid, in: answer.room.sid)
            self?.handle(.leaveAcknowledged)
        }
    }

    private func succeeded(_ answer: JoinAnswer, _ request: Int) {
        // Only a cancelled join still has an unknown mode, and its participant is removed.
        handle(.joinSucceeded(request: request, mode: answer.participant.mode.value ?? .signallingOnly))
    }
}

extension CallSettingsBody {
    /// Creates a body with the settings that the user has chosen; the gateway decides the others.
    init(_ settings: CallSettings) {
        self.init(
            audioOn: settings.isAudioOn,
            videoOn: settings.isVideoOn,
            speakerOn: settings.isSpeakerOn,
            audioOutputOn: settings.isAudioOutputOn,
            cameraPosition: settings.cameraPosition.map { .known($0) }
        )
    }
}

/// The event stream of a session, and its heartbeats.
extension BroadcastCall {
    /// Follows a connection until it ends, replacing the previous one.
    func follow(_ connection: EventConnection, for purpose: StreamPurpose) {
        self.connection?.close()
        self.connection = connection
        let signals = connection.signals
        let id = ObjectIdentifier(connection)
        Task { [weak self] in
            var isBegun = false
            for await signal in signals {
                // A newer connection has replaced it, or the session is over.
                guard let self, self.connection.map({ ObjectIdentifier($0) }) == id else { return }
                switch signal {
                case .began where purpose == .resume: isBegun = true
                case .began: break
                case .event(let event) where isBegun: self.apply(event)
                case .event(let event): isBegun = self.applyFirst(event, for: purpose)
                case .ended(let error): self.ended(error, isBegun: isBegun, purpose)
                }
                if case .began = signal, isBegun { self.handle(.restored(.resume)) }
            }
        }
    }

    /// Handles the events before the snapshot.
    ///
    /// - Returns: Whether the event is the snapshot.
    private func applyFirst(_ event: EventResource, for purpose: StreamPurpose) -> Bool {
        if event.type == .sessionDisconnected {
            connection?.close()
            connection = nil
            ended(event.error.map { StageError($0) } ?? .callConnectionLost, isBegun: false, purpose)
            return false
        }
        guard let snapshot = CallRoom(snapshot: event) else { return false }
        self.snapshot = snapshot
        if case .join(let request) = purpose { joinCompleted(request) } else { handle(.restored(.rejoin)) }
        eventSubject.send(event)
        return true
    }

    private func ended(_ error: StageError, isBegun: Bool, _ purpose: StreamPurpose) {
        connection = nil
        if isBegun {
            handle(.connectionLost(.signalling))
        } else if case .join(let request) = purpose {
            joinInterrupted(request, error)
        } else {
            // In an established call, an unreachable gateway is reported as the connection that was lost, and so is a
            // token that another one replaces.
            let isExpired = error.code == StageError.tokenExpired.code
            if isExpired { client.tokens?.discard(client.token) }
            let isUnreachable =
                error.code == StageError.callNotConnected.code || isExpired && client.tokens != nil
            handle(.reconnectFailed(isUnreachable ? .callConnectionLost : error))
        }
    }

    // MARK: Events

    func apply(_ event: EventResource) {
        guard var room else { return }
        switch event.type.value {
        case .heartbeat: return
        case .sessionDisconnected:
            let error = event.error.map { StageError($0) } ?? .callConnectionLost
            if error.code == StageError.tokenExpired.code, let tokens = client.tokens {
                // The stream is resumed with a new token.
                tokens.discard(client.token)
                connection?.close()
                connection = nil
                return handle(.connectionLost(.signalling))
            }
            if error.code == StageError.callConnectionLost.code {
                // Disconnected for reading too slowly; the rest of this connection is dropped.
                connection?.close()
                connection = nil
            }
            eventSubject.send(event)
            return handle(.sessionDisconnected(error))
        case .roomSnapshot: break
        // Replayed events are applied once.
        default: guard event.rev > room.revision else { return }
        }
        let before = room
        room.apply(event)
        self.room = room
        if room.participants != before.participants { participantsSubject.send(room.participants) }
        if room.audienceCount != before.audienceCount { audienceSubject.send(room.audienceCount) }
        eventSubject.send(event)
        updateCall(event)
    }

    /// Applies a participant from a response, before its event arrives.
    func apply(_ participant: ParticipantResource) {
        guard var room else { return }
        let before = room.participants
        room.apply(participant)
        self.room = room
        if room.participants != before { participantsSubject.send(room.participants) }
    }

    /// Passes an event that concerns the call itself to the state machine.
    private func updateCall(_ event: EventResource) {
        let isOwn = event.participant?.sid == session?.participantSID
        switch event.type.value {
        case .participantReconnecting where isOwn && event.code == ConnectionLoss.media.rawValue:
            handle(.connectionLost(.media))
        case .participantReconnected where isOwn:
            handle(.mediaRestored)
        case .participantModeChanged where isOwn:
            // Reads the current state: an event may be older than the response to a later change.
            if localParticipant?.isHost != true { ingest = nil }
            handle(.roomChanged)
        case .roomEnded: handle(.roomEnded(room: session?.reference ?? ""))
        case .customEvent:
            if let custom = event.custom { customEventSubject.sendOnce(custom) }
        case .handAccepted where event.hand?.participantSID == session?.participantSID:
            changeModeAsPermitted(.sendAndReceive)
        case .invitationCreated, .invitationAccepted, .invitationRejected, .invitationCancelled, .invitationMissed:
            handleInvitation(event)
        default: handle(.roomChanged)
        }
    }

    // MARK: Heartbeats

    func startHeartbeats(_ session: CallSession) {
        heartbeats?.cancel()
        lastHeartbeat = clock.now()
        heartbeats = Task { [weak self, clock] in
            while !Task.isCancelled {
                do {
                    try await clock.sleep(session.heartbeatInterval)
                } catch {
                    return
                }
                await self?.sendHeartbeat(session)
            }
        }
    }

    private func sendHeartbeat(_ session: CallSession) async {
        do throws(StageError) {
            try await client.heartbeat(
                session.participantSID,
                in: session.roomSID,
                sessionID: session.sessionID,
                audioLevel: audioLevel
            )
            lastHeartbeat = clock.now()
        } catch {
            guard self.session?.sessionID == session.sessionID, !Task.isCancelled else { return }
            if error.endsSession || error.code == StageError.participantNotFound.code {
                sessionEnded(session, error)
            } else if status.phase == .joined, clock.now() - lastHeartbeat >= client.limits.silence {
                // The gateway has timed out the session by now, even if events still arrive.
                lastHeartbeat = clock.now()
                connection?.close()
                connection = nil
                handle(.connectionLost(.signalling))
            }
        }
    }

    /// Handles a response that reports the end of the session.
    ///
    /// After a room has ended, a request in flight only reports that there is none. The event stream has the reason but
    /// may be slower, so while it is connected its event is awaited first.
    func sessionEnded(_ session: CallSession, _ answer: StageError) {
        // The error of a command suggests how to connect.
        let error = answer.code == StageError.roomNotFound.code ? .roomGone : answer
        guard self.session?.sessionID == session.sessionID else { return }
        guard connection != nil else { return handle(.sessionDisconnected(error)) }
        Task { [weak self, clock, client] in
            // Not cancelled by anything; at worst the response is handled a little early.
            try? await clock.sleep(client.limits.endReasonTimeout)
            guard let self, self.session?.sessionID == session.sessionID else { return }
            self.handle(.sessionDisconnected(error))
        }
    }
}

/// Reconnecting the event stream and the media.
extension BroadcastCall {
    func reconnect(_ loss: ConnectionLoss, _ method: ReconnectMethod, attempt: Int) {
        stopReconnecting()
        guard let session else { return handle(.reconnectFailed(.sessionTimedOut)) }
        switch (loss, method) {
        case (.media, _): reconnecting = Task { [weak self] in await self?.recoverMedia(session, attempt: attempt) }
        case (.signalling, .resume) where client.tokens != nil:
            reconnecting = Task { [weak self] in await self?.resumeWithToken(session) }
        case (.signalling, .resume): open(session, for: .resume)
        case (.signalling, .rejoin): reconnecting = Task { [weak self] in await self?.rejoin(session) }
        }
    }

    func stopReconnecting() {
        reconnecting?.cancel()
        reconnecting = nil
    }

    private func open(_ session: CallSession, for purpose: StreamPurpose) {
        do throws(StageError) {
            let isResumed = purpose == .resume
            let connection = try client.connect(
                to: session.events,
                after: isResumed ? room?.revision : nil,
                startCondition: isResumed ? .anything : .snapshot
            )
            follow(connection, for: purpose)
        } catch {
            handle(.reconnectFailed(error))
        }
    }

    /// Resumes the stream with a token that is not about to expire.
    private func resumeWithToken(_ session: CallSession) async {
        do throws(StageError) {
            _ = try await client.tokens?.token()
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            open(session, for: .resume)
        } catch {
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            let isUnreachable = error.code == StageError.callNotConnected.code
            handle(.reconnectFailed(isUnreachable ? .callConnectionLost : error))
        }
    }

    private func rejoin(_ session: CallSession) async {
        do throws(StageError) {
            let answer = try await client.reconnect(
                session.participantSID,
                in: session.roomSID,
                sessionID: session.sessionID,
                lastEventID: room?.revision
            )
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            playback = answer.playback
            effectiveSettings = answer.callSettings
            open(session, for: .rejoin)
        } catch {
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            let isUnreachable = error.code == StageError.callNotConnected.code
            handle(.reconnectFailed(isUnreachable ? .callConnectionLost : error))
        }
    }

    // MARK: Media

    /// Reports that the publisher's connection is lost, or its media does not arrive; the call reconnects with 53405.
    ///
    /// If the media is not restored within 30 s, the call ends with 53405.
    public func mediaLost() {
        handle(.connectionLost(.media))
    }

    /// Reports that the publisher's media is restored.
    public func mediaRestored() {
        handle(.mediaRestored)
    }

    /// Lets the publisher reconnect, then asks whether the gateway receives media again.
    private func recoverMedia(_ session: CallSession, attempt: Int) async {
        do throws(StageError) {
            try await recoverMedia?(attempt)
            let participant = try await client.participant(session.participantSID, in: session.roomSID)
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            if participant.status == .connected {
                handle(.mediaRestored)
            } else {
                handle(.reconnectFailed(.mediaLost))
            }
        } catch {
            guard !Task.isCancelled, self.session?.sessionID == session.sessionID else { return }
            // The event stream reports whether the session is over.
            handle(.reconnectFailed(error.isRetryable || error.endsSession ? error : .mediaLost))
        }
    }
}

/// The session of a participant in a room, as the gateway created it.
struct CallSession: Sendable {
    /// The room as the app named it, by name or sid.
    let reference: String
    /// The room's sid, which identifies this run of it.
    let roomSID: String
    let participantSID: String
    let sessionID: String
    /// The interval between two heartbeats.
    let heartbeatInterval: Duration

    init(_ answer: JoinAnswer, of reference: String) {
        self.reference = reference
        roomSID = answer.room.sid
        participantSID = answer.participant.sid
        sessionID = answer.sessionID
        heartbeatInterval = .seconds(min(max(answer.heartbeatInterval, 1), 3600))
    }

    var events: EventSource {
        .session(room: roomSID, participant: participantSID, sessionID: sessionID)
    }
}

/// The purpose of a new event connection.
enum StreamPurpose: Sendable, Equatable {
    /// Completes the join with this request number.
    case join(Int)
    /// Resumes the stream after the last event.
    case resume
    /// Begins the stream again with a snapshot.
    case rejoin
}
