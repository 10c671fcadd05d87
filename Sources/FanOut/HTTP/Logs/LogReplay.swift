/// Buffers log lines until late ones have had time to arrive, so that all are counted in chronological order.
///
/// A log arrives in batches, each covering seconds or a minute. Counted on arrival, viewers would appear and disappear
/// with every batch. Each log has its own lag: the greatest age at which a new line of it arrived, which never
/// decreases. The lag decides when a line is counted; the time that it is counted for is the line's own. All times
/// are in milliseconds.
struct LogReplay<Entry> {
    /// One line of a batch.
    struct Line {
        var entry: Entry
        /// The age of the line; nil if the log has no times, and then the line counts as current.
        var age: Int64?
        /// A fingerprint to detect repeated lines; nil for a line that is never a repetition.
        var mark: UInt64?
    }

    /// The outcome of the lines of a batch.
    struct Outcome: Equatable {
        var taken = 0
        /// Lines older than the limit, or as far in the future.
        var late = 0
        /// Lines dropped because the buffer was full.
        var dropped = 0
        /// Repeated lines.
        var repeated = 0
    }

    private struct Log {
        var lag: Int64?
        /// Buffered lines by time slot.
        var slots: [Int64: [(entry: Entry, time: Int64)]] = [:]
    }

    /// The length of a time slot.
    private static var step: Int64 { 250 }
    /// The length of a slot of fingerprints, which expire together.
    private static var markStep: Int64 { 10_000 }
    /// The maximum number of logs with a lag of their own; all others share one.
    private static var logLimit: Int { 64 }

    private let longestLag: Int64
    private let capacity: Int
    private var logs: [String: Log] = [:]
    private var undated: [Entry] = []
    /// The fingerprints of lines by time slot, stored for as long as repetitions may arrive.
    private var marks: [Int64: Set<UInt64>] = [:]
    private var markCount = 0
    /// The number of buffered lines.
    private(set) var count = 0

    /// - Parameters:
    ///   - longestLag: The maximum age of an accepted line.
    ///   - capacity: The maximum number of buffered lines; twice as many fingerprints are stored.
    init(longestLag: Int64 = 90_000, capacity: Int = 500_000) {
        self.longestLag = longestLag
        self.capacity = capacity
    }

    /// The lag of the slowest log.
    var lag: Int64 { max(0, logs.values.compactMap(\.lag).max() ?? 0) }

    /// Returns the lag of a log.
    func lag(of log: String) -> Int64 { max(0, (logs[log] ?? logs[""])?.lag ?? 0) }

    /// Raises the lag of a log to what another replay of the same log knows.
    mutating func raiseLag(of log: String, to lag: Int64) {
        let name = self.name(of: log)
        logs[name, default: Log()].lag = max(logs[name]?.lag ?? lag, lag)
    }

    /// Returns the name under which a log is stored; logs beyond the limit share one.
    private func name(of log: String) -> String {
        logs[log] != nil || logs.count < Self.logLimit ? log : ""
    }

    /// Adds a batch.
    ///
    /// - Parameters:
    ///   - log: The name of the log.
    ///   - lag: For a batch accepted by an earlier run, the log's lag as known then; its lines are older now.
    mutating func add(_ bundle: [Line], of log: String, at now: Int64, lag: Int64? = nil) -> Outcome {
        let limits = -longestLag...longestLag
        let name = name(of: log)
        var log = logs.removeValue(forKey: name) ?? Log()
        expireMarks(at: now)
        if let lag { log.lag = max(log.lag ?? lag, lag) }
        var outcome = Outcome()
        for line in bundle {
            guard lag != nil || line.age.map({ limits.contains($0) }) ?? true else {
                outcome.late += 1
                continue
            }
            guard count < capacity else {
                outcome.dropped += 1
                continue
            }
            if let age = line.age {
                let time = now - age
                guard line.mark.map({ isNew($0, at: time) }) ?? true else {
                    outcome.repeated += 1
                    continue
                }
                if lag == nil { log.lag = max(log.lag ?? age, age) }
                log.slots[Self.slot(of: time), default: []].append((line.entry, time))
            } else {
                undated.append(line.entry)
            }
            count += 1
            outcome.taken += 1
        }
        logs[name] = log
        return outcome
    }

    /// Stores the fingerprints of lines that were counted, so that repetitions are detected.
    mutating func markSeen(_ lines: [Line], at now: Int64) {
        for line in lines {
            if let mark = line.mark, let age = line.age { _ = isNew(mark, at: now - age) }
        }
    }

    /// Removes the lines that are due, in order, each with its time.
    mutating func removeDue(at now: Int64) -> [(entry: Entry, time: Int64)] {
        var due: [(entry: Entry, time: Int64)] = undated.map { ($0, now) }
        undated.removeAll()
        for (name, log) in logs {
            guard let lag = log.lag, !log.slots.isEmpty else { continue }
            let last = Self.slot(of: now - lag) - 1
            for key in log.slots.keys where key <= last {
                for line in logs[name]?.slots.removeValue(forKey: key) ?? [] {
                    // The time of a line from a clock that is ahead is limited to the present.
                    due.append((line.entry, min(line.time, line.time + lag)))
                }
            }
        }
        count -= due.count
        return due.sorted { $0.time < $1.time }
    }

    /// Whether a line is new; also true if there is no room for its fingerprint.
    private mutating func isNew(_ mark: UInt64, at time: Int64) -> Bool {
        let slot = time >= 0 ? time / Self.markStep : (time - Self.markStep + 1) / Self.markStep
        // The age is computed again on each arrival, so a repetition may fall into a neighbouring slot.
        if (slot - 1...slot + 1).contains(where: { marks[$0]?.contains(mark) ?? false }) { return false }
        guard markCount < 2 * capacity else { return true }
        marks[slot, default: []].insert(mark)
        markCount += 1
        return true
    }

    private mutating func expireMarks(at now: Int64) {
        let first = (now - longestLag) / Self.markStep - 2
        for slot in marks.keys where slot < first { markCount -= marks.removeValue(forKey: slot)?.count ?? 0 }
    }

    private static func slot(of time: Int64) -> Int64 {
        time >= 0 ? time / step : (time - step + 1) / step
    }
}

extension LogReplay.Line: Sendable where Entry: Sendable {}
