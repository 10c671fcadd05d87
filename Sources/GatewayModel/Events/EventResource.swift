/// The data of one server-sent event; which of the optional fields are there follows from `type`.
public struct EventResource: Codable, Sendable, Hashable {
    /// Such as `layout.changed`; also the event's name.
    public var type: String
    /// The room; empty with the heartbeat of a stream that belongs to no room.
    public var roomSID: String
    /// The room's revision; events up to the last known one are to be ignored.
    public var rev: UInt64
    /// When it happened.
    public var ts: Timestamp
    /// The room; with `room.*`.
    public var room: RoomResource?
    /// Everybody in the room, in join order; with `room.snapshot`.
    public var participants: [ParticipantResource]?
    /// What rings for the reader; with the first event of a user's stream.
    public var invitations: [InvitationResource]?
    /// The hands that are up, the one that was raised first at the beginning; with `room.snapshot`.
    public var hands: [HandResource]?
    /// What is on air; with `room.snapshot` and `layout.changed`.
    public var layout: LayoutResource?
    /// The layout's tiles once more, for those who want nothing else.
    public var tiles: [TileResource]?
    /// Whom it is about; with `participant.*` and `track.*`.
    public var participant: ParticipantResource?
    /// The track; with `track.*`.
    public var track: TrackResource?
    /// Why; with `participant.left`, `participant.reconnecting`, `track.unpublished`, `dominant_speaker.changed` and
    /// `hand.lowered`.
    public var reason: String?
    /// The number of the reason; with `participant.reconnecting`: 53001 for signalling, 53405 for media.
    public var code: Int?
    /// The mode before; with `participant.mode_changed`.
    public var previousMode: String?
    /// Who has the word, null for nobody; with `dominant_speaker.changed`.
    public var sid: ExplicitNull<String>?
    /// Who had it before; with `dominant_speaker.changed`.
    public var previousSID: ExplicitNull<String>?
    /// Whose pin; with `pin.changed`.
    public var participantSID: String?
    /// The pin, null when it is gone; with `pin.changed`.
    public var pin: ExplicitNull<PinResource>?
    /// The outputs; with `livestream.state_changed`.
    public var livestream: LivestreamResource?
    /// The output; with `livestream.output_updated`.
    public var output: OutputResource?
    /// The playlist; with `hls.state_changed`.
    public var hls: HLSResource?
    /// How the recording is doing; with `recording.state_changed` and `recording.rotated`.
    public var recording: RecordingResource?
    /// What went wrong beside the show; with `livestream.warning`.
    public var warning: WarningResource?
    /// Who is there; with `viewership.updated`.
    public var counts: CountsResource?
    /// How many watch; with `viewership.updated`.
    public var viewership: ViewershipResource?
    /// The invitation; with `invitation.*`.
    public var invitation: InvitationResource?
    /// Whom it happened to; with `invitation.*`.
    public var identities: [String]?
    /// The hand; with `hand.*`.
    public var hand: HandResource?
    /// What an app tells; with `custom.event`.
    public var custom: CustomEventResource?
    /// The file; with `asset.*`.
    public var asset: AssetResource?
    /// What failed; with `session.disconnected`, `participant.media_failed` and `livestream.error`.
    public var error: ErrorResource?

    /// Makes an event; most of what belongs to its type is set afterwards.
    public init(
        type: String,
        roomSID: String,
        rev: UInt64,
        ts: Timestamp,
        participants: [ParticipantResource]? = nil,
        tiles: [TileResource]? = nil,
        participant: ParticipantResource? = nil
    ) {
        self.type = type
        self.roomSID = roomSID
        self.rev = rev
        self.ts = ts
        self.participants = participants
        self.tiles = tiles
        self.participant = participant
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case roomSID = "room_sid"
        case rev
        case ts
        case room
        case participants
        case invitations
        case hands
        case layout
        case tiles
        case participant
        case track
        case reason
        case code
        case previousMode = "previous_mode"
        case sid
        case previousSID = "previous_sid"
        case participantSID = "participant_sid"
        case pin
        case livestream
        case output
        case hls
        case recording
        case warning
        case counts
        case viewership
        case invitation
        case identities
        case hand
        case custom
        case asset
        case error
    }
}
