public import Media

/// The state machine of a room's HLS.
///
///     stopped ── program flows, or start ──▶ starting ── program flows ──▶ started ── a whole segment ──▶ playable
///        ▲                                      └──────────────┬──────────────┴───────────────────────────────┘
///        └────────── end of list written ── stopping ◀── stop, end of program, a fault, or 4016 in time
///
/// Only a start by command has a timeout; otherwise HLS waits for its first segment without limit.
public struct HLSStateMachine: Sendable, Equatable {
    private enum Phase: Sendable, Equatable {
        case starting(since: MonotonicTime)
        case started(since: MonotonicTime)
        case playable
        case stopping(since: MonotonicTime)
        case stopped
    }

    /// The last command of the operator.
    private enum OperatorIntent: Sendable, Equatable {
        /// None: HLS runs whenever the program flows.
        case automatic
        case explicit
        case disabled
    }

    /// Seconds from a start by command within which the playlist must be playable.
    private static let startLimit = 30.0
    /// Seconds within which the end of the playlist must be written.
    private static let stopLimit = 10.0

    private var phase = Phase.stopped
    private var intent = OperatorIntent.automatic
    private var isFlowing = false
    /// A program began while the end of the one before was being written.
    private var hasNewProgram = false
    private var playableAt: Double?

    /// Creates the state machine of a room without a program.
    public init() {}

    /// The state that observers see.
    public var status: HLSStatus {
        let state: HLSState =
            switch phase {
            case .starting: .starting
            case .started: .started
            case .playable: .playable
            case .stopping: .stopping
            case .stopped: .stopped
            }
        return HLSStatus(state: state, playableAt: playableAt)
    }

    /// Whether the playlist is open; a closed one has its end tag.
    public var isOpen: Bool {
        switch phase {
        case .starting, .started, .playable: true
        case .stopping, .stopped: false
        }
    }

    /// Whether HLS was started by command and runs; the program then runs without hosts, too.
    public var isRequested: Bool { intent == .explicit }

    /// The time at which `timePassed` is due; nil without a timeout.
    public var deadline: MonotonicTime? {
        switch phase {
        case .starting(let since), .started(let since):
            intent == .explicit ? since.advanced(seconds: Self.startLimit) : nil
        case .stopping(let since): since.advanced(seconds: Self.stopLimit)
        case .playable, .stopped: nil
        }
    }

    // MARK: Commands

    /// Starts HLS by command.
    ///
    /// - Throws: 3054 when it was started before, 3055 while a start or a stop is under way.
    public mutating func start(now: MonotonicTime) throws(StageError) -> [HLSAction] {
        switch phase {
        case .stopping: throw .hlsInFlight
        case .starting where intent == .explicit: throw .hlsInFlight
        case .started where intent == .explicit: throw .hlsAlreadyStarted
        case .playable where intent == .explicit: throw .hlsAlreadyStarted
        case .starting, .started, .playable:
            // HLS runs by itself; the command makes it explicit.
            intent = .explicit
            if case .started = phase { phase = .started(since: now) }
            return []
        case .stopped:
            intent = .explicit
            return begin(now: now)
        }
    }

    /// Stops HLS by command, until the next start.
    ///
    /// - Throws: 4017 when HLS does not run, 3055 while a stop is under way.
    public mutating func stop(now: MonotonicTime) throws(StageError) -> [HLSAction] {
        switch phase {
        case .stopping: throw .hlsInFlight
        case .stopped: throw .hlsNotStopped("HLS does not run")
        case .starting, .started, .playable:
            intent = .disabled
            return close(now: now)
        }
    }

    // MARK: Events

    /// Handles an event and returns the actions to perform.
    ///
    /// - Parameter secondsSince1970: The date, read only when the playlist becomes playable.
    public mutating func handle(
        _ event: HLSEvent,
        now: MonotonicTime,
        secondsSince1970: @autoclosure () -> Double
    ) -> [HLSAction] {
        switch event {
        case .programFlows: flows(now: now)
        case .segmentCompleted: segmentCompleted(secondsSince1970: secondsSince1970())
        case .programEnded: programEnded(now: now)
        case .playlistEnded: playlistEnded(now: now)
        case .broke(let why): broke(.hlsFailed(why), now: now)
        case .timePassed: timePassed(now: now)
        }
    }

    private mutating func flows(now: MonotonicTime) -> [HLSAction] {
        isFlowing = true
        switch phase {
        case .starting(let since): return move(to: .started(since: since))
        case .stopped where intent == .automatic: return begin(now: now)
        case .stopping:
            hasNewProgram = true
            return []
        case .started, .playable, .stopped: return []
        }
    }

