/// An access token that was revoked.
public struct RevokedTokenResource: Codable, Sendable, Hashable {
    /// The token's own id, or for a token without one `sha256-` and its digest.
    public var jti: String
    /// Who the token was for; null where it was revoked by its id alone.
    @ExplicitNull public var identity: String?
    /// What kind of bearer it was for; null where it was revoked by its id alone.
    @ExplicitNull public var role: String?
    /// When it was revoked.
    public var revokedAt: Timestamp
    /// The name of the operator who revoked it.
    public var revokedBy: String
    /// When its time is over, and it leaves the list.
    public var expiresAt: Timestamp

    /// Makes a description.
    public init(
        jti: String,
        identity: String? = nil,
        role: String? = nil,
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
