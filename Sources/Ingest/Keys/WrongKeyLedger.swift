import Media

/// Remembers which addresses try wrong stream keys, as a bucket per address that refills with time.
struct WrongKeyLedger {
    private struct Bucket {
        var tries: Double
        var at: MonotonicTime
    }

    private let perMinute: Double
    private var buckets: [String: Bucket] = [:]
    /// Addresses remembered at most; the one that was quiet longest is forgotten first.
    private static let capacity = 4_096

    init(perMinute: Int) {
        self.perMinute = Double(perMinute)
    }

    /// Whether an address has tried too often to be listened to now.
    func isShut(_ address: String, now: MonotonicTime) -> Bool {
        guard let bucket = buckets[address] else { return false }
        return level(bucket, now: now) >= perMinute
    }

    mutating func noteWrongKey(from address: String, now: MonotonicTime) {
        let tries = buckets[address].map { level($0, now: now) } ?? 0
        buckets[address] = Bucket(tries: min(tries + 1, perMinute + 1), at: now)
        guard buckets.count > Self.capacity else { return }
        if let oldest = buckets.min(by: { $0.value.at < $1.value.at }) { buckets[oldest.key] = nil }
    }

    private func level(_ bucket: Bucket, now: MonotonicTime) -> Double {
        max(0, bucket.tries - now.seconds(since: bucket.at) * perMinute / 60)
    }
}
