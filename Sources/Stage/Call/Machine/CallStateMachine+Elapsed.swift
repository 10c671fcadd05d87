import Media

// The machine for owners that count time from a moment of their own, and know nothing of the machine's clock type.

extension CallStateMachine {
    /// Takes in what happened, with the time since any fixed moment.
    ///
    /// - Parameters:
    ///   - elapsed: Never earlier than that of the event before.
    ///   - chance: A random number from 0 to 1, which spreads delays.
    public mutating func handle(_ event: CallEvent, at elapsed: Duration, chance: Double) -> [CallAction] {
        handle(event, now: MonotonicTime(nanoseconds: elapsed.nanoseconds), chance: chance)
    }

    /// When to call with `timePassed`, on the same count; nil while only events can change anything.
    public var elapsedDeadline: Duration? {
        deadline.map { .nanoseconds($0.nanoseconds) }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
