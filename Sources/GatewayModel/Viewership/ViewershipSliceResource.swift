/// What one group of a broadcast's viewers did.
public struct ViewershipSliceResource: Codable, Sendable, Hashable {
    /// Playbacks that began.
    public var joins: Int
    /// Time watched by all together.
    public var watchTimeSeconds: Double
    /// Viewers on average over the broadcast.
    public var averageViewers: Double

    /// Makes a slice.
    public init(joins: Int, watchTimeSeconds: Double, averageViewers: Double) {
        self.joins = joins
        self.watchTimeSeconds = watchTimeSeconds
        self.averageViewers = averageViewers
    }

    private enum CodingKeys: String, CodingKey {
        case joins
        case watchTimeSeconds = "watch_time_seconds"
        case averageViewers = "average_viewers"
    }
}
