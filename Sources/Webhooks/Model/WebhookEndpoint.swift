/// Somebody who wants to be told: an address, what of, and how the telling goes.
public struct WebhookEndpoint: Sendable, Hashable {
    /// Why no more is delivered.
    public enum DisabledReason: String, Sendable, Hashable {
        /// An operator turned it off.
        case byOperator = "operator"
        /// It answered 410.
        case gone
        /// It took nothing for as long as tries are made.
        case failing
    }

    /// `WH` and 32 hexadecimal digits.
    public let id: String
    /// Where to post to.
    public var address: EndpointAddress
    /// What it is for, for people.
    public var text: String
    /// What it is told of.
    public var filter: EventFilter
    /// Signs each message.
    public var secret: WebhookSecret
    /// Signs along until a moment, in seconds since 1970; nil without a rotation.
    public var former: FormerSecret?
    /// Why it is turned off; nil while it is on.
    public var disabled: DisabledReason?
    /// Seconds since 1970.
    public var createdAt: Double
    /// When it was last changed or turned off; seconds since 1970.
    public var updatedAt: Double
    /// How the telling goes.
    public var health = EndpointHealth()

    /// A secret after its rotation.
    public struct FormerSecret: Sendable, Hashable {
        /// The secret.
        public var secret: WebhookSecret
        /// Seconds since 1970.
        public var until: Double
    }

    /// The signatures of a message, the present secret's first, with spaces between them.
    func signatures(id: String, at now: Double, body: [UInt8]) -> String {
        var secrets = [secret]
        if let former, now < former.until { secrets.append(former.secret) }
        return secrets.map { $0.sign(id: id, timestamp: Int64(now), body: body) }.joined(separator: " ")
    }
}
