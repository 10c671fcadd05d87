/// The timeouts and limits of a call, in seconds unless stated otherwise.
public struct CallLimits: Sendable, Equatable {
    /// Timeout for the confirmation of an accepted invitation.
    public var accept = 10.0
    /// Timeout for a join, all attempts included.
    public var join = 30.0
    /// Maximum attempts of one join; waits that a busy gateway requests do not count.
    public var joinTries = 3
    /// Random delay between two attempts of a join.
    public var joinPause = 0.25...0.5
    /// Timeout for an interruption.
    public var reconnect = 30.0
    /// Delay before the first reconnect attempt.
    public var firstDelay = 0.08
    /// Factor between successive delays.
    public var delayFactor = 1.5
    /// Maximum delay, before jitter.
    public var longestDelay = 5.0
    /// Relative jitter of a delay, 0 to 1.
    public var delayJitter = 0.5
    /// Connection duration after which delays start from the first one again.
    public var healthyAfter = 10.0
    /// Resume attempts before a rejoin.
    public var resumeTries = 3
    /// Time after its loss within which the event stream can be resumed.
    public var resumeDeadline = 15.0
    /// Maximum rejoins within `rejoinWindow`; one more ends the call.
    public var rejoins = 10
    /// The window in which rejoins count.
    public var rejoinWindow = 120.0
    /// Timeout for leaving.
    public var leave = 10.0

    /// Creates the default limits.
    public init() {}

    /// Returns the delay in seconds before reconnect attempt `attempt`, which counts from 1.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    func delay(attempt: Int, chance: Double) -> Double {
        var delay = firstDelay
        for _ in 1..<min(max(attempt, 1), 64) where delay < longestDelay { delay *= delayFactor }
        return min(delay, longestDelay) * (1 + delayJitter * (2 * chance - 1))
    }

    /// Returns the delay in seconds before the next attempt of a join.
    func pause(chance: Double) -> Double {
        joinPause.lowerBound + (joinPause.upperBound - joinPause.lowerBound) * chance
    }
}
