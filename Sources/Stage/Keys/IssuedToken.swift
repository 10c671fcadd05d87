/// An access token that an operator made, without the token itself; listed until it expires.
public struct IssuedToken: Sendable, Hashable {
    /// The token's id (`jti`), by which it can be revoked.
    public var id: String
    /// The token's identity.
    public var identity: String
    /// The token's role.
    public var role: String
    /// The room that it is for; nil for all.
    public var room: String?
    /// The time when it was made, in seconds since 1970.
    public var issuedAt: Double
    /// The name of the operator who made it.
    public var issuedBy: String
    /// The token's expiry in seconds since 1970.
    public var expiresAt: Double

    /// Creates an entry.
    public init(
        id: String,
        identity: String,
        role: String,
        room: String?,
        issuedAt: Double,
        issuedBy: String,
        expiresAt: Double
    ) {
        self.id = id
        self.identity = identity
        self.role = role
        self.room = room
        self.issuedAt = issuedAt
        self.issuedBy = issuedBy
        self.expiresAt = expiresAt
    }
}

/// Stores the list of issued tokens across restarts.
public protocol IssuedTokenStoring: Sendable {
    /// Adds a token to the list; returns at once, because a token is valid whether it is listed or not.
    func add(_ token: IssuedToken)

    /// Returns the tokens that expire after a time, in seconds since 1970, the latest made first.
    ///
    /// - Throws: The reason why the list cannot be read.
    func issued(after time: Double) async throws -> [IssuedToken]
}
