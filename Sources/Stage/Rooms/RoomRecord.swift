/// Everything of a room that must outlive the process.
public struct RoomRecord: Sendable, Equatable, Codable {
    /// `RM` and 32 hexadecimal digits.
    public var sid: String
    /// What the operator decided, the present layout included.
    public var settings: RoomSettings
    /// Whether it can be joined.
    public var status: RoomStatus
    /// Whether the hosts prepare and the audience does not see them.
    public var isBackstage: Bool
    /// The revision of the latest event.
    public var revision: UInt64
    /// Seconds since 1970.
    public var createdAt: Double
    /// Seconds since 1970.
    public var updatedAt: Double
    /// Seconds since 1970; nil while the room is in progress.
    public var endedAt: Double?
    /// In join order.
    public var participants: [ParticipantRecord]
    /// Who sits where in the picture.
    public var places: LayoutPlaces
    /// Pins for everybody and for single views.
    var pins: PinBoard
    /// Invitations, the answered ones included.
    var invitations: InvitationBook
    /// The digests of the hosts' keys.
    public var keys: [StreamKeyRecord]
}
