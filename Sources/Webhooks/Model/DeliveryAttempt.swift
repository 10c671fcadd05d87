/// One try to tell an endpoint of an event.
public struct DeliveryAttempt: Sendable, Hashable {
    /// 1 for the first.
    public var number: Int
    /// When it began; seconds since 1970.
    public var at: Double
    /// Seconds.
    public var duration: Double
    /// What came of it.
    public var outcome: DeliveryOutcome
}
