/// What can be said of a room without looking at each of its participants; cheap enough for every request.
public struct RoomSummary: Sendable, Hashable {
    /// `RM` and 32 hexadecimal digits.
    public var sid: String
    /// The unique name.
    public var name: String
    /// What kind of call it is.
    public var type: RoomType
    /// Whether it can be joined.
    public var status: RoomStatus
    /// Whether the hosts prepare and the audience does not see them.
    public var isBackstage: Bool
    /// How many participants there are, by mode.
    public var counts: RoomCounts
    /// The revision of the room's latest event.
    public var revision: UInt64
}
