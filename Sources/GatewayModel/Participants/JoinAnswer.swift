/// The answer to a join.
public struct JoinAnswer: Codable, Sendable, Hashable {
    /// The one who joined.
    public var participant: ParticipantResource
    /// Names this session of the participant.
    public var sessionID: String
    /// The room right after the join.
    public var room: RoomResource
    /// Everybody in the room, in join order.
    public var participants: [ParticipantResource]
    /// What is on air.
    public var tiles: [TileResource]
    /// How to publish; null unless a host.
    @ExplicitNull public var ingest: IngestResource?
    /// Where to watch.
    public var playback: PlaybackResource
    /// Where to follow the room.
    public var eventsURL: String

    /// Makes an answer.
    public init(
        participant: ParticipantResource,
        sessionID: String,
        room: RoomResource,
        participants: [ParticipantResource],
        tiles: [TileResource],
        ingest: IngestResource?,
        playback: PlaybackResource,
        eventsURL: String
    ) {
        self.participant = participant
        self.sessionID = sessionID
        self.room = room
        self.participants = participants
        self.tiles = tiles
        self.ingest = ingest
        self.playback = playback
        self.eventsURL = eventsURL
    }

    private enum CodingKeys: String, CodingKey {
        case participant
        case sessionID = "session_id"
        case room
        case participants
        case tiles
        case ingest
        case playback
        case eventsURL = "events_url"
    }
}
