/// How many watch a room.
public struct ViewershipResource: Codable, Sendable, Hashable {
    /// The room's unique name.
    public var room: String
    /// Playbacks at this moment.
    public var concurrentViewers: Int
    /// Distinct viewers at this moment.
    public var devices: Int
    /// The most playbacks at one time, as they were counted live.
    public var peakConcurrentViewers: Int
    /// When that was; null before the first viewer.
    @ExplicitNull public var peakAt: Timestamp?
    /// Playbacks that ever began.
    public var joins: Int
    /// All playbacks' time together.
    public var watchTimeSeconds: Double
    /// The moment the numbers are of.
    public var asOf: Timestamp
    /// Milliseconds since that moment.
    public var staleMs: Int
    /// After a restart, while players are still coming back.
    public var recovering: Bool
    /// The viewers of this moment, told apart.
    public var by: BreakdownResource
    /// Playbacks that ended for good.
    public var leaves = 0
    /// Playbacks that ended and may still come back.
    public var resumable = 0
    /// Playbacks at this moment, those that do not count or are not yet proven to watch included.
    public var unfilteredViewers = 0
    /// Sessions and requests that never counted, by the reason.
    public var excluded: [String: Int] = [:]
    /// Changes of rendition or protocol.
    public var switches = 0
    /// Time that players say they waited for media in the midst of it.
    public var stalledSeconds = 0.0
    /// Time from a request to its first media on average; null where it is not known of anybody.
    @ExplicitNull public var averageStartupSeconds: Double? = nil
    /// Distinct viewers of the broadcast; in the sum of all rooms a viewer of two rooms is two.
    public var uniques = UniquesResource()

    /// Makes a report.
    public init(
        room: String,
        concurrentViewers: Int,
        devices: Int,
        peakConcurrentViewers: Int,
        peakAt: Timestamp?,
        joins: Int,
        watchTimeSeconds: Double,
        asOf: Timestamp,
        staleMs: Int,
        recovering: Bool,
        by: BreakdownResource
    ) {
        self.room = room
        self.concurrentViewers = concurrentViewers
        self.devices = devices
        self.peakConcurrentViewers = peakConcurrentViewers
        self.peakAt = peakAt
        self.joins = joins
        self.watchTimeSeconds = watchTimeSeconds
        self.asOf = asOf
        self.staleMs = staleMs
        self.recovering = recovering
        self.by = by
    }

    private enum CodingKeys: String, CodingKey {
        case room
        case concurrentViewers = "concurrent_viewers"
        case devices
        case peakConcurrentViewers = "peak_concurrent_viewers"
        case peakAt = "peak_at"
        case joins
        case watchTimeSeconds = "watch_time_seconds"
        case asOf = "as_of"
        case staleMs = "stale_ms"
        case recovering
        case by
        case leaves
        case resumable
        case unfilteredViewers = "unfiltered_viewers"
        case excluded
        case switches
        case stalledSeconds = "stalled_seconds"
        case averageStartupSeconds = "average_startup_seconds"
        case uniques
    }
}
