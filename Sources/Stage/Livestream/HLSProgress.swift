public import Media

/// How far a room's HLS is; rules only.
///
///     stopped ── program flows, or start ──▶ starting ── program flows ──▶ started ── a whole segment ──▶ playable
///        ▲                                      └──────────────┬──────────────┴───────────────────────────────┘
///        └────────── end of list written ── stopping ◀── stop, end of program, a fault, or 4016 in time
///
/// Only a start by command has a time limit; what runs by itself waits for its first segment as long as it takes.
public struct HLSProgress: Sendable, Equatable {
    private enum Phase: Sendable, Equatable {
        case starting(since: MonotonicTime)
        case started(since: MonotonicTime)
        case playable
        case stopping(since: MonotonicTime)
        case stopped
    }

    /// What the operator said last.
    private enum Wish: Sendable, Equatable {
        /// Nothing: it runs whenever the program flows.
        case automatic
        case asked
        case withdrawn
    }

    /// Seconds in which a start by command must lead to something playable.
    public let startLimit: Double
    /// Seconds in which the end of the list must be written.
    public let stopLimit: Double

    private var phase = Phase.stopped
    private var wish = Wish.automatic
    private var isFlowing = false
    /// A program began while the end of the one before was being written.
    private var hasNewProgram = false
    private var playableAt: Double?

    /// The HLS of a room whose program does not flow yet.
    public init(startLimit: Double = 30, stopLimit: Double = 10) {
        self.startLimit = startLimit
        self.stopLimit = stopLimit
    }

    /// What observers see.
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

    /// Whether the playlist goes on; players of a closed one find its end.
    public var isOpen: Bool {
        switch phase {
        case .starting, .started, .playable: true
        case .stopping, .stopped: false
        }
    }

    /// Whether it was started by command and goes on; there is to be a program then, whoever is on stage.
    public var isAsked: Bool { wish == .asked }

    /// When to hand in `timePassed`; nil while no limit runs.
    public var deadline: MonotonicTime? {
        switch phase {
        case .starting(let since), .started(let since):
            wish == .asked ? since.advanced(seconds: startLimit) : nil
        case .stopping(let since): since.advanced(seconds: stopLimit)
        case .playable, .stopped: nil
        }
    }

    // MARK: Commands

    /// Wants HLS by command.
    ///
    /// - Throws: 3054 when it was started before, 3055 while a start or a stop is under way.
    public mutating func start(now: MonotonicTime) throws(StageError) -> [HLSAction] {
        switch phase {
        case .stopping: throw .hlsInFlight
        case .starting where wish == .asked: throw .hlsInFlight
        case .started where wish == .asked: throw .hlsAlreadyStarted
        case .playable where wish == .asked: throw .hlsAlreadyStarted
        case .starting, .started, .playable:
            // It runs by itself; from now on it was asked for.
            wish = .asked
            if case .started = phase { phase = .started(since: now) }
            return []
        case .stopped:
            wish = .asked
            return begin(now: now)
        }
    }

    /// Ends HLS by command, until the next start.
    ///
    /// - Throws: 4017 when nothing runs, 3055 while a stop is under way.
    public mutating func stop(now: MonotonicTime) throws(StageError) -> [HLSAction] {
        switch phase {
        case .stopping: throw .hlsInFlight
        case .stopped: throw .hlsNotStopped("HLS does not run")
        case .starting, .started, .playable:
            wish = .withdrawn
            return close(now: now)
        }
    }

    // MARK: Events

    /// Takes in what happened and says what to do.
    ///
    /// - Parameter secondsSince1970: The date, read only when something becomes playable.
    public mutating func handle(
        _ event: HLSEvent,
        now: MonotonicTime,
        secondsSince1970: @autoclosure () -> Double
    ) -> [HLSAction] {
        switch event {
        case .programFlows: flows(now: now)
        case .segmentCompleted: segmentCompleted(now: now, secondsSince1970: secondsSince1970())
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
        case .stopped where wish == .automatic: return begin(now: now)
        case .stopping:
            hasNewProgram = true
            return []
        case .started, .playable, .stopped: return []
        }
    }

    private mutating func segmentCompleted(now: MonotonicTime, secondsSince1970: Double) -> [HLSAction] {
        guard case .started = phase else { return [] }
        playableAt = secondsSince1970
        return move(to: .playable)
    }

    private mutating func programEnded(now: MonotonicTime) -> [HLSAction] {
        isFlowing = false
        hasNewProgram = false
        switch phase {
        case .started, .playable:
            if wish == .asked { wish = .automatic }
            return close(now: now)
        // A start by command still waits for a program.
        case .starting, .stopping, .stopped: return []
        }
    }

    private mutating func playlistEnded(now: MonotonicTime) -> [HLSAction] {
        guard case .stopping = phase else { return [] }
        playableAt = nil
        let stopped = move(to: .stopped)
        return hasNewProgram && wish == .automatic ? stopped + begin(now: now) : stopped
    }

    private mutating func broke(_ error: StageError, now: MonotonicTime) -> [HLSAction] {
        guard isOpen else { return [] }
        if wish == .asked { wish = .automatic }
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
