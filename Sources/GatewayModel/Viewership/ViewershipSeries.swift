/// The answer of `GET /v1/rooms/{room}/viewership/timeseries`, and of `GET /v1/viewership/timeseries` for all rooms.
public struct ViewershipSeries: Codable, Sendable, Hashable {
    /// The room's unique name; empty for all rooms together.
    public var room: String
    /// Seconds of a step.
    public var step: Int
    /// `protocol`, `rendition`, `region` or `client`; null for all together.
    @ExplicitNull public var groupBy: String?
    /// In order of time; steps in which nothing was counted are left out.
    public var points: [SeriesPointResource]

    /// Makes a series.
    public init(room: String, step: Int, groupBy: String?, points: [SeriesPointResource]) {
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
