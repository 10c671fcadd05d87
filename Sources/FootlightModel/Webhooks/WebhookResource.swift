/// A webhook endpoint.
public struct WebhookResource: Codable, Sendable, Hashable {
    /// `WH` and 32 hexadecimal digits.
    public var id: String
    /// The target URL.
    public var url: String
    /// A description for people.
    public var description: String
    /// The types of events, or prefixes such as `room.*`; empty for all.
    public var types: [WireEnum<WebhookEventPattern>]
    /// The room; null for all.
    @ExplicitNull public var room: String?
    /// The show that the webhook belongs to, by name; null for one of the gateway.
    @ExplicitNull public var show: String?
    /// Whether messages are delivered.
    public var enabled: Bool
    /// The reason of the disabling: `operator`, `gone` after a 410, or `failing`; null while enabled.
    @ExplicitNull public var disabledReason: WireEnum<WebhookDisabledReason>?
    /// The signing secret: whole in the response that creates it, its last four characters in all others.
    public var secret: String
    /// The end of validity of the former secret; null without a rotation.
    @ExplicitNull public var formerSecretUntil: Timestamp?
    /// The creation time.
    public var createdAt: Timestamp
    /// The time of the last change or disabling.
    public var updatedAt: Timestamp
    /// Failed attempts since the last delivered message.
    public var failures: Int
    /// The time of the first of them; null without failures.
    @ExplicitNull public var failingSince: Timestamp?
    /// The time of the next attempt; null without failures.
    @ExplicitNull public var nextTryAt: Timestamp?
    /// Queued messages.
    public var pending: Int
    /// Messages dropped because the queue was full.
    public var dropped: Int

    /// Creates a description of a new endpoint.
    public init(id: String, url: String, secret: String, createdAt: Timestamp, updatedAt: Timestamp) {
        self.id = id
        self.url = url
        self.secret = secret
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        description = ""
        types = []
        room = nil
        show = nil
        enabled = true
        disabledReason = nil
        formerSecretUntil = nil
        failures = 0
        failingSince = nil
        nextTryAt = nil
        pending = 0
        dropped = 0
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case url
        case description
        case types
        case room
        case show
        case enabled
        case disabledReason = "disabled_reason"
        case secret
        case formerSecretUntil = "former_secret_until"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case failures
        case failingSince = "failing_since"
        case nextTryAt = "next_try_at"
        case pending
        case dropped
    }
}

/// All webhooks, in order of creation.
public struct WebhookList: Codable, Sendable, Hashable {
    /// The webhooks.
    public var webhooks: [WebhookResource]

    /// Creates a list.
    public init(webhooks: [WebhookResource]) {
        self.webhooks = webhooks
    }
}

/// The body of `POST /v1/webhooks`.
public struct CreateWebhookBody: Codable, Sendable, Hashable {
    /// The target URL; `https://`, and `http://` where the operator permits it.
    public var url: String
    /// A description for people; up to 256 bytes.
    public var description: String?
    /// The types of events, or prefixes such as `room.*`; all when omitted or empty.
    public var types: [WireEnum<WebhookEventPattern>]?
    /// The unique name or sid of a room; all rooms when omitted.
    public var room: String?
    /// The name or id of the show that the webhook belongs to; a webhook of the gateway when omitted.
    ///
    /// Events of the show's rooms only are posted, and the webhook is removed with the show.
    public var show: String?
    /// Whether messages are delivered; true when omitted.
    public var enabled: Bool?

    /// Creates a body.
    public init(
        url: String,
        description: String? = nil,
        types: [WireEnum<WebhookEventPattern>]? = nil,
        room: String? = nil,
        show: String? = nil,
        enabled: Bool? = nil
    ) {
        self.url = url
        self.description = description
        self.types = types
        self.room = room
        self.show = show
        self.enabled = enabled
    }
}

/// The body of `PATCH /v1/webhooks/{webhook}`; omitted fields stay unchanged.
public struct UpdateWebhookBody: Codable, Sendable, Hashable {
    /// The target URL.
    public var url: String?
    /// A description for people.
    public var description: String?
    /// The types of events, or prefixes such as `room.*`; empty for all.
    public var types: [WireEnum<WebhookEventPattern>]?
    /// The unique name or sid of a room; null for all rooms.
    public var room: ExplicitNull<String>?
    /// Whether messages are delivered; true also enables an endpoint that was disabled after failures.
    public var enabled: Bool?

    /// Creates a body that changes nothing.
    public init() {}
}

/// A viewer threshold that a broadcast reached for the first time, for the event `viewership.threshold`.
public struct ThresholdResource: Codable, Sendable, Hashable {
    /// The threshold.
    public var threshold: Int
    /// The room's viewership at that time.
    public var viewership: ViewershipResource

    /// Creates a description.
    public init(threshold: Int, viewership: ViewershipResource) {
        self.threshold = threshold
        self.viewership = viewership
    }
}
