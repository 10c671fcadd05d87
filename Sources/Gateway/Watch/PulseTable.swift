import Media

/// Which parts of the gateway were asked for a sign of life, and for how long each owes it.
///
/// Time in which nobody looked does not count: a process that was stopped owes nothing.
struct PulseTable {
    /// Seconds between two looks beyond which the process itself stood still.
    private static let pause = 3.0

    private var askedAt: [Int: MonotonicTime] = [:]
    private var lastLook: MonotonicTime?

    /// Begins a look at all parts.
    mutating func look(now: MonotonicTime) {
        if let lastLook, now.seconds(since: lastLook) > Self.pause {
            let pause = now.seconds(since: lastLook)
            askedAt = askedAt.mapValues { $0.advanced(seconds: pause) }
        }
        lastLook = now
    }

    /// Asks all parts that owe no answer.
    ///
    /// - Returns: Those parts.
    mutating func ask(_ parts: Range<Int>, now: MonotonicTime) -> [Int] {
        let idle = parts.filter { askedAt[$0] == nil }
        for part in idle { askedAt[part] = now }
        return idle
    }

    mutating func answered(_ part: Int) {
        askedAt[part] = nil
    }

    /// Seconds for which a part owes its answer; 0 when it owes none.
    func lateness(of part: Int, now: MonotonicTime) -> Double {
        askedAt[part].map { max(now.seconds(since: $0), 0) } ?? 0
    }
}
