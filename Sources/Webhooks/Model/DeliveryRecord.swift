/// What became of telling one endpoint of one event.
public struct DeliveryRecord: Sendable, Hashable {
    /// How far it is.
    public enum State: String, Sendable, Hashable {
        /// It waits for its turn or for another try.
        case pending
        case delivered
        /// It was given up: refused for what it holds, or its endpoint was turned off.
        case failed
    }

    /// The place in the order of all events; rises over restarts.
    public var sequence: Int64
    /// The same at each try; the receiver tells repetitions apart by it.
    public var messageID: String
    /// The kind of event.
    public var type: String
    /// The room's unique name; empty for none.
    public var room: String
    /// When it happened; seconds since 1970.
    public var at: Double
    /// How far it is.
    public var state: State
    /// Tries so far.
    public var tries: Int
    /// The latest of them, the oldest first.
    public var attempts: [DeliveryAttempt]
}
