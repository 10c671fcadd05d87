import Dispatch
import Foundation
public import Logging
import SQLiteStore
import Stage
import Synchronization
public import Viewership

/// Keeps the audience's history on disk: one transaction a second, on a queue of its own.
///
/// A database that is locked or full is tried again each second, and what is to be written gathers meanwhile, within
/// bounds; one that stays locked, or is damaged, is put aside and another one begun. One that is full stays, however
/// long there is no room. None of it stops anybody.
public final class HistoryKeeper: AudienceHistory, Sendable {
    /// How the keeping goes.
    public struct Status: Sendable, Hashable {
        /// Transactions that went to disk.
        public var writes = 0
        /// Tries that failed.
        public var failures = 0
        /// Rows that found no space while tries failed.
        public var dropped = 0
        /// Rows that wait because the last try failed.
        public var waiting = 0
        /// Databases that were put aside.
        public var asides = 0
    }

    private struct State {
        var status = Status()
        var failuresInARow = 0
        /// Why the last write failed; nil when it did not.
        var lastFault: String?
        /// What could not be written yet.
        var waiting: HistoryBatch?
        var turns = 0
        /// A write that `keep` began is not over.
        var isKeeping = false
    }

    /// A walk through sessions.
    private struct Walk: Hashable {
        var scope: ReportScope
        var hasEnded: Bool
    }

    private let logger: Logger
    /// For how long single sessions are kept, milliseconds.
    private let sessionRetention: Int64
    /// Where the database is written, one thing at a time.
    private let queue = DispatchQueue(label: "footlight.viewership", qos: .utility)
    /// Where the steps of sessions are written, which wait for no database.
    private let stepQueue = DispatchQueue(label: "footlight.viewership.steps", qos: .userInitiated)
    private let steps: Mutex<SessionStepWriter>
    /// Where it is read, so that a long report holds no write up.
    private let readers = DispatchQueue(label: "footlight.viewership.readers", qos: .utility)
    /// Where all sessions of a broadcast or of a time are walked through, so that no series or list waits for that.
    private let walkers = DispatchQueue(label: "footlight.viewership.walkers", qos: .utility)
    let shelf: Mutex<HistoryShelf>
    private let state = Mutex(State())
    /// Only the walkers' queue is ever at these; the peaks are of broadcasts that last.
    private let recentPeaks = Mutex(RecentFigures<Int64, (viewers: Int, at: Int64)?>())
    private let recentUniques = Mutex(RecentFigures<Walk, [ViewerGroup?: UniqueViewers]?>())
    private let recentSettled = Mutex(RecentFigures<Walk, [ViewerGroup?: SettledPeak]>())

    /// Makes a keeper; nothing is opened before `load()` or the first write.
    public init(_ configuration: HistoryStoreConfiguration, logger: Logger) {
        self.logger = logger
        sessionRetention = Int64(configuration.sessionRetention * 1000)
        shelf = Mutex(HistoryShelf(configuration: configuration, logger: logger))
        steps = Mutex(SessionStepWriter(path: configuration.stepsPath, logger: logger))
    }

    /// What an earlier run left, for `ViewershipLedger.restore`; nothing when it cannot be read.
    ///
    /// To be called once, before anybody is let in. Takes as long as the disk does.
    public func load() -> RecoveredAudience {
        queue.sync { shelf.withLock { $0.load() } }
    }

    /// How it goes.
    public var status: Status { state.withLock { $0.status } }

    /// Takes from the ledger what changed and begins to write it; to be called about once a second.
    ///
    /// Waits for nothing: while an earlier write lasts, what changes gathers in the ledger.
    public func keep(_ ledger: ViewershipLedger) {
        let isFree = state.withLock { state in
            defer { state.isKeeping = true }
            return !state.isKeeping
        }
        guard isFree else { return }
        queue.async { [self] in
            let asides = status.asides
            if save(ledger.takeHistory()) { ledger.historyWritten() }
            if status.asides != asides { ledger.repeatBroadcasts() }
            state.withLock { $0.isKeeping = false }
        }
    }

    /// Writes the steps of the ledger's sessions some twenty times a second, and before figures are told that have them, until
    /// `close()`.
    ///
    /// They are what a later run knows of the last second of this one, if this one is killed.
    public func keepSteps(of ledger: ViewershipLedger) {
        ledger.beforeTellingSteps { [self, weak ledger] in
            if let ledger { writeSteps(of: ledger) }
        }
        stepQueue.async { [self, weak ledger] in writeStepsOnAndOn(of: ledger) }
    }

