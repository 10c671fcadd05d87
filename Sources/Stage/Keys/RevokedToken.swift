/// An access token that is not accepted any more, remembered for as long as it would have been good.
public struct RevokedToken: Sendable, Hashable {
    /// The token's own id (`jti`), or for a token without one `sha256-` and the digest of what is signed of it.
    public var id: String
    /// Who the token was for; nil where it was revoked by its id alone.
    public var identity: String?
    /// What kind of bearer the token was for; nil where it was revoked by its id alone.
    public var role: String?
    /// When it was revoked, in seconds since 1970.
    public var revokedAt: Double
    /// The name of the operator who revoked it.
    public var revokedBy: String
    /// After this moment the token would not be accepted anyway, in seconds since 1970.
    public var expiresAt: Double

    /// Makes an entry of the list.
    public init(
        id: String,
        identity: String? = nil,
        role: String? = nil,
        revokedAt: Double,
        revokedBy: String,
        expiresAt: Double
    ) {
        self.id = id
        self.identity = identity
        self.role = role
        self.revokedAt = revokedAt
        self.revokedBy = revokedBy
        self.expiresAt = expiresAt
    }
}

/// Keeps the list of revoked tokens over a restart.
public protocol RevokedTokenStoring: Sendable {
    /// Writes the whole list in place of the one before; returns when it is on disk.
    ///
    /// - Parameter tokens: Asked for when it is written, so that of several changes the last one counts. It is given what
    ///   an earlier process wrote and could not be read until now, and takes that in; mostly nothing.
    /// - Throws: What keeps it from being written.
    func save(_ tokens: @escaping @Sendable (_ found: [RevokedToken]) -> [RevokedToken]) async throws
}
