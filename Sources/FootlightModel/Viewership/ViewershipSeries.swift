public import Stage

/// The response of `GET /v1/rooms/{room}/viewership/timeseries`, and of `GET /v1/viewership/timeseries` for all rooms.
public struct ViewershipSeries: Codable, Sendable, Hashable {
    /// The room's unique name; empty for all rooms.
    public var room: String
    /// The length of a step in seconds.
    public var step: Int
    /// `protocol`, `rendition`, `region` or `client`; null without grouping.
    @ExplicitNull public var groupBy: WireEnum<ViewershipGrouping>?
    /// In order of time; steps without activity are omitted.
    public var points: [SeriesPointResource]

    /// Creates a series.
    public init(room: String, step: Int, groupBy: WireEnum<ViewershipGrouping>?, points: [SeriesPointResource]) {
        self.room = room
        self.step = step
        self.groupBy = groupBy
        self.points = points
    }

    private enum CodingKeys: String, CodingKey {
        case room
        case step
        case groupBy = "group_by"
        case points
    }
}

/// One step of a time series, of all viewers of a room or of one group of them.
public struct SeriesPointResource: Codable, Sendable, Hashable {
    /// The start of the step.
    public var at: Timestamp
    /// The group, such as `hls`; null without grouping.
    @ExplicitNull public var group: String?
    /// Average viewers over the step.
    public var averageViewers: Double
    /// The peak of concurrent viewers, counted live; of a group counted once a second; null if unknown.
    @ExplicitNull public var peakViewers: Int?
    /// Joins.
    public var joins: Int
    /// Leaves.
    public var leaves: Int
    /// The total watch time.
    public var watchTimeSeconds: Double
    /// The average startup time; null if unknown.
    @ExplicitNull public var averageStartupSeconds: Double?
    /// The rebuffering time.
    public var stalledSeconds: Double

    /// Creates a point.
    public init(
        at: Timestamp,
        group: String?,
        averageViewers: Double,
        peakViewers: Int?,
        joins: Int,
        leaves: Int,
        watchTimeSeconds: Double,
        averageStartupSeconds: Double? = nil,
        stalledSeconds: Double = 0
    ) {
        self.at = at
        self.group = group
        self.averageViewers = averageViewers
        self.peakViewers = peakViewers
        self.joins = joins
        self.leaves = leaves
        self.watchTimeSeconds = watchTimeSeconds
        self.averageStartupSeconds = averageStartupSeconds
        self.stalledSeconds = stalledSeconds
    }

    private enum CodingKeys: String, CodingKey {
        case at
        case group
        case averageViewers = "average_viewers"
        case peakViewers = "peak_viewers"
        case joins
        case leaves
        case watchTimeSeconds = "watch_time_seconds"
        case averageStartupSeconds = "average_startup_seconds"
        case stalledSeconds = "stalled_seconds"
    }
}
