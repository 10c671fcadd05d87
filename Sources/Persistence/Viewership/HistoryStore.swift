import Dispatch
import Foundation
public import Logging
public import Stage
import Synchronization
public import Viewership

/// Stores the viewership history on disk: one transaction per second, on its own queue.
///
/// Writes to a locked or full database are retried each second while rows accumulate in memory, within bounds. A
/// database that stays locked, or is damaged, is quarantined and replaced; a full one is never replaced. No caller
/// blocks on a write.
public final class HistoryStore: AudienceHistory, Sendable {
    /// The counters and pending work of a history store.
    public struct Status: Sendable, Hashable {
        /// Committed transactions.
        public var writes = 0
        /// Failed writes.
        public var failures = 0
        /// Rows dropped while writes failed.
        public var dropped = 0
        /// Rows pending because the last write failed.
        public var waiting = 0
        /// Databases that were quarantined, deleted or replaced.
        public var quarantined = 0
    }

    private struct State {
        var status = Status()
        var consecutiveFailures = 0
        /// The reason of the last write's failure; nil when it succeeded.
        var lastFailure: String?
        /// Rows that could not be written yet.
        var waiting: HistoryBatch?
        var writeCount = 0
        /// Whether a write that `write(_:)` started is in progress.
        var isWriting = false
    }

    /// The key of a report that scans the sessions of a scope.
    private struct Scan: Hashable {
        var scope: ReportScope
        var hasEnded: Bool
    }

    /// The key of a report on the durations of a broadcast's playbacks.
    private struct DurationScan: Hashable {
        var epoch: Int64
        var hasEnded: Bool
        var step: Int64
    }

    private let logger: Logger
    /// Retention of session rows, in milliseconds.
    private let sessionRetention: Int64
    /// Serializes writes to the database.
    private let queue = DispatchQueue(label: "footlight.viewership", qos: .utility)
    /// Writes the session steps, independently of the database.
    private let stepQueue = DispatchQueue(label: "footlight.viewership.steps", qos: .userInitiated)
    private let steps: Mutex<SessionStepWriter>
    /// Runs quick reports, so that they do not delay writes.
    private let readers = DispatchQueue(label: "footlight.viewership.readers", qos: .utility)
    /// Runs reports that scan all sessions of a scope, so that they do not delay quick reports.
    private let scanQueue = DispatchQueue(label: "footlight.viewership.walkers", qos: .utility)
    let connection: StoreConnection<HistoryDatabase>
    private let writer: Mutex<HistoryWriter>
    private let state = Mutex(State())
    /// Used on `scanQueue` only; holds the peaks of broadcasts in progress.
    private let peakCache = Mutex(ReportCache<Int64, (viewers: Int, at: Int64)?>())
    private let uniquesCache = Mutex(ReportCache<Scan, [ViewerGroup?: UniqueViewers]?>())
    private let retentionCache = Mutex(ReportCache<DurationScan, AudienceRetention?>())
    private let settledPeakCache = Mutex(ReportCache<Scan, [ViewerGroup?: SettledPeak]>())

    /// Creates a store; `load()` or the first write opens the database.
    public init(_ configuration: HistoryStoreConfiguration, logger: Logger) {
        self.logger = logger
        sessionRetention = Int64(configuration.sessionRetention * 1000)
        connection = StoreConnection(
            path: configuration.path,
            lockTimeout: configuration.lockTimeout,
            logger: logger
        )
        writer = Mutex(HistoryWriter(configuration, connection: connection, logger: logger))
        steps = Mutex(SessionStepWriter(path: configuration.stepsPath, logger: logger))
    }

    /// Loads the state of an earlier run for `ViewershipLedger.restore`; empty when it cannot be read.
    ///
    /// Call it once, before anyone is admitted. Takes as long as the disk does.
    public func load() -> RecoveredAudience {
        queue.sync { writer.withLock { $0.load() } }
    }

    /// The store's counters and pending work.
    public var status: Status { state.withLock { $0.status } }

