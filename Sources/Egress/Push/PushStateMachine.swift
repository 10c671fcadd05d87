import Media
import Stage

/// When an output tries, waits, counts as connected or gives up: the rules alone, without sockets or clocks.
///
///     idle ── start ──▶ trying ── accepted ──▶ streaming
///                        ▲  │                    │
///                        │  └──── failed ──┐     │ failed
///                        └─── due ─── waiting ◀──┘            stop, from anywhere ──▶ stopped
///
/// What is reported differs from what is done: an output that lost its target reports `interrupted` through all its
/// tries, and one whose target will not have it reports `failed` while slow tries go on. With a spare address it is the
/// output that fails only when there is no hope for either of them.
struct PushStateMachine: Sendable {
    /// What the push is doing.
    enum Phase: Sendable, Equatable {
        case idle
        case trying
        /// The target holds the stream since then.
        case streaming(since: MonotonicTime)
        case waiting(until: MonotonicTime)
        case stopped
    }

    /// What the owner of the machine does next.
    enum Action: Sendable, Equatable {
        case connect
        case wait(until: MonotonicTime)
        case end
    }

    private(set) var phase: Phase = .idle
    /// What the operator sees.
    private(set) var reported: OutputStatus.State = .connecting
    /// Connections after the first, by the fault that had ended the one before.
    private(set) var reconnectReasons: [OutputFault.Code: UInt64] = [:]
    /// The number of them.
    var reconnects: UInt64 { reconnectReasons.values.reduce(0, +) }
    private(set) var lastFault: OutputFault?
    /// The spare address is the one to try, or in use.
    var isOnSpare: Bool { choice.isOnSpare }
    /// Why the spare address could not be had if it were needed now; nil when it could, or nobody knows.
    var spareFault: OutputFault? { spare?.fault }
    /// The target is too slow for the program, or was when it was last connected.
    var isSlow: Bool { drops.isSlow }

    private let configuration: PushConfiguration
    private var wasConnected = false
    /// What ended the last connection that was; nil while there was none.
    private var loss: OutputFault.Code?
    /// Tries since the last connection that held.
    private var retries = 0
    private var classifier: FaultClassifier
    private var choice: AddressChoice
    private var drops: DropWatch
    /// nil without a spare address.
    private var spare: SpareWatch?

    init(configuration: PushConfiguration, hasSpare: Bool = false) {
        self.configuration = configuration
        classifier = FaultClassifier(retryBudget: configuration.retryBudget)
        choice = AddressChoice(hasSpare: hasSpare, limit: configuration.failuresBeforeSpare)
        drops = DropWatch(limits: configuration.drops)
        spare = hasSpare ? SpareWatch(configuration: configuration) : nil
    }

    mutating func start(now: MonotonicTime) -> Action {
        guard phase == .idle else { return .end }
        phase = .trying
        classifier.disconnected(now: now)
        return .connect
    }

    /// The wait is over.
    mutating func due() -> Action {
        guard case .waiting = phase else { return .end }
        phase = .trying
        return .connect
    }

    /// The target took the stream and held on to it.
    mutating func accepted(now: MonotonicTime) {
        guard phase == .trying else { return }
        phase = .streaming(since: now)
        reported = .connected
        if let loss { reconnectReasons[loss, default: 0] += 1 }
        loss = nil
        wasConnected = true
        classifier.accepted()
        choice.accepted()
        drops.begin()
        if isOnSpare { spare?.proved() }
    }

    /// A try came to nothing, or a connection was lost.
    ///
    /// - Parameter chance: A random number from 0 to 1, for the jitter.
    mutating func failed(_ error: PushError, now: MonotonicTime, chance: Double) -> Action {
        var wasStreaming = false
        switch phase {
        case .idle, .stopped, .waiting: return .end
        case .trying: break
        case .streaming(let since):
            wasStreaming = true
            choice.lost()
            // One that was given up for being slow never did well, however long that took.
            if now.seconds(since: since) >= configuration.backOff.healthyAfter, !drops.isHopeless {
                retries = 0
                choice.held()
            }
            classifier.disconnected(now: now)
        }
        var fault = classifier.classify(error, now: now)
        var isHopeless = fault.retry == .slow
        let turn = choice.failed(isHopeless: &isHopeless)
        if turn != .stays { classifier.movedToOtherAddress() }
        fault.retry = isHopeless ? .slow : .soon
        lastFault = fault
        if wasStreaming { loss = fault.code }

        if isHopeless {
            reported = .failed
        } else if wasConnected, reported == .connected {
            reported = .interrupted
        }
        let delay: Double
        if reported == .failed {
            delay = configuration.backOff.jittered(configuration.slowRetry, chance: chance)
        } else if turn == .changes(isFirst: true) {
            delay = configuration.backOff.jittered(configuration.spareDelay, chance: chance)
        } else {
            delay = configuration.backOff.delay(retry: retries, chance: chance)
            retries += 1
        }
        let until = now.advanced(seconds: delay)
        phase = .waiting(until: until)
        return .wait(until: until)
    }

    /// Looks at the pictures that were given up while the target has the stream; after `isHopeless` it is to be left.
    mutating func look(at pictures: DropWatch.Pictures, now: MonotonicTime) -> DropWatch.Change? {
        guard case .streaming = phase else { return nil }
        return drops.look(at: pictures, now: now)
    }

    /// What is to be done about the spare address, which nobody needs yet.
    mutating func spareStep(now: MonotonicTime) -> SpareWatch.Step {
        guard phase != .stopped else { return .end }
        let isInUse = isOnSpare
        return spare?.step(now: now, isInUse: isInUse) ?? .end
    }

    /// Takes in what a look at the spare address came to; nil when nothing keeps a stream away.
    ///
    /// - Parameter chance: A random number from 0 to 1, for the jitter.
    mutating func spareLooked(_ error: PushError?, now: MonotonicTime, chance: Double) {
        // What was looked at while the stream itself came to be there is overtaken.
        guard !isOnSpare else { return }
        spare?.looked(error, now: now, chance: chance)
        choice.isSpareOut = spareFault != nil
    }

    mutating func stop() -> Action {
        phase = .stopped
        reported = .stopped
        return .end
    }
}
