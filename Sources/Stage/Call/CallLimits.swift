/// The times and numbers a call keeps to, in seconds where nothing else is said.
public struct CallLimits: Sendable, Equatable {
    /// For the answer to an accepted invitation.
    public var accept = 10.0
    /// For a whole join, all tries together.
    public var join = 30.0
    /// Tries of one join; a gateway that names a time to come back is waited for beside them.
    public var joinTries = 3
    /// Between two tries of a join; chance picks within.
    public var joinPause = 0.25...0.5
    /// For the end of an interruption.
    public var reconnect = 30.0
    /// Before the first try to reconnect.
    public var firstDelay = 0.08
    /// How much longer each delay is than the one before it.
    public var delayFactor = 1.5
    /// The longest delay, before jitter.
    public var longestDelay = 5.0
    /// Part by which a delay may be shorter or longer, 0 to 1.
    public var delayJitter = 0.5
    /// A connection that held for so long begins with short delays again.
    public var healthyAfter = 10.0
    /// Tries to resume before the session is asked for anew.
    public var resumeTries = 3
    /// How long after its loss the event stream can be resumed.
    public var resumeDeadline = 15.0
    /// More rejoins than this within `rejoinWindow` end the call.
    public var rejoins = 10
    /// The window in which rejoins are counted.
    public var rejoinWindow = 120.0
    /// For leaving.
    public var leave = 10.0

    /// Makes the limits every client keeps to.
    public init() {}

    /// Seconds before try number `attempt` to reconnect, which counts from 1.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    func delay(attempt: Int, chance: Double) -> Double {
        var delay = firstDelay
        for _ in 1..<min(max(attempt, 1), 64) where delay < longestDelay { delay *= delayFactor }
        return min(delay, longestDelay) * (1 + delayJitter * (2 * chance - 1))
    }

    /// Seconds before the next try of a join.
    func pause(chance: Double) -> Double {
        joinPause.lowerBound + (joinPause.upperBound - joinPause.lowerBound) * chance
    }
}
