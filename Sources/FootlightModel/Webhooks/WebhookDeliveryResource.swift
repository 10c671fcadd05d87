/// The delivery of one event to a webhook.
public struct WebhookDeliveryResource: Codable, Sendable, Hashable {
    /// The `webhook-id` of the message, the same in each attempt.
    public var id: String
    /// The sequence number among all events.
    public var seq: Int64
    /// The type of event.
    public var type: WireEnum<WebhookEventType>
    /// The room's unique name; empty for events without a room.
    public var room: String
    /// The time of the event.
    public var at: Timestamp
    /// `pending`, `delivered` or `failed`.
    public var state: WireEnum<WebhookDeliveryState>
    /// The number of attempts.
    public var tries: Int
    /// The latest attempts, the oldest first.
    public var attempts: [WebhookAttemptResource]

    /// Creates a description.
    public init(
        id: String,
        seq: Int64,
        type: WireEnum<WebhookEventType>,
        room: String,
        at: Timestamp,
        state: WireEnum<WebhookDeliveryState>,
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

/// One attempt to deliver a message.
public struct WebhookAttemptResource: Codable, Sendable, Hashable {
    /// 1 for the first.
    public var number: Int
    /// The start time.
    public var at: Timestamp
    /// The duration in seconds.
    public var duration: Double
    /// `delivered`, `refused`, `redirect`, `gone`, `timeout`, `closed`, `unreachable`, `name_not_found`, `tls` or
    /// `forbidden`.
    public var outcome: WireEnum<WebhookAttemptOutcome>
    /// The HTTP status; null without a response.
    @ExplicitNull public var status: Int?
    /// The `Retry-After` of the response in seconds; null without one.
    @ExplicitNull public var retryAfter: Double?

    /// Creates a description.
    public init(
        number: Int,
        at: Timestamp,
        duration: Double,
        outcome: WireEnum<WebhookAttemptOutcome>,
        status: Int?,
        retryAfter: Double?
    ) {
        self.number = number
        self.at = at
        self.duration = duration
        self.outcome = outcome
        self.status = status
        self.retryAfter = retryAfter
    }

    private enum CodingKeys: String, CodingKey {
        case number
        case at
        case duration
        case outcome
        case status
        case retryAfter = "retry_after"
    }
}

/// A page of deliveries, the latest first.
public struct WebhookDeliveryList: Codable, Sendable, Hashable {
    /// The deliveries.
    public var deliveries: [WebhookDeliveryResource]
    /// The next page.
    public var meta: PageResource

    /// Creates a page.
    public init(deliveries: [WebhookDeliveryResource], meta: PageResource) {
        self.deliveries = deliveries
        self.meta = meta
    }
}
