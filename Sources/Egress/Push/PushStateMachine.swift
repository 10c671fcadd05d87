import Media
import Stage

/// The state machine of a push: attempts, waits, connections and failures; without sockets or clocks.
///
///     idle ── start ──▶ trying ── accepted ──▶ streaming
///                        ▲  │                    │
///                        │  └──── failed ──┐     │ failed
///                        └─── due ─── waiting ◀──┘            stop, from anywhere ──▶ stopped
///
/// The reported state differs from the phase: an output that lost its target reports `interrupted` during its attempts,
/// and one whose target refuses it reports `failed` while slow retries continue. With a backup address, the output
/// fails only when neither address can succeed.
struct PushStateMachine: Sendable {
    /// The phase of the push.
    enum Phase: Sendable, Equatable {
        case idle
        case trying
        /// The target has accepted the stream.
        case streaming(since: MonotonicTime)
        case waiting(until: MonotonicTime)
        case stopped
    }

    /// The next step for the owner of the machine.
    enum Action: Sendable, Equatable {
        case connect
        case wait(until: MonotonicTime)
        case end
    }

    private(set) var phase: Phase = .idle
    /// The state shown to operators.
    private(set) var reported: OutputStatus.State = .connecting
    /// Reconnects, by the fault that ended the previous connection.
    private(set) var reconnectReasons: [OutputFault.Code: UInt64] = [:]
    /// The number of reconnects.
    var reconnects: UInt64 { reconnectReasons.values.reduce(0, +) }
    private(set) var lastFault: OutputFault?
    /// Whether the backup address is in use or tried next.
    var usesBackup: Bool { choice.usesBackup }
    /// Why the backup address is unusable; nil when it is usable or was never probed.
    var backupFault: OutputFault? { spare?.fault }
    /// Whether the target is too slow for the program, or was when it was last connected.
    var isSlow: Bool { drops.isSlow }

    private let configuration: PushConfiguration
    private var wasConnected = false
    /// The fault that ended the last connection; nil before the first loss.
    private var loss: OutputFault.Code?
    /// Attempts since the last stable connection.
    private var retries = 0
    private var classifier: FaultClassifier
    private var choice: AddressSelector
    private var drops: DropMonitor
    /// nil without a backup address.
    private var spare: BackupState?

    init(configuration: PushConfiguration, hasSpare: Bool = false) {
        self.configuration = configuration
        classifier = FaultClassifier(retryBudget: configuration.retryBudget)
        choice = AddressSelector(hasSpare: hasSpare, limit: configuration.failuresBeforeSpare)
        drops = DropMonitor(limits: configuration.drops)
        spare = hasSpare ? BackupState(configuration: configuration) : nil
    }

    mutating func start(now: MonotonicTime) -> Action {
        guard phase == .idle else { return .end }
        phase = .trying
        classifier.disconnected(now: now)
        return .connect
    }

    /// Ends the wait.
    mutating func due() -> Action {
        guard case .waiting = phase else { return .end }
        phase = .trying
        return .connect
    }

    /// Records that the target has accepted the stream and not closed it.
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
        if usesBackup { spare?.proved() }
    }

    /// Records a failed attempt or a lost connection.
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
            // A connection closed for being slow was never stable, however long it lasted.
            if now.seconds(since: since) >= configuration.healthyAfter, !drops.isFailing {
                retries = 0
                choice.held()
            }
            classifier.disconnected(now: now)
        }
        var fault = classifier.classify(error, now: now)
        var isFailing = fault.retry == .slow
        let turn = choice.failed(isFailing: &isFailing)
        if turn != .stays { classifier.movedToOtherAddress() }
        fault.retry = isFailing ? .slow : .soon
        lastFault = fault
        if wasStreaming { loss = fault.code }

        if isFailing {
            reported = .failed
        } else if wasConnected, reported == .connected {
            reported = .interrupted
        }
        let delay: Double
        if reported == .failed {
            delay = configuration.backoff.spread(configuration.slowRetry, chance: chance)
        } else if turn == .changes(isFirst: true) {
            delay = configuration.backoff.spread(configuration.spareDelay, chance: chance)
        } else {
            delay = configuration.backoff.delay(retry: retries, chance: chance)
            retries += 1
        }
        let until = now.advanced(seconds: delay)
        phase = .waiting(until: until)
        return .wait(until: until)
    }

    /// Updates the drop statistics while streaming; after `isFailing` the connection should be closed.
    mutating func update(with frames: DropMonitor.FrameCounts, now: MonotonicTime) -> DropMonitor.Change? {
        guard case .streaming = phase else { return nil }
        return drops.update(with: frames, now: now)
    }

    /// Returns the next step for the backup address.
    mutating func backupStep(now: MonotonicTime) -> BackupState.Step {
        guard phase != .stopped else { return .end }
        let isInUse = usesBackup
        return spare?.step(now: now, isInUse: isInUse) ?? .end
    }

    /// Records the result of probing the backup address; nil for success.
    ///
    /// - Parameter chance: A random number from 0 to 1, for the jitter.
    mutating func backupProbed(_ error: PushError?, now: MonotonicTime, chance: Double) {
        // A probe that overlaps with the stream's move to the backup address is outdated.
        guard !usesBackup else { return }
        spare?.looked(error, now: now, chance: chance)
        choice.isSpareOut = backupFault != nil
    }

    mutating func stop() -> Action {
        phase = .stopped
        reported = .stopped
        return .end
    }
}

