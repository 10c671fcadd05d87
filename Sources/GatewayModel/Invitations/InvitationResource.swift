/// A call to come into a room, or on stage.
public struct InvitationResource: Codable, Sendable, Hashable {
    /// `IN…`.
    public var sid: String
    /// The room's sid.
    public var roomSID: String
    /// The room's unique name.
    public var room: String
    /// The identity of who calls.
    public var inviter: String
    /// What an acceptance allows.
    public var mode: String
    /// `ringing`, `accepted`, `rejected`, `cancelled` or `missed`; one acceptance is enough for `accepted`.
    public var state: String
    /// Those it was sent to, in the order they were named.
    public var invitees: [InviteeResource]
    /// When it was made.
    public var createdAt: Timestamp
    /// When the ringing ends.
    public var expiresAt: Timestamp

    /// Makes an invitation.
    public init(
        sid: String,
        roomSID: String,
        room: String,
        inviter: String,
        mode: String,
        state: String,
        invitees: [InviteeResource],
        createdAt: Timestamp,
        expiresAt: Timestamp
    ) {
        self.sid = sid
        self.roomSID = roomSID
        self.room = room
        self.inviter = inviter
        self.mode = mode
        self.state = state
        self.invitees = invitees
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case roomSID = "room_sid"
        case room
        case inviter
        case mode
        case state
        case invitees
        case createdAt = "created_at"
        case expiresAt = "expires_at"
    }
}
