/// How the telling goes, over all endpoints.
public struct WebhookStatus: Sendable, Hashable {
    /// Endpoints that take what they are told, or have not been told anything.
    public var healthy = 0
    /// Endpoints whose latest try failed.
    public var failing = 0
    /// Endpoints that are turned off.
    public var disabled = 0
    /// Deliveries that wait.
    public var pending = 0
    /// Tries by what came of them, since the start.
    public var tries: [DeliveryOutcome.Kind: Int] = [:]
    /// Deliveries given up because too many waited, or the message was too large, since the start.
    public var dropped = 0
    /// Transactions that failed, since the start.
    public var storeFailures = 0
    /// Databases that were put aside, since the start.
    public var asides = 0

    /// Makes the status of a beginning.
    public init() {}
}
