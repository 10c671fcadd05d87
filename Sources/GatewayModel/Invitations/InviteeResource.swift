/// One of those an invitation was sent to.
public struct InviteeResource: Codable, Sendable, Hashable {
    /// Who.
    public var identity: String
    /// `ringing`, `accepted`, `rejected`, `cancelled` or `missed`.
    public var state: String
    /// When it came to that; null while ringing.
    @ExplicitNull public var changedAt: Timestamp?

    /// Makes one.
    public init(identity: String, state: String, changedAt: Timestamp?) {
        self.identity = identity
        self.state = state
        self.changedAt = changedAt
    }

    private enum CodingKeys: String, CodingKey {
        case identity
        case state
        case changedAt = "changed_at"
    }
}
