public import Stage

/// One anonymous playback of a broadcast.
public struct ViewerSessionResource: Codable, Sendable, Hashable {
    /// An id; not the session id that its player presents.
    public var id: String
    /// The time of the first media.
    public var startedAt: Timestamp
    /// The end of the playback; null while it lasts.
    @ExplicitNull public var endedAt: Timestamp?
    /// Gaps in the playback, in order.
    ///
    /// The settled peak can be computed from the sessions: the maximum of concurrent ones without their gaps; within a
    /// millisecond, leaves precede joins.
    public var away: [AbsenceResource]
    /// The settled watch time; of a running playback that at its last change.
    public var watchTimeSeconds: Double
    /// The rebuffering time that its player reports.
    public var stalledSeconds: Double
    /// `sdk`, `rtmp`, `flv`, `hls` or `llhls`.
    public var playback: WireEnum<PlaybackProtocol>
    /// The latest rendition; empty for the program itself.
    public var rendition: String
    /// All played renditions, eight at most, in the order of their first use.
    public var renditions: [String]
    /// Country or region, ISO codes; empty if unknown.
    public var region: String
    /// `web`, `ios`, `android`, `tv`, `tool` or `unknown`.
    public var client: WireEnum<ClientClass>
    /// Changes of rendition or protocol.
    public var switches: Int
    /// The bytes sent: by a connection, known when it closes; by HLS its playlists, and the segments on a connection of
    /// its own.
    public var bytes: Int
    /// `left`, `timed_out`, `too_slow`, `room_ended` or `shutdown`; null while it lasts.
    @ExplicitNull public var endReason: WireEnum<AudienceEvent.CloseReason>?

    /// Creates a playback.
    public init(
        id: String,
        startedAt: Timestamp,
        endedAt: Timestamp?,
        away: [AbsenceResource],
        watchTimeSeconds: Double,
        stalledSeconds: Double,
        playback: WireEnum<PlaybackProtocol>,
        rendition: String,
        renditions: [String],
        region: String,
        client: WireEnum<ClientClass>,
        switches: Int,
        bytes: Int,
        endReason: WireEnum<AudienceEvent.CloseReason>?
    ) {
        self.id = id
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.away = away
        self.watchTimeSeconds = watchTimeSeconds
        self.stalledSeconds = stalledSeconds
        self.playback = playback
        self.rendition = rendition
        self.renditions = renditions
        self.region = region
        self.client = client
        self.switches = switches
        self.bytes = bytes
        self.endReason = endReason
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case startedAt = "started_at"
        case endedAt = "ended_at"
        case away
        case watchTimeSeconds = "watch_time_seconds"
        case stalledSeconds = "stalled_seconds"
        case playback = "protocol"
        case rendition
        case renditions
        case region
        case client
        case switches
        case bytes
        case endReason = "end_reason"
    }
}

/// A gap in a playback that resumed later.
public struct AbsenceResource: Codable, Sendable, Hashable {
    /// The start of the gap.
    public var from: Timestamp
    /// The end of the gap.
    public var to: Timestamp

    /// Creates a gap.
    public init(from: Timestamp, to: Timestamp) {
        self.from = from
        self.to = to
    }
}

/// The response of `GET /v1/rooms/{room}/viewership/sessions`.
public struct ViewerSessionList: Codable, Sendable, Hashable {
    /// In order of their start.
    public var sessions: [ViewerSessionResource]
    /// The next page.
    public var meta: PageResource

    /// Creates a list.
    public init(sessions: [ViewerSessionResource], meta: PageResource) {
        self.sessions = sessions
        self.meta = meta
    }
}
