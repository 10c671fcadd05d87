public import Stage

/// The body of `POST /v1/tokens`.
public struct CreateTokenBody: Codable, Sendable, Hashable {
    /// Who the token is for, as the audit log has it.
    public var identity: String
    /// `operator`, `participant`, `monitor`, `relay` or `thumbnail`.
    public var role: WireEnum<AccessRole>
    /// The room it is for; needed for a participant, and none for an operator.
    public var room: String?
    /// The modes that a participant may join in, the preferred one first.
    public var modes: [String]?
    /// Rights beyond one's own: `streaming`, `participants`.
    public var canAdmin: [String]?
    /// Seconds until it expires, ten years at most; 90 days for an operator and 6 hours for others when omitted.
    public var expiresIn: Int?

    /// Creates a body; omitted fields are nil.
    public init(
        identity: String,
        role: WireEnum<AccessRole>,
        room: String? = nil,
        modes: [String]? = nil,
        canAdmin: [String]? = nil,
        expiresIn: Int? = nil
    ) {
        self.identity = identity
        self.role = role
        self.room = room
        self.modes = modes
        self.canAdmin = canAdmin
        self.expiresIn = expiresIn
    }

    private enum CodingKeys: String, CodingKey {
        case identity
        case role
        case room
        case modes
        case canAdmin = "can_admin"
        case expiresIn = "expires_in"
    }
}

/// A new access token.
public struct TokenResource: Codable, Sendable, Hashable {
    /// The token; shown only here.
    public var token: String
    /// Its id, by which it can be revoked.
    public var jti: String
    /// Who it is for.
    public var identity: String
    /// The role of its bearer.
    public var role: WireEnum<AccessRole>
    /// The room it is for; null for all.
    @ExplicitNull public var room: String?
    /// Its expiry.
    public var expiresAt: Timestamp

    /// Creates an answer.
    public init(
        token: String,
        jti: String,
        identity: String,
        role: WireEnum<AccessRole>,
        room: String?,
        expiresAt: Timestamp
    ) {
        self.token = token
        self.jti = jti
        self.identity = identity
        self.role = role
        self.room = room
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case token
        case jti
        case identity
        case role
        case room
        case expiresAt = "expires_at"
    }
}
