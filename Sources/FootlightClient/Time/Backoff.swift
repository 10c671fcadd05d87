/// Delays that grow from try to try, spread by chance.
struct Backoff: Sendable {
    private let limits: ClientLimits
    private var base: Duration

    init(_ limits: ClientLimits) {
        self.limits = limits
        base = limits.firstDelay
    }

    /// The delay before the next try.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    mutating func next(chance: Double) -> Duration {
        defer { base = min(base * limits.delayFactor, limits.longestDelay) }
        return min(base, limits.longestDelay) * (1 + limits.delayJitter * (2 * chance - 1))
    }

    /// What came of the last try was good.
    mutating func reset() {
        base = limits.firstDelay
    }
}
