/// The data of one server-sent event; which of the optional fields are there follows from `type`.
public struct EventResource: Codable, Sendable, Hashable {
    /// Such as `layout.changed`; also the event's name.
    public var type: String
    /// The room.
    public var roomSID: String
    /// The room's revision; events up to the last known one are to be ignored.
    public var rev: UInt64
    /// When it happened.
    public var ts: Timestamp
    /// The room; with `room.*`.
    public var room: RoomResource?
    /// Everybody in the room, in join order; with `room.snapshot`.
    public var participants: [ParticipantResource]?
    /// What is on air; with `room.snapshot` and `layout.changed`.
    public var layout: LayoutResource?
    /// The layout's tiles once more, for those who want nothing else.
    public var tiles: [TileResource]?
    /// Whom it is about; with `participant.*` and `track.*`.
    public var participant: ParticipantResource?
    /// The track; with `track.*`.
    public var track: TrackResource?
    /// Why; with `participant.left`, `track.unpublished` and `participant.reconnecting`.
    public var reason: String?
    /// The mode before; with `participant.mode_changed`.
    public var previousMode: String?
    /// The outputs; with `livestream.state_changed`.
    public var livestream: LivestreamResource?
    /// The output; with `livestream.output_updated`.
    public var output: OutputResource?
    /// Why the stream ends; with `session.disconnected`.
    public var error: ErrorResource?

    /// Makes an event; what does not belong to its type is nil.
    public init(
        type: String,
        roomSID: String,
        rev: UInt64,
        ts: Timestamp,
        room: RoomResource? = nil,
        participants: [ParticipantResource]? = nil,
        layout: LayoutResource? = nil,
        tiles: [TileResource]? = nil,
        participant: ParticipantResource? = nil,
        track: TrackResource? = nil,
        reason: String? = nil,
        previousMode: String? = nil,
        livestream: LivestreamResource? = nil,
        output: OutputResource? = nil,
        error: ErrorResource? = nil
    ) {
        self.type = type
        self.roomSID = roomSID
        self.rev = rev
        self.ts = ts
        self.room = room
        self.participants = participants
        self.layout = layout
        self.tiles = tiles
        self.participant = participant
        self.track = track
        self.reason = reason
        self.previousMode = previousMode
        self.livestream = livestream
        self.output = output
        self.error = error
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case roomSID = "room_sid"
        case rev
        case ts
        case room
        case participants
        case layout
        case tiles
        case participant
        case track
        case reason
        case previousMode = "previous_mode"
        case livestream
        case output
        case error
    }
}
