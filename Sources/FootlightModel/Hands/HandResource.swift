/// A raised hand: a request of an audience member to speak.
public struct HandResource: Codable, Sendable, Hashable {
    /// `HA…`.
    public var sid: String
    /// The sid of the requesting participant.
    public var participantSID: String
    /// The participant's identity.
    public var identity: String
    /// The time of raising.
    public var raisedAt: Timestamp
    /// The expiry.
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

/// The response of `GET /v1/rooms/{room}/hands`.
public struct HandList: Codable, Sendable, Hashable {
    /// In order of raising.
    public var hands: [HandResource]
    /// The next page.
    public var meta: PageResource

    /// Makes a list.
    public init(hands: [HandResource], meta: PageResource) {
        self.hands = hands
        self.meta = meta
    }
}

/// The body of `POST /v1/rooms/{room}/hands`, which may be omitted.
public struct RaiseHandBody: Codable, Sendable, Hashable {
    /// The timeout in seconds, 10 to 3600; 300 when omitted.
    public var timeout: Int?

    /// Makes a body; what is left out is nil.
    public init(timeout: Int? = nil) {
        self.timeout = timeout
    }
}
