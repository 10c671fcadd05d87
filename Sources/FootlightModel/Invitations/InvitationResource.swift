public import Stage

/// An invitation into a room, or on stage.
public struct InvitationResource: Codable, Sendable, Hashable {
    /// `IN…`.
    public var sid: String
    /// The room's sid.
    public var roomSID: String
    /// The room's unique name.
    public var room: String
    /// The inviter's identity.
    public var inviter: String
    /// The mode that acceptance permits.
    public var mode: WireEnum<ParticipantMode>
    /// `ringing`, `accepted`, `rejected`, `cancelled` or `missed`; one acceptance is enough for `accepted`.
    public var state: WireEnum<InvitationState>
    /// The invitees, in the given order.
    public var invitees: [InviteeResource]
    /// The creation time.
    public var createdAt: Timestamp
    /// The end of the ringing.
    public var expiresAt: Timestamp
    /// The invitees that no app hears for at the moment; only in the answer that makes the invitation.
    public var unreachable: [String]?

    /// Makes an invitation.
    public init(
        sid: String,
        roomSID: String,
        room: String,
        inviter: String,
        mode: WireEnum<ParticipantMode>,
        state: WireEnum<InvitationState>,
        invitees: [InviteeResource],
        createdAt: Timestamp,
        expiresAt: Timestamp,
        unreachable: [String]? = nil
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
        self.unreachable = unreachable
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
        case unreachable
    }
}

/// An invitee of an invitation.
public struct InviteeResource: Codable, Sendable, Hashable {
    /// The identity.
    public var identity: String
    /// `ringing`, `accepted`, `rejected`, `cancelled` or `missed`.
    public var state: WireEnum<InvitationState>
    /// The time of the last change; null while ringing.
    @ExplicitNull public var changedAt: Timestamp?

    /// Makes one.
    public init(identity: String, state: WireEnum<InvitationState>, changedAt: Timestamp?) {
        self.identity = identity
        self.state = state
        self.changedAt = changedAt
    }

    private enum CodingKeys: String, CodingKey {
        case identity
        case state
        case changedAt = "changed_at"
    }
}

/// The body of `POST /v1/rooms/{room}/invitations`.
public struct CreateInvitationBody: Codable, Sendable, Hashable {
    /// The invitees; at least one.
    public var identities: [String]
    /// The mode that acceptance permits; `SEND_AND_RECV` when omitted.
    public var mode: WireEnum<ParticipantMode>?
    /// The ringing time in seconds, 5 to 300; 30 when omitted.
    public var timeout: Int?

    /// Makes a body; what is left out is nil.
    public init(identities: [String], mode: WireEnum<ParticipantMode>? = nil, timeout: Int? = nil) {
        self.identities = identities
        self.mode = mode
        self.timeout = timeout
    }
}
