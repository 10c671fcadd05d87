import Media

extension RateLimiter<String> {
    /// Limits login attempts per address to five at once, then one every ten seconds.
    ///
    /// Successful attempts are refunded.
    static var logins: Self { RateLimiter(perSecond: 0.1, burst: 5, capacity: 4096) }
}

/// Limits the log lines about refused logins: a burst, then one per interval, for all addresses together.
struct RefusedLoginLog: Sendable {
    private var limiter = RateLimiter<String>.logins
    private var unreported = 0

    /// Counts a refused login.
    ///
    /// - Returns: The refused logins since the last log line, including this one; nil if no line is due.
    mutating func count(now: MonotonicTime) -> Int? {
        unreported += 1
        guard limiter.allowsRequest(from: "", now: now) else { return nil }
        defer { unreported = 0 }
        return unreported
    }
}
