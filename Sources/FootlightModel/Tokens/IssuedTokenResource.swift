public import Stage

/// An access token that was made by `POST /v1/tokens`, without the token itself.
public struct IssuedTokenResource: Codable, Sendable, Hashable {
    /// Its id, by which it can be revoked.
    public var jti: String
    /// Who it is for.
    public var identity: String
    /// The role of its bearer.
    public var role: WireEnum<AccessRole>
    /// The room it is for; null for all.
    @ExplicitNull public var room: String?
    /// The time when it was made.
    public var issuedAt: Timestamp
    /// The name of the operator who made it.
    public var issuedBy: String
    /// Its expiry, after which it leaves the list.
    public var expiresAt: Timestamp
    /// Whether it is refused because it was revoked.
    public var revoked: Bool

    /// Makes a description.
    public init(
        jti: String,
        identity: String,
        role: WireEnum<AccessRole>,
        room: String?,
        issuedAt: Timestamp,
        issuedBy: String,
        expiresAt: Timestamp,
        revoked: Bool
    ) {
        self.jti = jti
        self.identity = identity
        self.role = role
        self.room = room
        self.issuedAt = issuedAt
        self.issuedBy = issuedBy
        self.expiresAt = expiresAt
        self.revoked = revoked
    }

    private enum CodingKeys: String, CodingKey {
        case jti
        case identity
        case role
        case room
        case issuedAt = "issued_at"
        case issuedBy = "issued_by"
        case expiresAt = "expires_at"
        case revoked
    }
}

/// A page of the issued tokens, the latest first.
public struct IssuedTokenList: Codable, Sendable, Hashable {
    /// The tokens that have not expired.
    public var tokens: [IssuedTokenResource]
    /// Where the list goes on.
    public var meta: PageResource

    /// Makes a page.
    public init(tokens: [IssuedTokenResource], meta: PageResource) {
        self.tokens = tokens
        self.meta = meta
    }
}
