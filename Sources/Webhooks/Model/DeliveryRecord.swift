public import FootlightModel

/// The delivery of one event to one endpoint.
public struct DeliveryRecord: Sendable, Hashable {
    /// The sequence number of the event, which increases over restarts.
    public var sequence: Int64
    /// The message id, the same for each attempt, by which the receiver detects repetitions.
    public var messageID: String
    /// The event type.
    public var type: WireEnum<WebhookEventType>
    /// The room's unique name; empty for none.
    public var room: String
    /// The time of the event, in seconds since 1970.
    public var at: Double
    /// The state.
    public var state: WebhookDeliveryState
    /// The number of attempts.
    public var tries: Int
    /// The latest attempts, oldest first.
    public var attempts: [DeliveryAttempt]

    /// Creates a record.
    public init(
        sequence: Int64,
        messageID: String,
        type: WireEnum<WebhookEventType>,
        room: String,
        at: Double,
        state: WebhookDeliveryState,
        tries: Int,
        attempts: [DeliveryAttempt]
    ) {
        self.sequence = sequence
        self.messageID = messageID
        self.type = type
        self.room = room
        self.at = at
        self.state = state
        self.tries = tries
        self.attempts = attempts
    }
}

/// One attempt to deliver an event to an endpoint.
public struct DeliveryAttempt: Sendable, Hashable {
    /// The number of the attempt, from 1.
    public var number: Int
    /// The start time, in seconds since 1970.
    public var at: Double
    /// The duration in seconds.
    public var duration: Double
    /// The outcome.
    public var outcome: DeliveryOutcome

    /// Creates an attempt.
    public init(number: Int, at: Double, duration: Double, outcome: DeliveryOutcome) {
        self.number = number
        self.at = at
        self.duration = duration
        self.outcome = outcome
    }
}

/// The outcome of a delivery attempt.
public struct DeliveryOutcome: Sendable, Hashable {
    /// The kind of outcome.
    public var kind: WebhookAttemptOutcome
    /// The HTTP status; nil without a response.
    public var status: Int?
    /// The delay requested by the endpoint, in seconds; nil if none.
    public var retryAfter: Double?

    /// Creates an outcome without a response.
    public init(_ kind: WebhookAttemptOutcome) {
        self.kind = kind
    }

    /// Creates the outcome of a response.
    public init(status: Int, retryAfter: Double? = nil) {
        switch status {
        case 200..<300: kind = .delivered
        case 300..<400: kind = .redirect
        case 410: kind = .gone
        default: kind = .refused
        }
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Whether the endpoint rejects this message only, so that others may be accepted.
    var isAboutContent: Bool {
        switch status {
        case 400, 413, 415, 422: true
        default: false
        }
    }
}
