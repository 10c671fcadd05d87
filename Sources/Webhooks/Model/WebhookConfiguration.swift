/// Configures the limits and the delivery of webhooks.
public struct WebhookConfiguration: Sendable, Hashable {
    /// Whether `http://` URLs are allowed.
    public var allowsPlainHTTP: Bool
    /// The maximum number of endpoints.
    public var maximumEndpoints: Int
    /// The maximum number of pending deliveries per endpoint; above it the oldest are dropped and counted.
    public var maximumPending: Int
    /// The maximum size of a message in bytes; larger ones are dropped and counted.
    public var maximumBytes: Int
    /// The time limit of an attempt in seconds, from name resolution to the response.
    public var deadline: Double
    /// The time after a rotation for which the former secret also signs, in seconds.
    public var rotationOverlap: Double
    /// The time for which settled deliveries are listed, in seconds.
    public var retention: Double
    /// The delays between attempts, and when to give up.
    public var schedule: RetrySchedule

    /// Creates a configuration with defaults.
    public init(
        allowsPlainHTTP: Bool = false,
        maximumEndpoints: Int = 20,
        maximumPending: Int = 10_000,
        maximumBytes: Int = 256 * 1024,
        deadline: Double = 15,
        rotationOverlap: Double = 86_400,
        retention: Double = 7 * 86_400,
        schedule: RetrySchedule = .init()
    ) {
        self.allowsPlainHTTP = allowsPlainHTTP
        self.maximumEndpoints = maximumEndpoints
        self.maximumPending = maximumPending
        self.maximumBytes = maximumBytes
        self.deadline = deadline
        self.rotationOverlap = rotationOverlap
        self.retention = retention
        self.schedule = schedule
    }
}

/// Defines when a failed delivery is retried, and when an endpoint is disabled.
public struct RetrySchedule: Sendable, Hashable {
    /// The delays after consecutive failures, in seconds; the last one applies to all further failures.
    public var delays: [Double]
    /// The relative jitter of a delay.
    public var jitter: Double
    /// The minimum time between a failure and a retry triggered by a new event, in seconds.
    public var probeInterval: Double
    /// The maximum delay that an endpoint can request, in seconds.
    public var maximumRetryAfter: Double
    /// The number of attempts for a message that the endpoint rejects by its content.
    public var contentAttempts: Int

    /// Five seconds, five minutes, half an hour, then 2, 5, 10, 14, 20 and 24 hours.
    public static let usualDelays: [Double] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

    /// Creates a schedule with defaults.
    public init(
        delays: [Double] = usualDelays,
        jitter: Double = 0.1,
        probeInterval: Double = 300,
        maximumRetryAfter: Double = 86_400,
        contentAttempts: Int = 3
    ) {
        self.delays = delays
        self.jitter = jitter
        self.probeInterval = probeInterval
        self.maximumRetryAfter = maximumRetryAfter
        self.contentAttempts = contentAttempts
    }

    /// The time after which a failing endpoint is disabled, in seconds: the minimum total of all delays.
    public var giveUpAfter: Double { (delays.reduce(0, +) * (1 - jitter)).rounded(.down) }

    /// Returns the delay after a failure, in seconds.
    ///
    /// - Parameters:
    ///   - failures: The number of consecutive failures, including the latest.
    ///   - asked: The delay requested by the endpoint, which is at least honoured.
    ///   - chance: A random number from 0 to 1.
    func delay(after failures: Int, asked: Double?, chance: Double) -> Double {
        if let asked { return min(max(asked, 1), maximumRetryAfter) * (1 + jitter * chance) }
        guard let delay = failures <= delays.count ? delays[max(failures, 1) - 1] : delays.last else { return 1 }
        return delay * (1 - jitter + 2 * jitter * chance)
    }
}
