/// Holds what logs tell until what comes late has had time to come, so that it is counted in the order in which it
/// happened.
///
/// A log comes in bundles, each with what happened in some seconds or in a minute. Taken as they come a crowd would be
/// there and gone with every bundle. Each log has a lag of its own: the greatest age in which a line of it came for the
/// first time. It never gets shorter. It says when a line is counted, and never as of when: that is the line's own time.
/// Times are milliseconds.
struct LogReplay<Entry> {
    /// One line of a bundle.
    struct Line {
        var entry: Entry
        /// How old it is; nil where the log does not say, and then it is of this moment.
        var age: Int64?
        /// Tells it from all others; nil for one that is never the same as another.
        var mark: UInt64?
    }

    /// What became of the lines of a bundle.
    struct Outcome: Equatable {
        var taken = 0
        /// Older than any log may be, or as far from the future.
        var late = 0
        /// There was no room for them.
        var dropped = 0
        /// They came before.
        var repeated = 0
    }

    private struct Log {
        var lag: Int64?
        /// Lines that wait, by the step of their time.
        var slots: [Int64: [(entry: Entry, time: Int64)]] = [:]
    }

    /// What is looked at together.
    private static var step: Int64 { 250 }
    /// Marks that are forgotten together.
    private static var markStep: Int64 { 10_000 }
    /// Logs that are told apart; all others share a lag.
    private static var logLimit: Int { 64 }

    private let longestLag: Int64
    private let capacity: Int
    private var logs: [String: Log] = [:]
    private var undated: [Entry] = []
    /// Of lines that came, by their time, for as long as they may come again.
    private var marks: [Int64: Set<UInt64>] = [:]
    private var markCount = 0
    /// Lines that wait.
    private(set) var count = 0

    /// - Parameters:
    ///   - longestLag: The greatest age in which a line is taken.
    ///   - capacity: Lines that may wait at a time, and twice as many whose marks are kept.
    init(longestLag: Int64 = 90_000, capacity: Int = 500_000) {
        self.longestLag = longestLag
        self.capacity = capacity
    }

    /// By how much the slowest log lags behind.
    var lag: Int64 { max(0, logs.values.compactMap(\.lag).max() ?? 0) }

    /// By how much a log lags behind.
    func lag(of log: String) -> Int64 { max(0, (logs[log] ?? logs[""])?.lag ?? 0) }

    /// Raises the lag of a log to what is known of it from elsewhere.
    mutating func raiseLag(of log: String, to lag: Int64) {
        let name = self.name(of: log)
        logs[name, default: Log()].lag = max(logs[name]?.lag ?? lag, lag)
    }

    /// Under which a log is kept: those beyond the limit share a name.
    private func name(of log: String) -> String {
        logs[log] != nil || logs.count < Self.logLimit ? log : ""
    }

    /// Takes a bundle.
    ///
    /// - Parameters:
    ///   - log: Whose lines they are.
    ///   - lag: Of a bundle that was taken before, by how much its log was known to lag then; its lines are older now.
    mutating func add(_ bundle: [Line], of log: String, at now: Int64, lag: Int64? = nil) -> Outcome {
        let limits = -longestLag...longestLag
        let name = name(of: log)
        var log = logs.removeValue(forKey: name) ?? Log()
        forgetMarks(at: now)
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

    /// Knows lines again that were counted, should they come once more.
    mutating func remember(_ lines: [Line], at now: Int64) {
        for line in lines {
            if let mark = line.mark, let age = line.age { _ = isNew(mark, at: now - age) }
        }
    }

    /// Takes out what is due, in order; each with the moment at which it happened.
    mutating func takeDue(at now: Int64) -> [(entry: Entry, time: Int64)] {
        var due: [(entry: Entry, time: Int64)] = undated.map { ($0, now) }
        undated.removeAll()
        for (name, log) in logs {
            guard let lag = log.lag, !log.slots.isEmpty else { continue }
            let last = Self.slot(of: now - lag) - 1
            for key in log.slots.keys where key <= last {
                for line in logs[name]?.slots.removeValue(forKey: key) ?? [] {
                    // A clock that is ahead tells of what is to come; it is of this moment at the latest.
                    due.append((line.entry, min(line.time, line.time + lag)))
                }
            }
        }
        count -= due.count
        return due.sorted { $0.time < $1.time }
    }

    /// Whether a line did not come before; where there is no room for its mark it did not.
    private mutating func isNew(_ mark: UInt64, at time: Int64) -> Bool {
        let slot = time >= 0 ? time / Self.markStep : (time - Self.markStep + 1) / Self.markStep
        // Its age is reckoned anew each time it comes, which may move it over a border.
        if (slot - 1...slot + 1).contains(where: { marks[$0]?.contains(mark) ?? false }) { return false }
        guard markCount < 2 * capacity else { return true }
        marks[slot, default: []].insert(mark)
        markCount += 1
        return true
    }

    private mutating func forgetMarks(at now: Int64) {
        let first = (now - longestLag) / Self.markStep - 2
        for slot in marks.keys where slot < first { markCount -= marks.removeValue(forKey: slot)?.count ?? 0 }
    }

    private static func slot(of time: Int64) -> Int64 {
        time >= 0 ? time / step : (time - step + 1) / step
    }
}

extension LogReplay.Line: Sendable where Entry: Sendable {}
