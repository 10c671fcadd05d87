/// The answer to a join, and to a return.
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
    /// What the client begins with: its wishes, and the gateway's defaults for the rest.
    public var callSettings: CallSettingsResource
    /// What a host may send at most; null unless a host.
    @ExplicitNull public var connectOptions: ConnectOptionsResource?
    /// Where to watch.
    public var playback: PlaybackResource
    /// Where to follow the room.
    public var eventsURL: String
    /// Seconds between two signs of life.
    public var heartbeatInterval: Int
    /// Seconds after which a lost session is given up.
    public var sessionTimeout: Int
    /// Seconds within which a return needs no new join.
    public var fastReconnectDeadline: Int

    /// Makes an answer.
    public init(
        participant: ParticipantResource,
        sessionID: String,
        room: RoomResource,
        participants: [ParticipantResource],
        tiles: [TileResource],
        ingest: IngestResource?,
        callSettings: CallSettingsResource,
        connectOptions: ConnectOptionsResource?,
        playback: PlaybackResource,
        eventsURL: String,
        heartbeatInterval: Int,
        sessionTimeout: Int,
        fastReconnectDeadline: Int
    ) {
        self.participant = participant
        self.sessionID = sessionID
        self.room = room
        self.participants = participants
        self.tiles = tiles
        self.ingest = ingest
        self.callSettings = callSettings
        self.connectOptions = connectOptions
        self.playback = playback
        self.eventsURL = eventsURL
        self.heartbeatInterval = heartbeatInterval
        self.sessionTimeout = sessionTimeout
        self.fastReconnectDeadline = fastReconnectDeadline
    }

    private enum CodingKeys: String, CodingKey {
        case participant
        case sessionID = "session_id"
        case room
        case participants
        case tiles
        case ingest
        case callSettings = "call_settings"
        case connectOptions = "connect_options"
        case playback
        case eventsURL = "events_url"
        case heartbeatInterval = "heartbeat_interval"
        case sessionTimeout = "session_timeout"
        case fastReconnectDeadline = "fast_reconnect_deadline"
    }
}
