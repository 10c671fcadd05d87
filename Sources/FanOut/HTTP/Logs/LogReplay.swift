/// Holds what logs tell until it is as old as what they tell at the latest, so that it is counted in the order in which,
/// and as far apart as, it happened.
///
/// A log comes in bundles, each with what happened in some seconds or in a minute. Taken as they come a crowd would be
/// there and gone with every bundle. Each log has a delay of its own: the greatest age in which a line of it ever came.
/// It never gets shorter, and one clock being ahead of the other is part of it. Times are milliseconds.
struct LogReplay<Entry> {
    /// What became of the lines of a bundle.
    struct Outcome: Equatable {
        var taken = 0
        /// Older than any log may be, or as far from the future.
        var late = 0
        /// There was no room for them.
        var dropped = 0
    }

    /// What is looked at together.
    private static var step: Int64 { 250 }
    /// Logs that are told apart; all others share a delay.
    private static var logLimit: Int { 64 }

    private let longestDelay: Int64
    private let capacity: Int
    private var delays: [String: Int64] = [:]
    private var slots: [Int64: [(entry: Entry, due: Int64)]] = [:]
    /// Lines that wait.
    private(set) var count = 0

    /// - Parameters:
    ///   - longestDelay: The greatest age in which a line is taken.
    ///   - capacity: Lines that may wait at a time.
    init(longestDelay: Int64 = 90_000, capacity: Int = 500_000) {
        self.longestDelay = longestDelay
        self.capacity = capacity
    }

    /// Takes a bundle.
    ///
    /// - Parameters:
    ///   - bundle: Lines with their age; nil where the log does not say, and then they are of this moment.
    ///   - log: Whose lines they are.
    mutating func add(_ bundle: [(entry: Entry, age: Int64?)], of log: String, at now: Int64) -> Outcome {
        let limits = -longestDelay...longestDelay
        let log = delays[log] != nil || delays.count < Self.logLimit ? log : ""
        let oldest = bundle.compactMap(\.age).filter { limits.contains($0) }.max()
        let delay = max(oldest ?? -longestDelay, delays[log] ?? -longestDelay)
        if oldest != nil { delays[log] = delay }
        var outcome = Outcome()
        for line in bundle {
            guard line.age.map({ limits.contains($0) }) ?? true else {
                outcome.late += 1
                continue
            }
            guard count < capacity else {
                outcome.dropped += 1
                continue
            }
            let due = line.age.map { now + delay - $0 } ?? now
            slots[due / Self.step, default: []].append((line.entry, due))
            count += 1
            outcome.taken += 1
        }
        return outcome
    }

    /// Takes out what is due, in order; each with the moment at which it counts.
    mutating func takeDue(at now: Int64) -> [(entry: Entry, due: Int64)] {
        let last = now / Self.step - 1
        let keys = slots.keys.filter { $0 <= last }.sorted()
        var due: [(entry: Entry, due: Int64)] = []
        for key in keys { due += slots.removeValue(forKey: key)?.sorted { $0.due < $1.due } ?? [] }
        count -= due.count
        return due
    }
}
