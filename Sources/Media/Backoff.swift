/// Computes the delays of exponential backoff: each longer than the one before, up to a maximum, and randomly spread so
/// that clients that failed together do not retry together.
public struct Backoff: Sendable, Hashable {
    /// The delay before the first retry in seconds, before jitter.
    public var initial: Double
    /// The maximum delay in seconds, before jitter.
    public var maximum: Double
    /// The ratio of a delay to the one before it.
    public var factor: Double
    /// The part by which a delay is shortened or extended at random, 0 to 1.
    public var jitter: Double
    /// The number of retries since the last success, as counted by `next(chance:)`.
    public private(set) var retries = 0

    /// Creates a backoff that doubles its delay.
    public init(initial: Double, maximum: Double, factor: Double = 2, jitter: Double = 0.2) {
        self.initial = initial
        self.maximum = maximum
        self.factor = factor
        self.jitter = jitter
    }

    /// Returns the delay before a retry in seconds.
    ///
    /// - Parameters:
    ///   - retry: The number of the retry; the first is 0.
    ///   - chance: A random number from 0 to 1.
    public func delay(retry: Int, chance: Double = .random(in: 0...1)) -> Double {
        var delay = initial
        for _ in 0..<min(max(retry, 0), 64) where delay < maximum { delay *= factor }
        return spread(min(delay, maximum), chance: chance)
    }

    /// Returns a time in seconds, shortened or extended by the jitter.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    public func spread(_ seconds: Double, chance: Double = .random(in: 0...1)) -> Double {
        seconds * (1 + jitter * (2 * min(max(chance, 0), 1) - 1))
    }

    /// Returns the delay before the next retry in seconds, and counts it.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    public mutating func next(chance: Double = .random(in: 0...1)) -> Double {
        defer { retries = min(retries + 1, 64) }
        return delay(retry: retries, chance: chance)
    }

    /// Begins with the initial delay again, after a success.
    public mutating func reset() {
        retries = 0
    }
}
