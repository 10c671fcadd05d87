import Media

/// Counts requests by address: a bucket that empties by one a request and fills again with time.
struct RequestLedger {
    private struct Bucket {
        var left: Double
        var at: MonotonicTime
    }

    private let perSecond: Double
    private let burst: Double
    private let capacity: Int
    private var buckets: [String: Bucket] = [:]

    /// - Parameters:
    ///   - perSecond: Requests an address may make in the long run.
    ///   - burst: Requests it may make at once after a pause.
    ///   - capacity: Addresses remembered at most.
    init(perSecond: Double, burst: Double, capacity: Int = 16_384) {
        self.perSecond = perSecond
        self.burst = burst
        self.capacity = capacity
    }

    /// Addresses remembered.
    var count: Int { buckets.count }

    /// Whether one more request of the address is answered; one that is not costs it nothing.
    mutating func takesRequest(from address: String, now: MonotonicTime) -> Bool {
        let left = buckets[address].map { level($0, now: now) } ?? burst
        guard left >= 1 else { return false }
        if buckets[address] == nil, buckets.count >= capacity { forget(now: now) }
        buckets[address] = Bucket(left: left - 1, at: now)
        return true
    }

    /// Makes room: an address whose bucket is full again is as good as unknown, then the fuller half of the others is.
    private mutating func forget(now: MonotonicTime) {
        buckets = buckets.filter { level($0.value, now: now) < burst }
        guard buckets.count >= capacity else { return }
        let emptiest = buckets.sorted { level($0.value, now: now) < level($1.value, now: now) }.prefix(capacity / 2)
        buckets = Dictionary(uniqueKeysWithValues: emptiest.map { ($0.key, $0.value) })
    }

    private func level(_ bucket: Bucket, now: MonotonicTime) -> Double {
        min(burst, bucket.left + now.seconds(since: bucket.at) * perSecond)
    }
}