/// Selects which of an output's two addresses is tried; without I/O.
///
/// An address that lost the stream is left at once; one that never accepted it is tried a few times. The backup stays
/// in use until it fails, because every change interrupts the target's viewers. A backup known to be unreachable is not
/// preferred to the address that failed.
struct AddressSelector: Sendable {
    private(set) var usesBackup = false
    /// Whether the backup address was probed and is unreachable.
    var isSpareOut = false
    private let hasSpare: Bool
    private let limit: Int
    /// Consecutive failures at the current address.
    private var failures = 0
    /// Changes since the last stable connection.
    private var changes = 0
    /// Whether the stream was lost and no address has accepted it again.
    private var isOffAir = false
    /// Whether retrying the other address soon cannot help.
    private var isOtherFailing = false

    /// - Parameter limit: Consecutive failures at one address before the other one is tried.
    init(hasSpare: Bool, limit: Int) {
        self.hasSpare = hasSpare
        self.limit = limit
    }

    /// The result of a failure.
    enum Turn: Sendable, Equatable {
        case stays
        /// The other address is tried next, at once for the first change since a stable connection.
        case changes(isFirst: Bool)
    }

    /// Records that the current address has accepted the stream, which clears the verdict on both addresses.
    mutating func accepted() {
        isOtherFailing = false
        isOffAir = false
        if usesBackup { isSpareOut = false }
    }

    /// Records a stable connection.
    mutating func held() {
        failures = 0
        changes = 0
    }

    /// Records that the current address lost the stream; `failed` follows.
    mutating func lost() {
        isOffAir = true
    }

    /// Records a failure.
    ///
    /// - Parameter isFailing: Whether retrying this address soon cannot help; set to false unless the same holds for
    ///   the other address.
    mutating func failed(isFailing: inout Bool) -> Turn {
        guard hasSpare else { return .stays }
        failures += 1
        let limit = isOffAir && (usesBackup || !isSpareOut) ? 1 : limit
        guard isFailing || failures >= limit else { return .stays }
        usesBackup.toggle()
        failures = 0
        changes += 1
        (isFailing, isOtherFailing) = (isFailing && isOtherFailing, isFailing)
        return .changes(isFirst: changes == 1)
    }
}

/// Classifies the fault that ended an attempt, and whether retrying soon can help; without I/O.
///
/// An explicit refusal or an invalid target fails at once. A target that closes before accepting the stream may be
/// restarting, so its second refusal counts. A target that had the stream may still hold the old connection, so its
/// fifth refusal counts. Network failures count only when the retry budget is spent.
struct FaultClassifier: Sendable {
    /// Consecutive refusals that count as final for a target that had the stream.
    static let refusalsAfterStreaming = 5

    private let retryBudget: Double
    private var hadStream = false
    /// Consecutive refusals.
    private var refusals = 0
    /// Since when there is no connection.
    private var disconnectedSince: MonotonicTime?

    /// - Parameter retryBudget: Seconds without a connection after which only slow retries are left.
    init(retryBudget: Double) {
        self.retryBudget = retryBudget
    }

    /// Records the first attempt or a lost connection.
    mutating func disconnected(now: MonotonicTime) {
        disconnectedSince = now
    }

    /// Records that the target has accepted the stream.
    mutating func accepted() {
        hadStream = true
        refusals = 0
        disconnectedSince = nil
    }

    /// Resets the history for another address, which has not had the stream.
    mutating func movedToOtherAddress() {
        hadStream = false
        refusals = 0
    }

    /// Classifies the error that ended an attempt or a connection.
    mutating func classify(_ error: PushError, now: MonotonicTime) -> OutputFault {
        refusals = error.code == .refused ? refusals + 1 : 0
        return OutputFault(Self.code(of: error), error.message, retry: isFailing(error, now: now) ? .slow : .soon)
    }

    private func isFailing(_ error: PushError, now: MonotonicTime) -> Bool {
        if let disconnectedSince, now.seconds(since: disconnectedSince) >= retryBudget { return true }
        return switch error.code {
        case .invalidAddress, .forbiddenAddress, .insecure: true
        case .refused: refusals >= (hadStream ? Self.refusalsAfterStreaming : error.isExplicit ? 1 : 2)
        case .nameNotFound, .unreachable, .timedOut, .closed, .stalled, .local: false
        }
    }

    static func code(of error: PushError) -> OutputFault.Code {
        switch error.code {
        case .invalidAddress: .invalidAddress
        case .forbiddenAddress: .forbiddenAddress
        case .nameNotFound: .nameNotFound
        case .unreachable: .unreachable
        case .insecure: .certificate
        case .timedOut: .timedOut
        case .refused where !error.isExplicit: .hungUp
        case .refused: error.statusCode.hasPrefix("NetConnection.") ? .applicationRefused : .keyRefused
        case .closed: .connectionLost
        case .stalled: .stalled
        case .local: .local
        }
    }
}
