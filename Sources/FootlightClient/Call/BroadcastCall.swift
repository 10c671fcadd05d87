public import GatewayModel
public import Observation
public import Stage

/// One person's call: joins a room, follows it, gives signs of life, and wins back what breaks.
///
/// ## Overview
///
///     let call = BroadcastCall(client: client, identity: "ann")
///     call.join(CallJoin(room: "show", mode: .sendAndReceive))       // phase is `joining` at once
///     for await status in call.statuses { print(status.callState) }  // joining, joined, …
///
/// The call is observable (`@Observable`) and bound to the main actor, as is whoever looks at it; all network is done
/// elsewhere. It works wherever there is a main actor, with or without a user interface.
///
/// - **Where it stands** is ``status``: the one `CallStateMachine` of `Stage` decides, by the transitions U1 to U20,
///   and `status` reads in the words of all source systems (`callState`, `callingState`, `roomState`, `meetingState`).
/// - **Wishes** return at once, and what comes of them is told by the status: ``enterLobby(_:)``, ``join(_:)``,
///   ``ring(_:)``, ``accept()``, ``reject()``, ``hangUp()``.
/// - **Commands** of somebody in the room wait for the gateway and throw its refusal: ``changeMode(_:)``,
///   ``publish(_:isEnabled:)``, ``setEnabled(_:_:)``, ``unpublish(_:)``, ``pin(_:_:)``, ``unpin(_:)``, ``invite(_:)``.
///   ``raiseHand(timeout:)``, ``lowerHand()``, ``acceptHand(_:)``, ``rejectHand(_:)``, ``sendEvent(type:data:)``,
///   ``sendReaction(_:)``. Everything else is done by ``client``.
/// - **The room** is ``room``, nil outside of one, and in short ``participants``, ``localParticipant``, ``hosts``,
///   ``audienceCount``, ``hands``.
/// - **Streams** that begin with the present value: ``statuses``, ``participantLists``, ``audienceCounts``, ``events``,
///   ``problems``. ``customEvents`` begins with nothing.
/// - **Media** is somebody else's: ``ingest`` says where a host publishes. A publisher tells of a loss with
///   ``mediaLost()``, of its end with ``mediaRestored()``, and sets ``recoverMedia``.
///
/// Errors of a call are `StageError`s: 53000 when the gateway cannot be reached to join, 53001 (the event
/// stream) and 53405 (the media) as the reason of `reconnecting` and as the last word when what was lost is not back
/// within 30 s, and whatever the gateway says.
@MainActor @Observable
public final class BroadcastCall {
    /// What asks the gateway; a fresh token may be set at any time.
    public var client: BroadcastClient
    /// Who this is.
    public let identity: String

    /// Where the call stands.
    public internal(set) var status = CallStatus()
    /// The invitation to the stage that is open; nil without one.
    public internal(set) var stageInvitation: CallInvitation?
    /// The room; nil outside of one.
    public internal(set) var room: CallRoom?
    /// What is shown of a room in the lobby; nil elsewhere, and until the gateway has answered.
    public internal(set) var lobbyRoom: RoomResource?
    /// Where a host publishes; nil for everybody else.
    public internal(set) var ingest: RTMPIngestResource?
    /// Where the program is played; nil outside of a room.
    public internal(set) var playback: PlaybackResource?
    /// What holds of the wishes in ``callSettings`` and ``connectOptions``; nil outside of a room.
    public internal(set) var effectiveSettings: CallSettingsResource?
    /// What the gateway has on for devices that the user has not touched: in a room, and once its lobby is shown; nil elsewhere.
    public var serverSettings: CallSettingsResource? { effectiveSettings ?? lobbyRoom?.callSettings }
    /// What a host may send at most; nil for everybody else.
    public internal(set) var effectiveOptions: ConnectOptionsResource?
    /// The latest failure that ended nothing, such as a track that could not be published.
    public internal(set) var problem: StageError?

