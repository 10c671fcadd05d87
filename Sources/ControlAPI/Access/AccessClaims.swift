public import Stage

/// What a verified token says of its bearer.
///
/// What is not named here is not granted.
public struct AccessClaims: Sendable, Equatable {
    /// Who the bearer is.
    public var identity: String
    /// What kind of bearer it is.
    public var role: AccessRole
    /// The one room the token is for, by unique name or sid; nil for all rooms, which no participant or mixer may have.
    public var room: String?
    /// The modes a participant may join in, the preferred one first.
    public var modes: [ParticipantMode]
    /// The tracks a participant may publish; none unless a mode is SEND_AND_RECV.
    public var sources: Set<TrackName>
    /// Kilobits a second that a host may send; nil for the gateway's own limit.
    public var maximumBitrate: Int?
    /// Rights beyond the role: `streaming`, `participants`.
    public var administers: Set<String>
    /// The run of the room's program that a mixer may publish as.
    public var epoch: UInt64?
    /// Seconds since 1970.
    public var expiresAt: Double
    /// The token's own id (`jti`), by which it can be revoked; of a verified token without one `sha256-` and a digest of it.
    public var tokenID: String?
    /// The name of the key that signed the verified token; nil for claims that no token makes.
    var keyID: String?

    /// Makes claims; a host may publish every track unless `sources` says which.
    public init(
        identity: String,
        role: AccessRole,
        room: String? = nil,
        modes: [ParticipantMode] = [],
        sources: Set<TrackName>? = nil,
        maximumBitrate: Int? = nil,
        administers: Set<String> = [],
        epoch: UInt64? = nil,
        expiresAt: Double,
        tokenID: String? = nil
    ) {
        self.identity = identity
        self.role = role
        self.room = room
        self.modes = modes
        let publishes = role == .participant && modes.contains(.sendAndReceive)
        self.sources = sources ?? (publishes ? Set(TrackName.allCases) : [])
        self.maximumBitrate = maximumBitrate
        self.administers = administers
        self.epoch = epoch
        self.expiresAt = expiresAt
        self.tokenID = tokenID
    }
}
