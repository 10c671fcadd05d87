import Media

/// Limits failed logins per address: a burst, then one attempt per interval.
struct LoginRateLimiter: Sendable {
    private struct Bucket: Sendable {
        var left: Double
        var at: MonotonicTime
    }

    /// The number of failed attempts allowed at once.
    static let burst = 5.0
    /// The interval for each further attempt, in seconds.
    static let pause = 10.0
    /// The maximum number of addresses stored.
    static let capacity = 4096

    private var buckets: [String: Bucket] = [:]

    /// Consumes one attempt of an address.
    ///
    /// - Returns: Nil if the attempt is allowed, otherwise the seconds until the next one is.
    mutating func consume(from address: String, now: MonotonicTime) -> Int? {
        let left = level(buckets[address], now: now)
        guard left >= 1 else { return Int(((1 - left) * Self.pause).rounded(.up)) }
        if buckets[address] == nil, buckets.count >= Self.capacity { evict(now: now) }
        buckets[address] = Bucket(left: left - 1, at: now)
        return nil
    }

    /// Refunds an attempt that succeeded.
    mutating func refund(to address: String, now: MonotonicTime) {
        let left = level(buckets[address], now: now) + 1
        buckets[address] = left >= Self.burst ? nil : Bucket(left: left, at: now)
    }

    private func level(_ bucket: Bucket?, now: MonotonicTime) -> Double {
        guard let bucket else { return Self.burst }
        return min(Self.burst, bucket.left + now.seconds(since: bucket.at) / Self.pause)
    }

    /// Evicts the addresses whose attempts are fully refilled, or else the one that tried longest ago.
    private mutating func evict(now: MonotonicTime) {
        buckets = buckets.filter { level($0.value, now: now) < Self.burst }
        guard buckets.count >= Self.capacity, let oldest = buckets.min(by: { $0.value.at < $1.value.at }) else {
            return
        }
        buckets[oldest.key] = nil
    }
}

/// Limits the log lines about refused logins: a burst, then one per interval, for all addresses together.
struct RefusedLoginLog: Sendable {
    private var budget = LoginRateLimiter()
    private var unreported = 0

    /// Counts a refused login.
    ///
    /// - Returns: The refused logins since the last log line, including this one; nil if no line is due.
    mutating func count(now: MonotonicTime) -> Int? {
        unreported += 1
        guard budget.consume(from: "", now: now) == nil else { return nil }
        defer { unreported = 0 }
        return unreported
    }
}