    private mutating func segmentCompleted(secondsSince1970: Double) -> [HLSAction] {
        guard case .started = phase else { return [] }
        playableAt = secondsSince1970
        return move(to: .playable)
    }

    private mutating func programEnded(now: MonotonicTime) -> [HLSAction] {
        isFlowing = false
        hasNewProgram = false
        switch phase {
        case .started, .playable:
            if intent == .explicit { intent = .automatic }
            return close(now: now)
        // A start by command still waits for a program.
        case .starting, .stopping, .stopped: return []
        }
    }

    private mutating func playlistEnded(now: MonotonicTime) -> [HLSAction] {
        guard case .stopping = phase else { return [] }
        playableAt = nil
        let stopped = move(to: .stopped)
        return hasNewProgram && intent == .automatic ? stopped + begin(now: now) : stopped
    }

    private mutating func broke(_ error: StageError, now: MonotonicTime) -> [HLSAction] {
        guard isOpen else { return [] }
        if intent == .explicit { intent = .automatic }
        return [.fail(error)] + close(now: now)
    }

    private mutating func timePassed(now: MonotonicTime) -> [HLSAction] {
        guard let deadline, deadline <= now else { return [] }
        switch phase {
        case .starting: return broke(.hlsNotStarted("The room has no program"), now: now)
        case .started: return broke(.hlsNotStarted("The program made no whole segment"), now: now)
        case .stopping:
            return [.fail(.hlsNotStopped("The end of the playlist was not written"))] + playlistEnded(now: now)
        case .playable, .stopped: return []
        }
    }

    // MARK: Steps

    private mutating func begin(now: MonotonicTime) -> [HLSAction] {
        playableAt = nil
        hasNewProgram = false
        var actions = move(to: .starting(since: now)) + [.open]
        if isFlowing { actions += move(to: .started(since: now)) }
        return actions
    }

    private mutating func close(now: MonotonicTime) -> [HLSAction] {
        move(to: .stopping(since: now)) + [.end]
    }

    private mutating func move(to next: Phase) -> [HLSAction] {
        phase = next
        return [.changed(status)]
    }
}

/// An input of a room's HLS state machine.
public enum HLSEvent: Sendable, Equatable {
    /// The first media of the program, or the first after it ended, has arrived.
    case programFlows
    /// The playlist has one more complete segment.
    case segmentCompleted
    /// The program ended.
    case programEnded
    /// The end of the playlist is written: the result of `HLSAction.end`.
    case playlistEnded
    /// Segmenting failed, with the reason.
    case broke(String)
    /// The state machine's `deadline` has passed.
    case timePassed
}

/// An action that the owner of a room's HLS performs, in the given order.
public enum HLSAction: Sendable, Equatable {
    /// Publish the status.
    case changed(HLSStatus)
    /// Start a new playlist and segment the program into it.
    case open
    /// Write the end of the playlist, then report `playlistEnded`.
    case end
    /// Report a failure: 4016, 4017 or 5003.
    case fail(StageError)
}

/// The states of a room's HLS, as the API names them.
public enum HLSState: String, Sendable, Hashable, Codable {
    /// Enabled; the program has not arrived yet.
    case starting = "HLS_STARTING"
    /// The program is being segmented.
    case started = "HLS_STARTED"
    /// The playlist has a complete segment.
    case playable = "HLS_PLAYABLE"
    /// The end of the playlist is being written.
    case stopping = "HLS_STOPPING"
    /// The playlist is ended, or there is none.
    case stopped = "HLS_STOPPED"
}

/// The status of a room's HLS.
public struct HLSStatus: Sendable, Equatable {
    /// The state.
    public var state: HLSState
    /// Seconds since 1970 when the playlist got its first complete segment; nil before, and once stopped.
    public var playableAt: Double?

    /// Creates a status; HLS that never ran by default.
    public init(state: HLSState = .stopped, playableAt: Double? = nil) {
        self.state = state
        self.playableAt = playableAt
    }
}

/// Starts and stops the HLS of a room; the control API's interface to the HLS service.
///
/// HLS runs by itself while a program flows. A command makes it explicit: after `stop` the playlist is ended, until
/// `start`.
public protocol HLSControlling: Sendable {
    /// Enables HLS of a room's program.
    ///
    /// - Throws: 3054 when it was started before, 3055 while a start or a stop is under way.
    func start(room: String) throws(StageError)
    /// Ends a room's playlist.
    ///
    /// - Throws: 4017 when HLS does not run, 3055 while a stop is under way.
    func stop(room: String) throws(StageError)
    /// Returns the current state; `stopped` for a room without a program.
    func status(room: String) -> HLSStatus
}