    /// Drains the changes of the ledger and starts to write them; call it about once a second.
    ///
    /// Never blocks: while an earlier write is in progress, changes accumulate in the ledger.
    public func write(_ ledger: ViewershipLedger) {
        let isFree = state.withLock { state in
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard isFree else { return }
        queue.async { [self] in
            let quarantined = status.quarantined
            if save(ledger.drainHistory()) { ledger.confirmHistoryWritten() }
            if status.quarantined != quarantined { ledger.rewriteBroadcasts() }
            state.withLock { $0.isWriting = false }
        }
    }

    /// Writes the steps of the ledger's sessions about twenty times a second, and before any report that depends on
    /// them, until `close()`.
    ///
    /// After a kill, the next run restores the last second of this one from them.
    public func startWritingSteps(of ledger: ViewershipLedger) {
        ledger.setStepWriter { [self, weak ledger] in
            if let ledger { writeSteps(of: ledger) }
        }
        stepQueue.async { [self, weak ledger] in writeStepsRepeatedly(of: ledger) }
    }

    private func writeStepsRepeatedly(of ledger: ViewershipLedger?) {
        guard let ledger, !steps.withLock({ $0.isClosed }) else { return }
        writeSteps(of: ledger)
        stepQueue.asyncAfter(deadline: .now() + .milliseconds(50)) { [self, weak ledger] in
            writeStepsRepeatedly(of: ledger)
        }
    }

    /// Writes the steps of the ledger's sessions synchronously.
    func writeSteps(of ledger: ViewershipLedger) {
        // A concurrent caller returns after the first one has written.
        let written = steps.withLock { writer -> Int64? in
            let (moment, latest) = ledger.drainSteps()
            return writer.write(aliveUntil: moment, latest) ? moment : nil
        }
        if let written { ledger.confirmStepsWritten(aliveUntil: written) }
    }

    /// Writes a batch together with all rows that are still pending.
    ///
    /// - Returns: Whether everything is on disk.
    @discardableResult
    public func write(_ batch: HistoryBatch) async -> Bool {
        await withCheckedContinuation { done in
            queue.async { [self] in done.resume(returning: save(batch)) }
        }
    }

    /// Checks, on the writer's queue, whether history could be written at this moment.
    ///
    /// - Parameters:
    ///   - ledger: Rewrites its broadcasts when the database has to be recreated.
    ///   - answer: Called on that queue with the problem, or nil.
    public func probe(_ ledger: ViewershipLedger, _ answer: @escaping @Sendable (_ problem: String?) -> Void) {
        queue.async { [self] in
            do throws(StoreFault) {
                try connection.probe()
                answer(state.withLock { $0.lastFailure })
            } catch {
                let quarantined = status.quarantined
                updateQuarantinedCount()
                if status.quarantined != quarantined { ledger.rewriteBroadcasts() }
                answer(error.reason)
            }
        }
    }

    /// Closes the database and the step log; a later use reopens the database.
    public func close() async {
        await withCheckedContinuation { closed in
            stepQueue.async { [self] in
                steps.withLock { $0.close() }
                closed.resume()
            }
        }
        await withCheckedContinuation { closed in
            queue.async { [self] in
                connection.close()
                closed.resume()
            }
        }
    }

    private func save(_ latest: HistoryBatch) -> Bool {
        let batch = state.withLock { state in
            var batch = state.waiting ?? HistoryBatch(asOf: latest.asOf)
            state.waiting = nil
            batch.append(latest)
            return batch
        }
        let now = Self.seconds()
        do {
            try writer.withLock { (writer) throws(StoreFault) in try writer.save(batch, now: now) }
        } catch {
            recordFailure(error, batch)
            return false
        }
        let isDeletionDue = state.withLock { state in
            state.status.writes += 1
            state.status.waiting = 0
            state.status.dropped += batch.dropped
            state.consecutiveFailures = 0
            state.lastFailure = nil
            state.writeCount += 1
            return state.writeCount % 60 == 1
        }
        updateQuarantinedCount()
        if isDeletionDue { deleteExpired(at: batch.asOf) }
        return true
    }

    private func recordFailure(_ fault: StoreFault, _ batch: HistoryBatch) {
        let failures = state.withLock { state in
            // Counted at once, not after the next successful write.
            state.status.dropped += batch.dropped
            state.waiting = batch
            state.waiting?.dropped = 0
            state.status.waiting = batch.count
            state.status.failures += 1
            state.consecutiveFailures += 1
            state.lastFailure = fault.reason
            return state.consecutiveFailures
        }
        updateQuarantinedCount()
        // Logs the first failure, and one a minute after it.
        guard failures % 60 == 1 else { return }
        logger.error(
            "the viewership history cannot be written; retrying",
            metadata: ["reason": "\(fault.reason)", "failures": "\(failures)"]
        )
    }

    private func updateQuarantinedCount() {
        let faults = connection.faults
        state.withLock { $0.status.quarantined = faults.quarantined + faults.lost }
    }

    private func deleteExpired(at date: Int64) {
        do {
            // Limits one run to some seconds; the rest is deleted a minute later.
            for _ in 0..<10 {
                let isMore = try writer.withLock { (writer) throws(StoreFault) in
                    try writer.deleteExpired(at: date)
                }
                guard isMore else { return }
            }
        } catch {
            logger.warning("expired sessions cannot be deleted", metadata: ["reason": "\(error.reason)"])
        }
    }

    // MARK: AudienceHistory

    /// Returns the broadcasts of a room by name or sid, the latest first.
    public func broadcasts(room: String, limit: Int) async throws -> [BroadcastRow] {
        try await read { (database) throws(StoreFault) in try database.broadcasts(room: room, limit: limit) }
    }

    /// Returns the broadcasts of all rooms that ended after a moment, ordered by their end.
    ///
    /// - Parameter moment: Milliseconds since 1970.
    public func ended(after moment: Int64, limit: Int) async throws -> [BroadcastRow] {
        try await read { (database) throws(StoreFault) in try database.ended(after: moment, limit: limit) }
    }

    /// Returns the minutes of one room or of all, aggregated in steps.
    public func minutes(
        room: String?,
        sid: String?,
        from: Int64,
        to: Int64,
        step: Int64,
        grouping: ViewershipGrouping?,
        limit: Int
    ) async throws -> [MinuteRow] {
        try await read { (database) throws(StoreFault) in
            try database.minutes(
                room: room,
                sid: sid,
                from: from,
                to: to,
                step: step,
                grouping: grouping,
                limit: limit
            )
        }
    }

    /// Returns the time on air of any program, and the concurrent peak over all rooms.
    public func air(from: Int64, to: Int64) async throws -> PeriodFigures.Air {
        try await read { (database) throws(StoreFault) in try database.air(from: from, to: to) }
    }

    /// Returns the sums of a scope.
    public func sums(of scope: ReportScope) async throws -> [MinuteRow] {
        try await read { (database) throws(StoreFault) in try database.sums(of: scope) }
    }

    /// Returns the group figures that cannot be summed; distinct viewers of a large audience may be some seconds old.
    public func groups(of scope: ReportScope) async throws -> [ViewerGroup?: GroupFigures] {
        try await read(on: scanQueue) { [self] (database) throws(StoreFault) in
            // The figures of a broadcast in progress and those after its end are cached separately.
            let scan = Scan(scope: scope, hasEnded: try database.hasEnded(scope))
            let uniques = try uniquesCache.withLock { (cache) throws(StoreFault) in
                try cache.value(of: scan, clock: Self.seconds) { () throws(StoreFault) in
                    try database.uniques(of: scope, retention: sessionRetention)
                }
            }
            var groups = try database.groups(of: scope)
            guard let uniques else { return groups }
            for group in Set(groups.keys).union(uniques.keys) {
                // A group without any session left still has its peak.
                groups[group, default: GroupFigures()].uniques = uniques[group] ?? UniqueViewers()
            }
            return groups
        }
    }

    /// Returns sessions of a broadcast, ordered by their start.
    public func sessions(
        epoch: Int64,
        after: (start: Int64, code: UInt64)?,
        limit: Int
    ) async throws -> [SessionRow] {
        try await read { (database) throws(StoreFault) in
            try database.sessions(epoch: epoch, after: after, limit: limit)
        }
    }

    /// Returns the interruptions of a broadcast's sessions, in order.
    public func gaps(
        epoch: Int64,
        from first: SessionRow,
        through last: SessionRow,
        limit: Int
    ) async throws -> [GapRow] {
        try await read { (database) throws(StoreFault) in
            try database.gaps(epoch: epoch, from: first, through: last, limit: limit)
        }
    }

    /// Returns the settled peaks of the whole and of each group once the scope has ended; may be some seconds old for a
    /// large audience.
    public func settledPeaks(of scope: ReportScope) async throws -> [ViewerGroup?: SettledPeak] {
        try await read(on: scanQueue) { [self] (database) throws(StoreFault) in
            let scan = Scan(scope: scope, hasEnded: try database.hasEnded(scope))
            guard scan.hasEnded else { return [:] }
            var peaks = try settledPeakCache.withLock { (cache) throws(StoreFault) in
                try cache.value(of: scan, clock: Self.seconds) { () throws(StoreFault) in
                    try database.settledPeaks(of: scope, retention: sessionRetention)
                }
            }
            if case .broadcast(let epoch) = scope, let stored = try database.storedPeak(epoch: epoch) {
                peaks[nil] = SettledPeak(viewers: stored.peak.viewers, at: stored.peak.at)
            }
            return peaks
        }
    }

    /// Returns how long the playbacks of a broadcast lasted; may be some seconds old for a large audience.
    public func retention(of broadcast: BroadcastRow, until end: Int64, step: Int64) async throws -> AudienceRetention?
    {
        let scan = DurationScan(epoch: broadcast.epoch, hasEnded: broadcast.ended != nil, step: step)
        return try await read(on: scanQueue) { [self] (database) throws(StoreFault) in
            try retentionCache.withLock { (cache) throws(StoreFault) in
                try cache.value(of: scan, clock: Self.seconds) { () throws(StoreFault) in
                    try database.retention(of: broadcast, until: end, step: step, retention: sessionRetention)
                }
            }
        }
    }

    /// Returns the settled peak so far; may be some seconds old for a large broadcast in progress.
    public func settledPeak(epoch: Int64) async throws -> (viewers: Int, at: Int64)? {
        try await read(on: scanQueue) { [self] (database) throws(StoreFault) in
            let stored = try database.storedPeak(epoch: epoch)
            if let stored, stored.hasEnded { return stored.peak }
            let found = try peakCache.withLock { (cache) throws(StoreFault) in
                try cache.value(of: epoch, clock: Self.seconds) { () throws(StoreFault) in
                    try database.computedPeak(epoch: epoch)
                }
            }
            return [stored?.peak, found].compactMap(\.self).max { $0.viewers < $1.viewers }
        }
    }

    /// Seconds of a monotonic clock.
    private static func seconds() -> Double {
        Double(DispatchTime.now().uptimeNanoseconds) / 1e9
    }

    /// Reads off the writer's queue, on a separate connection.
    ///
    /// - Parameter queue: Nil for the queue of quick reports.
    private func read<Outcome: Sendable>(
        on queue: DispatchQueue? = nil,
        _ body: @escaping @Sendable (HistoryDatabase) throws(StoreFault) -> Outcome
    ) async throws -> Outcome {
        try await withCheckedThrowingContinuation { answer in
            (queue ?? readers).async { [self] in
                do {
                    answer.resume(returning: try body(try connection.opened()))
                } catch {
                    answer.resume(throwing: error)
                }
            }
        }
    }
}

/// Configures the history store: its file, retention and lock handling.
public struct HistoryStoreConfiguration: Sendable, Hashable {
    /// The path of the database file; SQLite creates two more with the suffixes `-wal` and `-shm`.
    public var path: String
    /// Retention of session rows, in seconds.
    public var sessionRetention: Double
    /// Retention of minutes and broadcasts, which identify no viewer, in seconds; 0 retains them forever.
    public var minuteRetention: Double
    /// Seconds to wait for a lock of another process, per attempt.
    public var lockTimeout: Double
    /// Seconds after which a database that stays locked is quarantined and replaced.
    public var quarantineTimeout: Double

