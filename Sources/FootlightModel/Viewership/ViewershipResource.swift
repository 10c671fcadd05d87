public import Stage

/// The viewership of a room.
public struct ViewershipResource: Codable, Sendable, Hashable {
    /// The room's unique name.
    public var room: String
    /// Current playbacks.
    public var concurrentViewers: Int
    /// Current distinct viewers.
    public var devices: Int
    /// The peak of concurrent playbacks, as counted live.
    public var peakConcurrentViewers: Int
    /// The time of the peak; null before the first viewer.
    @ExplicitNull public var peakAt: Timestamp?
    /// Joins.
    public var joins: Int
    /// The total watch time.
    public var watchTimeSeconds: Double
    /// The time of the numbers.
    public var asOf: Timestamp
    /// The age of the numbers in milliseconds.
    public var staleMs: Int
    /// Whether players are still returning after a restart.
    public var recovering: Bool
    /// The current viewers by category.
    public var by: BreakdownResource
    /// Leaves.
    public var leaves = 0
    /// Ended playbacks that may still resume.
    public var resumable = 0
    /// Current playbacks including excluded and unverified ones.
    public var unfilteredViewers = 0
    /// Sessions and requests that never counted, by reason.
    public var excluded: [WireEnum<ExclusionReason>: Int] = [:]
    /// Changes of rendition or protocol.
    public var switches = 0
    /// The rebuffering time that players report.
    public var stalledSeconds = 0.0
    /// The average startup time; null if unknown.
    @ExplicitNull public var averageStartupSeconds: Double? = nil
    /// Distinct viewers of the broadcast; in the sum of all rooms a viewer of two rooms counts twice.
    public var uniques = UniquesResource()

    /// Creates a report.
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

/// The number of viewers by category.
public struct BreakdownResource: Codable, Sendable, Hashable {
    /// By `sdk`, `rtmp`, `flv`, `hls` and `llhls`; all keys are present.
    public var byProtocol: [WireEnum<PlaybackProtocol>: Int]
    /// By the name of the rendition; the empty name is the program itself.
    public var byRendition: [String: Int]
    /// By country, or country and region, in ISO codes; empty if unknown.
    public var byRegion: [String: Int]
    /// By `web`, `ios`, `android`, `tv`, `tool` and `unknown`.
    public var byClient: [WireEnum<ClientClass>: Int]

    /// Creates a breakdown.
    public init(
        byProtocol: [WireEnum<PlaybackProtocol>: Int],
        byRendition: [String: Int] = [:],
        byRegion: [String: Int] = [:],
        byClient: [WireEnum<ClientClass>: Int] = [:]
    ) {
        self.byProtocol = byProtocol
        self.byRendition = byRendition
        self.byRegion = byRegion
        self.byClient = byClient
    }

    private enum CodingKeys: String, CodingKey {
        case byProtocol = "protocol"
        case byRendition = "rendition"
        case byRegion = "region"
        case byClient = "client"
    }
}

/// Distinct viewers of a broadcast.
public struct UniquesResource: Codable, Sendable, Hashable {
    /// Distinct identities of tokens.
    public var users: Int
    /// Distinct viewers by token, by the stored device id, or else by playback: an upper bound.
    public var devices: Int
    /// An estimate by address and player, in which one viewer on two days counts twice.
    public var estimated: Int
    /// Whether a value is estimated to 0.8 %: for more than a million, or 100,000 in a group or a period.
    public var approximate: Bool

    /// Creates a count.
    public init(users: Int = 0, devices: Int = 0, estimated: Int = 0, approximate: Bool = false) {
        self.users = users
        self.devices = devices
        self.estimated = estimated
        self.approximate = approximate
    }
}

/// The response of `GET /v1/viewership`: all live rooms and their sum, at one moment.
public struct ViewershipTotalsResource: Codable, Sendable, Hashable {
    /// The sum of all rooms; its `room` is empty, and its peak is that of the sum.
    public var total: ViewershipResource
    /// In descending order of viewers.
    public var rooms: [ViewershipResource]

    /// Creates a response.
    public init(total: ViewershipResource, rooms: [ViewershipResource]) {
        self.total = total
        self.rooms = rooms
    }
}
