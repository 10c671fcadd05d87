/// What became of telling somebody of one event.
public struct WebhookDeliveryResource: Codable, Sendable, Hashable {
    /// The `webhook-id` of the message, the same at each try.
    public var id: String
    /// The message's place in the order of all events.
    public var seq: Int64
    /// The kind of event.
    public var type: String
    /// The room's unique name; empty for what belongs to none.
    public var room: String
    /// When it happened.
    public var at: Timestamp
    /// `pending`, `delivered` or `failed`.
    public var state: String
    /// Tries so far.
    public var tries: Int
    /// The latest of them, the oldest first.
    public var attempts: [WebhookAttemptResource]

    /// Makes a description.
    public init(
        id: String,
        seq: Int64,
        type: String,
        room: String,
        at: Timestamp,
        state: String,
        tries: Int,
        attempts: [WebhookAttemptResource]
    ) {
        self.id = id
        self.seq = seq
        self.type = type
        self.room = room
        self.at = at
        self.state = state
        self.tries = tries
        self.attempts = attempts
    }
}
