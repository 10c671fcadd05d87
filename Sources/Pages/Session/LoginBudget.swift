import Media

/// Counts failed logins by address: a few at once, then one now and then.
struct LoginBudget: Sendable {
    private struct Bucket: Sendable {
        var left: Double
        var at: MonotonicTime
    }

    /// Failures that are answered at once.
    static let burst = 5.0
    /// Seconds for each further one.
    static let pause = 10.0
    /// Addresses remembered.
    static let capacity = 4096

    private var buckets: [String: Bucket] = [:]

    /// Takes an attempt from an address's budget.
    ///
    /// - Returns: nil when it may be made, otherwise the seconds until the next one may.
    mutating func take(from address: String, now: MonotonicTime) -> Int? {
        let left = level(buckets[address], now: now)
        guard left >= 1 else { return Int(((1 - left) * Self.pause).rounded(.up)) }
        if buckets[address] == nil, buckets.count >= Self.capacity { forget(now: now) }
        buckets[address] = Bucket(left: left - 1, at: now)
        return nil
    }

    /// Gives an attempt back, because it was a good one.
    mutating func giveBack(to address: String, now: MonotonicTime) {
        let left = level(buckets[address], now: now) + 1
        buckets[address] = left >= Self.burst ? nil : Bucket(left: left, at: now)
    }

    private func level(_ bucket: Bucket?, now: MonotonicTime) -> Double {
        guard let bucket else { return Self.burst }
        return min(Self.burst, bucket.left + now.seconds(since: bucket.at) / Self.pause)
    }

    /// Makes room: an address whose budget is whole again is as good as unknown, then the one tried longest ago is.
    private mutating func forget(now: MonotonicTime) {
        buckets = buckets.filter { level($0.value, now: now) < Self.burst }
        guard buckets.count >= Self.capacity, let oldest = buckets.min(by: { $0.value.at < $1.value.at }) else {
            return
        }
        buckets[oldest.key] = nil
    }
}

/// Says which refused logins are logged: a few at once, then one now and then, whoever tries.
struct RefusedLogins: Sendable {
    private var budget = LoginBudget()
    private var unreported = 0

    /// Counts a refused login.
    ///
    /// - Returns: The refused logins since the latest line, this one included, where it gets one; nil where it gets none.
    mutating func count(now: MonotonicTime) -> Int? {
        unreported += 1
        guard budget.take(from: "", now: now) == nil else { return nil }
        defer { unreported = 0 }
        return unreported
    }
}
