import Media

/// The source of time and randomness, so that tests can control both.
///
/// Every timeout, delay and interval of the library uses this clock.
public struct ClientClock: Sendable {
    /// The time since a fixed moment.
    public var now: @Sendable () -> Duration
    /// Sleeps; throws if the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// A random number from 0 to 1, for jitter.
    public var chance: @Sendable () -> Double

    /// Creates a clock from its functions.
    public init(
        now: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        chance: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        self.now = now
        self.sleep = sleep
        self.chance = chance
    }

    /// The system's continuous clock, which includes sleep.
    public static let system = {
        let start = ContinuousClock.now
        return ClientClock(
            now: { start.duration(to: .now) },
            sleep: { try await Task.sleep(for: $0, clock: .continuous) }
        )
    }()

    /// Sleeps until a moment; returns immediately if it has passed.
    func sleep(until moment: Duration) async throws {
        let rest = moment - now()
        if rest > .zero { try await sleep(rest) }
    }
}

/// The timeouts of the library, and the sizes of its buffers.
public struct ClientLimits: Sendable, Equatable {
    /// The timeout for the whole response to a request, and for the first line of an event stream's response.
    public var answer = Duration.seconds(15)
    /// The timeout for uploading or downloading a file.
    public var file = Duration.seconds(300)
    /// The timeout for the first event of a stream after its response has begun.
    public var firstEvent = Duration.seconds(5)
    /// The timeout for any data on an open stream; the gateway sends some every 5 s.
    public var silence = Duration.seconds(15)
    /// The timeout for the reason of an end on an open stream, after another response has reported the end.
    public var endReasonTimeout = Duration.seconds(2)
    /// The delay before the first attempt to reopen a stream.
    public var firstDelay = Duration.milliseconds(80)
    /// The factor by which the delay grows with each attempt.
    public var delayFactor = 1.5
    /// The maximum delay, before jitter.
    public var maximumDelay = Duration.seconds(5)
    /// The part by which a delay is randomly shortened or extended, 0 to 1.
    public var delayJitter = 0.5
    /// The maximum number of buffered events; with one more the stream ends, and is replayed when it is reopened.
    public var maximumQueuedEvents = 1024

    /// Creates the default limits.
    public init() {}
}

extension Backoff {
    /// Makes the backoff of a client's limits.
    init(_ limits: ClientLimits) {
        self.init(
            initial: limits.firstDelay / .seconds(1),
            maximum: limits.maximumDelay / .seconds(1),
            factor: limits.delayFactor,
            jitter: limits.delayJitter
        )
    }
}
