/// The body of `POST /v1/tokens/revoke`: the token's id, or the token itself.
public struct RevokeTokenBody: Codable, Sendable, Hashable {
    /// The token's own id; 1 to 128 bytes.
    public var jti: String?
    /// The token, instead of its id; also one that has none.
    public var token: String?
    /// With `jti`: when the token's time is over, as far as it is known; within ten years.
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
