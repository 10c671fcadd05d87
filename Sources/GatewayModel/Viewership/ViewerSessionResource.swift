/// One playback of a broadcast, and of nobody in particular.
public struct ViewerSessionResource: Codable, Sendable, Hashable {
    /// Tells it apart; not the session id that its player shows.
    public var id: String
    /// First media.
    public var startedAt: Timestamp
    /// Where the watching ended; null while it lasts.
    @ExplicitNull public var endedAt: Timestamp?
    /// Times in between in which it was away, in their order.
    ///
    /// With them the settled peak can be told again: the most at once of all that began, and have neither ended nor are
    /// away; who goes in a millisecond goes before anybody who comes in it.
    public var away: [AbsenceResource]
    /// Time watched, settled: of a playback that lasts, what it had watched at its last change.
    public var watchTimeSeconds: Double
    /// Time that its player says it waited for media.
    public var stalledSeconds: Double
    /// `sdk`, `rtmp`, `flv`, `hls` or `llhls`.
    public var playback: String
    /// The latest rendition; empty for the program as it is.
    public var rendition: String
    /// All renditions that it played, eight at most, in the order in which they were first played.
    public var renditions: [String]
    /// Country or region, ISO codes; empty where nobody knows.
    public var region: String
    /// `web`, `ios`, `android`, `tv`, `tool` or `unknown`.
    public var client: String
    /// Changes of rendition or protocol.
    public var switches: Int
    /// Bytes that it was sent: by a connection, told when it closes; by HLS its playlists, and the segments that were asked
    /// for on a connection of its own.
    public var bytes: Int
    /// `left`, `timed_out`, `too_slow`, `room_ended` or `shutdown`; null while it lasts.
    @ExplicitNull public var endReason: String?

    /// Makes a playback.
    public init(
        id: String,
        startedAt: Timestamp,
        endedAt: Timestamp?,
        away: [AbsenceResource],
        watchTimeSeconds: Double,
        stalledSeconds: Double,
        playback: String,
        rendition: String,
        renditions: [String],
        region: String,
        client: String,
        switches: Int,
        bytes: Int,
        endReason: String?
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