    /// The name to be shown; sent with the next join, nil for the identity.
    public var displayName: String?
    /// The picture that stands for the participant while no video is seen; sent with the next join, nil for none.
    ///
    /// `asset:NAME` for a picture that was put into the room, or an `http://` or `https://` URL; anything else is refused
    /// with 3073.
    public var avatar: String?
    /// What else the app wants others to know; sent with the next join.
    public var metadata: [String: AnyJSON]?
    /// The devices to begin with; what is nil the gateway decides, and the end of a call resets all.
    public var callSettings = CallSettings()
    /// What a host would send at most; sent with the next join.
    public var connectOptions: ConnectOptionsBody?
    /// The microphone in dBFS, -127 to 0, sent along with each sign of life; nil where it is not measured.
    @ObservationIgnored public var audioLevel: Double?
    /// Whether the call publishes the tracks its settings name; false where something else does, such as `LocalMedia`.
    @ObservationIgnored public var publishesTracks = true
    /// Tries to bring lost media back, counting its tries from 1; nil where the publisher does so by itself.
    @ObservationIgnored public var recoverMedia: (@MainActor (Int) async throws(StageError) -> Void)?

    @ObservationIgnored var machine: CallStateMachine
    @ObservationIgnored let clock: ClientClock
    @ObservationIgnored var session: CallSession?
    /// The connection that is followed, or about to be.
    @ObservationIgnored var connection: EventConnection?
    /// Joins that the gateway has answered, by request, until the call stands or they are taken down.
    @ObservationIgnored var answers: [Int: JoinAnswer] = [:]
    /// Joins nobody wants any more, that may still succeed.
    @ObservationIgnored var unwanted: Set<Int> = []
    /// The room as a connection begins with it, until the machine wants it shown.
    @ObservationIgnored var snapshot: CallRoom?
    /// When the last sign of life was taken.
    @ObservationIgnored var lastBeat = Duration.zero

    @ObservationIgnored private var waiting: [CallEvent] = []
    @ObservationIgnored private var isHandling = false
    @ObservationIgnored private var timer: Task<Void, Never>?
    @ObservationIgnored var heartbeats: Task<Void, Never>?
    @ObservationIgnored var reconnecting: Task<Void, Never>?
    @ObservationIgnored var listening: Task<Void, Never>?

    @ObservationIgnored let statusNews = CurrentValue<CallStatus>(CallStatus(), waiting: 64)
    @ObservationIgnored let lobbyNews = CurrentValue<RoomResource>(nil, waiting: 1)
    @ObservationIgnored let participantNews = CurrentValue<[ParticipantResource]>([], waiting: 1)
    @ObservationIgnored let audienceNews = CurrentValue<Int>(0, waiting: 1)
    @ObservationIgnored let eventNews = CurrentValue<EventResource>(nil, waiting: 1024)
    @ObservationIgnored let customNews = CurrentValue<CustomEventResource>(nil, waiting: 256)
    @ObservationIgnored let problemNews = CurrentValue<StageError>(nil, waiting: 16)

    /// Makes a call that is idle.
    ///
    /// - Parameters:
    ///   - client: Asks the gateway; the call keeps to its clock, whichever client it is given later.
    ///   - identity: Who calls; the one that the client's token names, or anybody for an operator.
    ///   - limits: The times and numbers the call keeps to.
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

    /// Hands an event to the machine and does what it says, one after the other and each to its end.
    func handle(_ event: CallEvent) {
        waiting.append(event)
        guard !isHandling else { return }
        isHandling = true
        while !waiting.isEmpty {
            let actions = machine.handle(waiting.removeFirst(), at: clock.now(), chance: clock.chance())
            for action in actions { perform(action) }
        }
        isHandling = false
        armTimer()
    }

    private func armTimer() {
        timer?.cancel()
        timer = nil
        guard let deadline = machine.elapsedDeadline else { return }
        timer = Task { [weak self, clock] in
            do {
                try await clock.sleep(until: deadline)
            } catch {
                // Another deadline took its place.
                return
            }
            self?.handle(.timePassed)
        }
    }
}
