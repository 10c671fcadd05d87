/// A revoked access token, retained until it expires.
public struct RevokedToken: Sendable, Hashable {
    /// The token's id (`jti`), or `sha256-` and the digest of the signed part for a token without one.
    public var id: String
    /// The token's identity; nil where it was revoked by its id alone.
    public var identity: String?
    /// The token's role; nil where it was revoked by its id alone.
    public var role: String?
    /// The revocation time in seconds since 1970.
    public var revokedAt: Double
    /// The name of the operator who revoked it.
    public var revokedBy: String
    /// The token's expiry in seconds since 1970.
    public var expiresAt: Double

    /// Creates an entry.
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

/// Stores the list of revoked tokens across restarts.
public protocol RevokedTokenStoring: Sendable {
    /// Replaces the stored list; returns when it is on disk.
    ///
    /// - Parameter tokens: Called at the time of writing, so that the latest of several changes counts. Its argument is
    ///   the list of an earlier process that could not be read until now, to be merged; usually empty.
    /// - Throws: The reason of a failed write.
    func save(_ tokens: @escaping @Sendable (_ found: [RevokedToken]) -> [RevokedToken]) async throws
}