    private func writeStepsOnAndOn(of ledger: ViewershipLedger?) {
        guard let ledger, !steps.withLock({ $0.isClosed }) else { return }
        writeSteps(of: ledger)
        stepQueue.asyncAfter(deadline: .now() + .milliseconds(50)) { [self, weak ledger] in
            writeStepsOnAndOn(of: ledger)
        }
    }

    /// Writes the steps of the ledger's sessions at once; takes as long as the system does to copy some bytes.
    func writeSteps(of ledger: ViewershipLedger) {
        // Whoever comes second returns when the first has written.
        let written = steps.withLock { writer -> Int64? in
            let (moment, latest) = ledger.takeSteps()
            return writer.write(livesUntil: moment, latest) ? moment : nil
        }
        if let written { ledger.stepsWritten(livesUntil: written) }
    }

    /// Writes a batch, and with it what could not be written before.
    ///
    /// - Returns: Whether everything is on disk.
    @discardableResult
    public func write(_ batch: HistoryBatch) async -> Bool {
        await withCheckedContinuation { done in
            queue.async { [self] in done.resume(returning: save(batch)) }
        }
    }

    /// Finds out, on the writer's queue, whether history can be written at this moment.
    ///
    /// - Parameters:
    ///   - ledger: Asked to repeat its broadcasts when the database has to be begun anew.
    ///   - answer: Called on that queue with what is wrong, nil for nothing.
    public func probe(_ ledger: ViewershipLedger, _ answer: @escaping @Sendable (_ problem: String?) -> Void) {
        queue.async { [self] in
            do throws(StoreFault) {
                try shelf.withLock { (shelf) throws(StoreFault) in try shelf.probe() }
                answer(state.withLock { $0.lastFault })
            } catch {
                let asides = status.asides
                noteAsides()
                if status.asides != asides { ledger.repeatBroadcasts() }
                answer(error.reason)
            }
        }
    }

