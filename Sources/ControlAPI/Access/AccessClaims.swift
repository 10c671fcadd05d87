public import Stage

/// What a verified token says of its bearer.
///
/// What is not named here is not granted.
public struct AccessClaims: Sendable, Equatable {
    /// Who the bearer is.
    public var identity: String
    /// What kind of bearer it is.
    public var role: AccessRole
    /// The one room the token is for, by unique name or sid; nil for all rooms, which only operators and monitors may have.
    public var room: String?
    /// The modes a participant may join in, the preferred one first.
    public var modes: [ParticipantMode]
    /// Rights beyond the role: `streaming`, `participants`.
    public var administers: Set<String>
    /// The run of the room's program that a mixer may publish as.
    public var epoch: UInt64?
    /// Seconds since 1970.
    public var expiresAt: Double

    /// Makes claims.
    public init(
        identity: String,
        role: AccessRole,
        room: String? = nil,
        modes: [ParticipantMode] = [],
        administers: Set<String> = [],
        epoch: UInt64? = nil,
        expiresAt: Double
    ) {
        self.identity = identity
        self.role = role
        self.room = room
        self.modes = modes
        self.administers = administers
        self.epoch = epoch
        self.expiresAt = expiresAt
    }
}
