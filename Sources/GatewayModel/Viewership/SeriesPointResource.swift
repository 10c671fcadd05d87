/// One step of a series, of all viewers of a room or of one group of them.
public struct SeriesPointResource: Codable, Sendable, Hashable {
    /// Where the step begins.
    public var at: Timestamp
    /// Which group, as `hls`; null where the viewers are not grouped.
    @ExplicitNull public var group: String?
    /// Viewers on average over the step.
    public var averageViewers: Double
    /// The most viewers at once, counted live; of a group as it was counted once a second; null where nobody knows.
    @ExplicitNull public var peakViewers: Int?
    /// Playbacks that began.
    public var joins: Int
    /// Playbacks that ended for good.
    public var leaves: Int
    /// Time watched by all together.
    public var watchTimeSeconds: Double
    /// Time from a request to its first media on average; null where it is not known of anybody.
    @ExplicitNull public var averageStartupSeconds: Double?
    /// Time that players waited for media in the midst of it.
    public var stalledSeconds: Double

    /// Makes a point.
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