    /// Closes the database; a later use opens it again.
    public func close() async {
        await withCheckedContinuation { closed in
            stepQueue.async { [self] in
                steps.withLock { $0.close() }
                closed.resume()
            }
        }
        await withCheckedContinuation { closed in
            queue.async { [self] in
                shelf.withLock { $0.close() }
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
            try shelf.withLock { (shelf) throws(StoreFault) in try shelf.save(batch, now: now) }
        } catch {
            noteFailure(error, batch)
            return false
        }
        let isTidying = state.withLock { state in
            state.status.writes += 1
            state.status.waiting = 0
            state.status.dropped += batch.dropped
            state.failuresInARow = 0
            state.lastFault = nil
            state.turns += 1
            return state.turns % 60 == 1
        }
        noteAsides()
        if isTidying { tidy(at: batch.asOf) }
        return true
    }

    private func noteFailure(_ fault: StoreFault, _ batch: HistoryBatch) {
        let failures = state.withLock { state in
            // Said at once, not when it is over.
            state.status.dropped += batch.dropped
            state.waiting = batch
            state.waiting?.dropped = 0
            state.status.waiting = batch.count
            state.status.failures += 1
            state.failuresInARow += 1
            state.lastFault = fault.reason
            return state.failuresInARow
        }
        noteAsides()
        // The first says that something is wrong, and one a minute that it still is.
        guard failures % 60 == 1 else { return }
        logger.error(
            "the audience's history cannot be written; trying again",
            metadata: ["reason": "\(fault.reason)", "failures": "\(failures)"]
        )
    }

    private func noteAsides() {
        let asides = shelf.withLock { $0.asides }
        state.withLock { $0.status.asides = asides }
    }

    private func tidy(at date: Int64) {
        do {
            // Some seconds' worth at a time; the rest comes a minute later.
            for _ in 0..<10 {
                let isMore = try shelf.withLock { (shelf) throws(StoreFault) in try shelf.forget(at: date) }
                guard isMore else { return }
            }
        } catch {
            logger.warning("old sessions cannot be deleted", metadata: ["reason": "\(error.reason)"])
        }
    }

    // MARK: AudienceHistory

    /// The broadcasts of a room, the latest first.
    public func broadcasts(room: String, limit: Int) async throws -> [BroadcastRow] {
        try await read { (database) throws(StoreFault) in try database.broadcasts(room: room, limit: limit) }
    }

    /// The broadcasts of all rooms that ended behind a moment, in the order of their ends.
    ///
    /// - Parameter moment: milliseconds since 1970.
    public func ended(after moment: Int64, limit: Int) async throws -> [BroadcastRow] {
        try await read { (database) throws(StoreFault) in try database.ended(after: moment, limit: limit) }
    }

    /// The minutes of a room, or of all, added up in steps.
    public func minutes(
        room: String?,
        from: Int64,
        to: Int64,
        step: Int64,
        grouping: ViewershipTimeline.Grouping?,
        limit: Int
    ) async throws -> [MinuteRow] {
        try await read { (database) throws(StoreFault) in
            try database.minutes(room: room, from: from, to: to, step: step, grouping: grouping, limit: limit)
        }
    }

    /// When any program was on the air, and the most viewers of all rooms at once.
    public func air(from: Int64, to: Int64) async throws -> PeriodFigures.Air {
        try await read { (database) throws(StoreFault) in try database.air(from: from, to: to) }
    }

    /// Everything, added up.
    public func sums(of scope: ReportScope) async throws -> [MinuteRow] {
        try await read { (database) throws(StoreFault) in try database.sums(of: scope) }
    }

    /// What of the groups cannot be added up; of a large audience the distinct viewers as they were some seconds ago.
    public func groups(of scope: ReportScope) async throws -> [ViewerGroup?: GroupFigures] {
        try await read(on: walkers) { [self] (database) throws(StoreFault) in
            // What is known of a broadcast while it lasts is not what is known of it when it is over.
            let walk = Walk(scope: scope, hasEnded: try database.hasEnded(scope))
            let uniques = try recentUniques.withLock { (recent) throws(StoreFault) in
                try recent.figure(of: walk, clock: Self.seconds) { () throws(StoreFault) in
                    try database.uniques(of: scope, retention: sessionRetention)
                }
            }
            var groups = try database.groups(of: scope)
            guard let uniques else { return groups }
            for group in Set(groups.keys).union(uniques.keys) {
                // Of a group whose viewers have all gone on to another one no session tells any more.
                groups[group, default: GroupFigures()].uniques = uniques[group] ?? UniqueViewers()
            }
            return groups
        }
    }

    /// Sessions of a broadcast, in order of their beginning.
    public func sessions(
        epoch: Int64,
        after: (start: Int64, code: UInt64)?,
        limit: Int
    ) async throws -> [SessionRow] {
        try await read { (database) throws(StoreFault) in
            try database.sessions(epoch: epoch, after: after, limit: limit)
        }
    }

    /// When sessions of a broadcast were away and came back, in order.
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

    /// The most sessions at once of everybody and of each group, once it is over; of a large audience as it was some seconds
    /// ago.
    public func settledPeaks(of scope: ReportScope) async throws -> [ViewerGroup?: SettledPeak] {
        try await read(on: walkers) { [self] (database) throws(StoreFault) in
            let walk = Walk(scope: scope, hasEnded: try database.hasEnded(scope))
            guard walk.hasEnded else { return [:] }
            var peaks = try recentSettled.withLock { (recent) throws(StoreFault) in
                try recent.figure(of: walk, clock: Self.seconds) { () throws(StoreFault) in
                    try database.settledPeaks(of: scope, retention: sessionRetention)
                }
            }
            if case .broadcast(let epoch) = scope, let stored = try database.storedPeak(epoch: epoch) {
                peaks[nil] = SettledPeak(viewers: stored.peak.viewers, at: stored.peak.at)
            }
            return peaks
        }
    }

    /// The most sessions at once so far; of a large broadcast that lasts as it was some seconds ago.
    public func settledPeak(epoch: Int64) async throws -> (viewers: Int, at: Int64)? {
        try await read(on: walkers) { [self] (database) throws(StoreFault) in
            let stored = try database.storedPeak(epoch: epoch)
            if let stored, stored.hasEnded { return stored.peak }
            let found = try recentPeaks.withLock { (recent) throws(StoreFault) in
                try recent.figure(of: epoch, clock: Self.seconds) { () throws(StoreFault) in
                    try database.computedPeak(epoch: epoch)
                }
            }
            return [stored?.peak, found].compactMap(\.self).max { $0.viewers < $1.viewers }
        }
    }

    /// Seconds of a clock that goes on.
    private static func seconds() -> Double {
        Double(DispatchTime.now().uptimeNanoseconds) / 1e9
    }

    /// Reads off the queue of the writer, with a connection of its own.
    ///
    /// - Parameter queue: Nil for that of quick reports.
    private func read<Outcome: Sendable>(
        on queue: DispatchQueue? = nil,
        _ body: @escaping @Sendable (HistoryDatabase) throws(StoreFault) -> Outcome
    ) async throws -> Outcome {
        try await withCheckedThrowingContinuation { answer in
            (queue ?? readers).async { [self] in
                do {
                    let database = try shelf.withLock { (shelf) throws(StoreFault) in try shelf.opened() }
                    answer.resume(returning: try body(database))
                } catch {
                    answer.resume(throwing: error)
                }
            }
        }
    }
}
