/// A raised hand: somebody in the audience asks to speak.
public struct HandResource: Codable, Sendable, Hashable {
    /// `HA…`.
    public var sid: String
    /// The participant who asks.
    public var participantSID: String
    /// Who asks.
    public var identity: String
    /// When it was raised.
    public var raisedAt: Timestamp
    /// When it goes down by itself.
    public var expiresAt: Timestamp

    /// Makes a hand.
    public init(sid: String, participantSID: String, identity: String, raisedAt: Timestamp, expiresAt: Timestamp) {
        self.sid = sid
        self.participantSID = participantSID
        self.identity = identity
        self.raisedAt = raisedAt
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case participantSID = "participant_sid"
        case identity
        case raisedAt = "raised_at"
        case expiresAt = "expires_at"
    }
}
