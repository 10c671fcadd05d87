import Media

/// The bytes per second that sources such as outputs and feeds send together, by their counters.
///
/// A source is measured from its first reading with bytes on, because most begin with a burst: what a target missed since
/// the last keyframe, or a segment. The span is as long as the readings are recent, since keyframes and segments are
/// bursts too.
struct TransferRate: Sendable {
    /// The age in seconds beyond which a reading says too little of the present.
    static let longestSpan = 15.0
    /// The seconds between two readings of a source that tell its rate.
    static let shortestSpan = 1.0

    private var readings: [(time: MonotonicTime, bytes: [String: UInt64])] = []

    /// Adds a reading of all sources; one that is not among them has ended.
    ///
    /// - Returns: The bytes per second of the sources that were read before; nil if all that send have just begun.
    mutating func add(_ bytes: [String: UInt64], at now: MonotonicTime) -> Double? {
        readings.removeAll { now.seconds(since: $0.time) > Self.longestSpan }
        var rate = 0.0
        var hasBegun = false
        for (source, count) in bytes where count > 0 {
            if let known = known(source, count, at: now) { rate += known } else { hasBegun = true }
        }
        // Frequent readers do not make the list longer.
        if readings.last.map({ now.seconds(since: $0.time) >= Self.shortestSpan }) ?? true {
            readings.append((now, bytes))
        }
        return hasBegun && rate == 0 ? nil : rate
    }

    /// Returns the bytes per second of a source; nil if it has just begun, or begun to count anew.
    private func known(_ source: String, _ count: UInt64, at now: MonotonicTime) -> Double? {
        var (oldest, latest): ((time: MonotonicTime, count: UInt64)?, UInt64) = (nil, count)
        for reading in readings.reversed() {
            guard let before = reading.bytes[source], before > 0, before <= latest else { break }
            oldest = (reading.time, before)
            latest = before
        }
        guard let oldest else { return nil }
        let seconds = now.seconds(since: oldest.time)
        return seconds >= Self.shortestSpan ? Double(count - oldest.count) / seconds : nil
    }
}
