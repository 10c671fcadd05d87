public import Stage

/// A revoked access token.
public struct RevokedTokenResource: Codable, Sendable, Hashable {
    /// The token's id, or `sha256-` and its digest for a token without one.
    public var jti: String
    /// The token's identity; null where it was revoked by its id alone.
    @ExplicitNull public var identity: String?
    /// The token's role; null where it was revoked by its id alone.
    @ExplicitNull public var role: WireEnum<AccessRole>?
    /// The revocation time.
    public var revokedAt: Timestamp
    /// The name of the operator who revoked it.
    public var revokedBy: String
    /// The expiry, after which the token leaves the list.
    public var expiresAt: Timestamp

    /// Makes a description.
    public init(
        jti: String,
        identity: String? = nil,
        role: WireEnum<AccessRole>? = nil,
        revokedAt: Timestamp,
        revokedBy: String,
        expiresAt: Timestamp
    ) {
        self.jti = jti
        self.identity = identity
        self.role = role
        self.revokedAt = revokedAt
        self.revokedBy = revokedBy
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case jti
        case identity
        case role
        case revokedAt = "revoked_at"
        case revokedBy = "revoked_by"
        case expiresAt = "expires_at"
    }
}

/// A page of the revoked tokens, in the order of their revocation.
public struct RevokedTokenList: Codable, Sendable, Hashable {
    /// The revoked tokens that have not expired.
    public var tokens: [RevokedTokenResource]
    /// Where the list goes on.
    public var meta: PageResource

    /// Makes a page.
    public init(tokens: [RevokedTokenResource], meta: PageResource) {
        self.tokens = tokens
        self.meta = meta
    }
}

/// The body of `POST /v1/tokens/revoke`: the token's id, or the token itself.
public struct RevokeTokenBody: Codable, Sendable, Hashable {
    /// The token's id; 1 to 128 bytes.
    public var jti: String?
    /// The token, instead of its id; also for one without an id.
    public var token: String?
    /// With `jti`: the token's expiry, if known; within ten years.
    public var expiresAt: Timestamp?

    /// Makes a body.
    public init(jti: String? = nil, token: String? = nil, expiresAt: Timestamp? = nil) {
        self.jti = jti
        self.token = token
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case jti
        case token
        case expiresAt = "expires_at"
    }
}
