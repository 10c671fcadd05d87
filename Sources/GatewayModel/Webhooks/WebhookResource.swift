/// Somebody who is told what happens.
public struct WebhookResource: Codable, Sendable, Hashable {
    /// `WH` and 32 hexadecimal digits.
    public var id: String
    /// Where is posted to.
    public var url: String
    /// What it is for, for people.
    public var description: String
    /// The names of events; empty for all.
    public var types: [String]
    /// The room; null for all.
    @ExplicitNull public var room: String?
    /// Whether anything is delivered.
    public var enabled: Bool
    /// Why nothing is: `operator`, `gone` after a 410, or `failing`; null while it is enabled.
    @ExplicitNull public var disabledReason: String?
    /// The secret that messages are signed with: whole in the answer that makes it, its last four characters in all others.
    public var secret: String
    /// Until when the former secret signs along; null without a rotation.
    @ExplicitNull public var formerSecretUntil: Timestamp?
    /// When it was made.
    public var createdAt: Timestamp
    /// When it was last changed or turned off.
    public var updatedAt: Timestamp
    /// Tries that failed since the last message that was taken.
    public var failures: Int
    /// When the first of them failed; null while all is well.
    @ExplicitNull public var failingSince: Timestamp?
    /// Before this nothing is tried; null while all is well.
    @ExplicitNull public var nextTryAt: Timestamp?
    /// Messages that wait.
    public var pending: Int
    /// Messages that were given up because too many waited.
    public var dropped: Int

    /// Makes a description of an endpoint that has not been told anything.
    public init(id: String, url: String, secret: String, createdAt: Timestamp, updatedAt: Timestamp) {
        self.id = id
        self.url = url
        self.secret = secret
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        description = ""
        types = []
        room = nil
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
