/// How long to wait between tries: growing, spread by chance so that many outputs do not return as one, and capped.
public struct BackOff: Sendable, Equatable {
    /// Seconds before the first retry.
    public var first = 1.0
    /// How much longer each retry waits than the one before it.
    public var factor = 1.5
    /// Part by which a delay may be longer or shorter, 0 to 1.
    public var jitter = 0.2
    /// The longest delay in seconds, before jitter.
    public var cap = 30.0
    /// Seconds a connection must hold for the delay to begin anew.
    public var healthyAfter = 30.0

    /// Makes one from its parts.
    public init() {}

    /// Seconds to wait before retry number `retry`, which counts from 0.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    public func delay(retry: Int, chance: Double) -> Double {
        var delay = first
        for _ in 0..<min(max(retry, 0), 64) where delay < cap { delay *= factor }
        return jittered(min(delay, cap), chance: chance)
    }

    func jittered(_ seconds: Double, chance: Double) -> Double {
        seconds * (1 + jitter * (2 * min(max(chance, 0), 1) - 1))
    }
}
