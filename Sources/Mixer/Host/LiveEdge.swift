/// The least delay of a host's packets over the last seconds: arrival minus timestamp of the freshest of them.
///
/// A window of half-second buckets, of which only those that saw packets count; so a stall does not age the estimate,
/// and the old packets in the burst that ends the stall do not raise it.
struct LiveEdge: Sendable {
    private static let bucketLength = 500.0
    private static let buckets = 10
    private static let recentBuckets = 3

    private var minima: [Double] = []
    private var current = Int64.min

    /// The least delay of the window in milliseconds; nil before the first packet.
    private(set) var minimum: Double?

    /// Takes one packet in.
    ///
    /// - Parameters:
    ///   - delay: Arrival minus timestamp in milliseconds.
    ///   - arrival: When it came, in milliseconds.
    mutating func observe(delay: Double, arrival: Double) {
        let bucket = Int64((arrival / Self.bucketLength).rounded(.down))
        if bucket > current || minima.isEmpty {
            current = bucket
            if minima.count == Self.buckets { minima.removeFirst() }
            minima.append(delay)
            minimum = minima.min()
            return
        }
        let last = minima.count - 1
        minima[last] = min(minima[last], delay)
        minimum = min(minimum ?? delay, delay)
    }

    /// The least delay of the last second and a half of packets, when there are so many and they do not catch up any more.
    var settledRecent: Double? {
        guard minima.count >= Self.recentBuckets else { return nil }
        let recent = minima.suffix(Self.recentBuckets)
        guard let first = recent.first, let last = recent.last, first - last < 100 else { return nil }
        return recent.min()
    }

    /// Forgets all but the last second and a half.
    mutating func keepRecent() {
        minima.removeFirst(max(minima.count - Self.recentBuckets, 0))
        minimum = minima.min()
    }
}
