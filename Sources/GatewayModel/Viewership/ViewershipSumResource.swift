/// How many watch all rooms together.
public struct ViewershipSumResource: Codable, Sendable, Hashable {
    /// Playbacks at this moment.
    public var concurrentViewers: Int
    /// Playbacks that ever began.
    public var joins: Int
    /// All playbacks' time together.
    public var watchTimeSeconds: Double
    /// The viewers of this moment, told apart.
    public var by: BreakdownResource

    /// Makes a sum.
    public init(concurrentViewers: Int, joins: Int, watchTimeSeconds: Double, by: BreakdownResource) {
        self.concurrentViewers = concurrentViewers
        self.joins = joins
        self.watchTimeSeconds = watchTimeSeconds
        self.by = by
    }

    private enum CodingKeys: String, CodingKey {
        case concurrentViewers = "concurrent_viewers"
        case joins
        case watchTimeSeconds = "watch_time_seconds"
        case by
    }
}
