/// The least delay of a host's packets over the last seconds, arrival minus timestamp of the freshest of them, and by
/// how much the others come later.
///
/// A window of half-second buckets, of which only those that saw packets count; so a stall does not age the estimate,
/// and the old packets in the burst that ends the stall do not raise it.
struct LiveEdge: Sendable {
    private struct Bucket: Sendable {
        var least: Double
        var most: Double
    }

    private static let bucketLength = 500.0
    private static let mostBuckets = 10
    private static let recentBuckets = 3

    private var buckets: [Bucket] = []
    private var current = Int64.min

    /// The least delay of the window in milliseconds; nil before the first packet.
    private(set) var minimum: Double?

    /// Takes one packet in.
    ///
    /// - Parameters:
    ///   - delay: Arrival minus timestamp in milliseconds.
    ///   - arrival: When it came, in milliseconds.
    ///   - largestSpread: A packet that comes later than the freshest by more than this is no jitter but a stall.
    mutating func observe(delay: Double, arrival: Double, largestSpread: Double) {
        let bucket = Int64((arrival / Self.bucketLength).rounded(.down))
        if bucket > current || buckets.isEmpty {
            current = bucket
            if buckets.count == Self.mostBuckets { buckets.removeFirst() }
            buckets.append(Bucket(least: delay, most: -.infinity))
            minimum = buckets.reduce(delay) { min($0, $1.least) }
        }
        let last = buckets.count - 1
        buckets[last].least = min(buckets[last].least, delay)
        let minimum = min(minimum ?? delay, delay)
        self.minimum = minimum
        // The first packets of a join are old, which shows only when fresher ones follow.
        if buckets[last].most - minimum > largestSpread { buckets[last].most = -.infinity }
        if delay - minimum <= largestSpread { buckets[last].most = max(buckets[last].most, delay) }
    }

    /// How much later than the freshest packets of the window its latest ones came, in milliseconds.
    ///
    /// - Parameter largest: Packets later than that do not count.
    func spread(upTo largest: Double) -> Double {
        guard let minimum else { return 0 }
        return buckets.reduce(0) { spread, bucket in
            let most = bucket.most - minimum
            return most <= largest ? max(spread, most) : spread
        }
    }

    /// The least delay of the last second and a half of packets, when there are so many and they do not catch up any more.
    var settledRecent: Double? {
        guard buckets.count >= Self.recentBuckets else { return nil }
        let recent = buckets.suffix(Self.recentBuckets).map(\.least)
        guard let first = recent.first, let last = recent.last, first - last < 100 else { return nil }
        return recent.min()
    }

    /// Forgets all but the last second and a half.
    mutating func keepRecent() { keep(Self.recentBuckets) }

    /// Forgets all but the last half second.
    mutating func keepNewest() { keep(1) }

    private mutating func keep(_ count: Int) {
        buckets.removeFirst(max(buckets.count - count, 0))
        minimum = buckets.map(\.least).min()
    }
}
