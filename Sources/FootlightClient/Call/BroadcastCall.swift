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
/// - **Streams** begin with the current value: ``statuses``, ``participantLists``, ``audienceCounts``, ``events``,
///   ``problems``; ``customEvents`` begins with none.
/// - **Media** is published separately: ``ingest`` is where a host publishes. A publisher reports a loss with
///   ``mediaLost()`` and its recovery with ``mediaRestored()``, and sets ``recoverMedia``.
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
        scheduleTimer()
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
/// Each stream begins with the current value. The buffer for a slow reader is bounded and keeps the newest values.
extension BroadcastCall {
    /// The status of the call; buffers up to 64.
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