    /// The path of the session step log, beside the database.
    var stepsPath: String { path + ".steps" }

    /// Creates a configuration with defaults for the rest.
    public init(
        path: String,
        sessionRetention: Double = 30 * 86_400,
        minuteRetention: Double = 0,
        lockTimeout: Double = 0.5,
        quarantineTimeout: Double = 60
    ) {
        self.path = path
        self.sessionRetention = sessionRetention
        self.minuteRetention = minuteRetention
        self.lockTimeout = lockTimeout
        self.quarantineTimeout = quarantineTimeout
    }
}

/// Caches results that are expensive to compute.
///
/// A settled peak, or the distinct viewers of each group, scans all sessions of a broadcast, which may take more than a
/// second and is requested by every dashboard again and again. So a result is valid for twenty times as long as its
/// computation took, 60 s at most: results of small broadcasts are always fresh, and large ones use about a twentieth
/// of one core however many clients ask. A period that moves forward has a new key each minute.
struct ReportCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var until: Double
    }

    /// The lifetime of a result as a multiple of its computation time.
    private let lifetimeFactor = 20.0
    /// The maximum lifetime, in seconds.
    private let maximumLifetime = 60.0
    /// The maximum number of cached keys.
    private let limit = 1000

    private var entries: [Key: Entry] = [:]

    /// Returns the cached result of a key while it is valid, and computes it otherwise.
    ///
    /// - Parameters:
    ///   - clock: Seconds of any monotonic clock.
    ///   - compute: Computes the result.
    mutating func value<Fault: Error>(
        of key: Key,
        clock: () -> Double,
        compute: () throws(Fault) -> Value
    ) throws(Fault) -> Value {
        let began = clock()
        if let entry = entries[key], began < entry.until { return entry.value }
        let value = try compute()
        let now = clock()
        if entries.count >= limit { entries = entries.filter { now < $0.value.until } }
        guard entries.count < limit || entries[key] != nil else { return value }
        entries[key] = Entry(value: value, until: now + min((now - began) * lifetimeFactor, maximumLifetime))
        return value
    }
}
