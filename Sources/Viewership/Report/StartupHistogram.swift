/// How long viewers waited for their first media, as a histogram of a metrics endpoint has it.
public struct StartupHistogram: Sendable, Equatable, Codable {
    /// Upper bounds of the buckets, seconds.
    public static let bounds = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30]

    /// Viewers by bucket, and in the last one those beyond.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// Seconds of all together.
    public private(set) var sum = 0.0

    /// Nobody yet.
    public init() {}

    /// Adds those of an earlier run; nothing of one that had other buckets, or counts that nobody can have counted.
    mutating func add(_ earlier: StartupHistogram) {
        guard earlier.counts.count == counts.count, earlier.counts.allSatisfy({ (0...RunCounters.most).contains($0) })
        else { return }
        for place in counts.indices { counts[place] += earlier.counts[place] }
        sum += earlier.sum
    }

    mutating func insert(_ milliseconds: Int64) {
        let seconds = Double(milliseconds) / 1000
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}
