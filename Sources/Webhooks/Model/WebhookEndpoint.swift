public import FootlightModel

/// A webhook endpoint: its URL, filter, secrets and delivery state.
public struct WebhookEndpoint: Sendable, Hashable {
    /// The id: `WH` and 32 hexadecimal digits.
    public let id: String
    /// The URL to post to.
    public var address: EndpointAddress
    /// The description.
    public var text: String
    /// The events to deliver.
    public var filter: EventFilter
    /// The secret that signs each message.
    public var secret: WebhookSecret
    /// The former secret, which also signs for a limited time; nil without a rotation.
    public var former: FormerSecret?
    /// Why the endpoint is disabled; nil if it is enabled.
    public var disabled: WebhookDisabledReason?
    /// The time of creation, in seconds since 1970.
    public var createdAt: Double
    /// The time of the last change or of disabling, in seconds since 1970.
    public var updatedAt: Double
    /// The delivery state.
    public var health = EndpointHealth()

    /// A secret replaced by a rotation.
    public struct FormerSecret: Sendable, Hashable {
        /// The secret.
        public var secret: WebhookSecret
        /// The end of its validity, in seconds since 1970.
        public var until: Double

        /// Creates a former secret.
        public init(secret: WebhookSecret, until: Double) {
            self.secret = secret
            self.until = until
        }
    }

    /// Creates an endpoint.
    public init(
        id: String,
        address: EndpointAddress,
        text: String,
        filter: EventFilter,
        secret: WebhookSecret,
        former: FormerSecret? = nil,
        disabled: WebhookDisabledReason? = nil,
        createdAt: Double,
        updatedAt: Double,
        health: EndpointHealth = EndpointHealth()
    ) {
        self.id = id
        self.address = address
        self.text = text
        self.filter = filter
        self.secret = secret
        self.former = former
        self.disabled = disabled
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.health = health
    }

    /// Returns the signatures of a message, separated by spaces, the current secret's first.
    func signatures(id: String, at now: Double, body: [UInt8]) -> String {
        var secrets = [secret]
        if let former, now < former.until { secrets.append(former.secret) }
        return secrets.map { $0.sign(id: id, timestamp: Int64(now), body: body) }.joined(separator: " ")
    }
}

/// The delivery state of an endpoint that survives a restart.
public struct EndpointHealth: Sendable, Hashable {
    /// Failed attempts since the last accepted message.
    public var failures = 0
    /// The time of the first of them, in seconds since 1970.
    public var failingSince: Double?
    /// The time of the last of them, in seconds since 1970.
    public var failedAt: Double?
    /// The time of the next attempt, in seconds since 1970.
    public var nextTry: Double?
    /// Whether the endpoint requested the time of the next attempt.
    public var hasRetryAfter = false
    /// Deliveries dropped because too many were pending.
    public var dropped = 0

    /// Creates the state of a new endpoint.
    public init() {}
}

/// An operator's changes to an endpoint; nil leaves a property unchanged.
public struct WebhookDraft: Sendable {
    /// The URL.
    public var url: String?
    /// The description.
    public var text: String?
    /// The event types; empty for all.
    public var types: [WireEnum<WebhookEventPattern>]?
    /// The room; the inner nil means all rooms.
    public var room: String??
    /// The name of the show that a new endpoint belongs to.
    public var show: String?
    /// Whether messages are delivered.
    public var isEnabled: Bool?

    /// Creates a draft without changes.
    public init() {}
}

/// The reason why a command failed.
public enum WebhookFault: Error, Equatable {
    /// The endpoint does not exist.
    case notFound
    /// The maximum number of endpoints exists already.
    case tooMany(Int)
    /// The value of a field is invalid.
    case invalid(field: String, rule: String)
    /// The database is unavailable.
    case unavailable
}

/// Creates the ids of endpoints and messages.
enum RandomID {
    /// Returns `prefix` and 32 random hexadecimal digits.
    static func make(_ prefix: String) -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        let text = (0..<32).map { _ in digits[Int.random(in: 0..<16, using: &generator)] }
        return prefix + String(decoding: text, as: UTF8.self)
    }
}
