/// Where time and chance come from, so that a test can move them by hand.
///
/// Every deadline, delay and interval of the library is counted on this clock.
public struct ClientClock: Sendable {
    /// The time since a moment that stays the same.
    public var now: @Sendable () -> Duration
    /// Waits; throws when the waiting task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// A random number from 0 to 1, which spreads delays.
    public var chance: @Sendable () -> Double

    /// Makes a clock from its parts.
    public init(
        now: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        chance: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        self.now = now
        self.sleep = sleep
        self.chance = chance
    }

    /// The machine's own clock, which goes on while the machine sleeps.
    public static let system = {
        let start = ContinuousClock.now
        return ClientClock(
            now: { start.duration(to: .now) },
            sleep: { try await Task.sleep(for: $0, clock: .continuous) }
        )
    }()

    /// Waits until a moment; returns at once when it has passed.
    func sleep(until moment: Duration) async throws {
        let rest = moment - now()
        if rest > .zero { try await sleep(rest) }
    }
}
