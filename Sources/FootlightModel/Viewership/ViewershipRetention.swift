/// The response of `GET /v1/rooms/{room}/viewership/retention`: how long the viewers of a broadcast stayed.
public struct ViewershipRetention: Codable, Sendable, Hashable {
    /// The room's unique name.
    public var room: String
    /// The start of the broadcast.
    public var beganAt: Timestamp
    /// The end of the broadcast; null while it lasts.
    @ExplicitNull public var endedAt: Timestamp?
    /// The length of a step in seconds.
    public var step: Int
    /// One for each step of the broadcast, the first at 0; null where it is not known.
    @ExplicitNull public var points: [RetentionPointResource]?

    /// Creates a report.
    public init(
        room: String,
        beganAt: Timestamp,
        endedAt: Timestamp?,
        step: Int,
        points: [RetentionPointResource]?
    ) {
        self.room = room
        self.beganAt = beganAt
        self.endedAt = endedAt
        self.step = step
        self.points = points
    }

    private enum CodingKeys: String, CodingKey {
        case room
        case beganAt = "began_at"
        case endedAt = "ended_at"
        case step
        case points
    }
}

/// How many viewers of a broadcast were still watching after a time.
public struct RetentionPointResource: Codable, Sendable, Hashable {
    /// The time since the start of each playback.
    public var afterSeconds: Int
    /// The playbacks that could have lasted that long: those that began early enough before the end of the broadcast.
    public var joins: Int
    /// Those of them that were still watched.
    public var watching: Int
    /// The part of them, 0 to 1; 0 without any.
    public var share: Double

    /// Creates a point.
    public init(afterSeconds: Int, joins: Int, watching: Int, share: Double) {
        self.afterSeconds = afterSeconds
        self.joins = joins
        self.watching = watching
        self.share = share
    }

    private enum CodingKeys: String, CodingKey {
        case afterSeconds = "after_seconds"
        case joins
        case watching
        case share
    }
}
