public import Stage

/// How long the playbacks of a broadcast lasted; times are in milliseconds.
///
/// A playback lasts from its first media to its end, with the absences in between. What it says ends where the broadcast
/// ends, or where the gateway ended it: beyond, nothing is known of it, and it is not counted.
public struct AudienceRetention: Sendable, Equatable {
    /// The playbacks that were still watched after a time.
    public struct Point: Sendable, Equatable {
        /// The time since the start of each playback.
        public var after: Int64
        /// The playbacks that could have lasted that long.
        public var joins: Int
        /// Those of them that did.
        public var watching: Int
    }

    private let end: Int64
    private let step: Int64
    /// Playbacks by the steps that they could have lasted.
    private var possible: [Int]
    /// Playbacks by the steps that they lasted.
    private var watched: [Int]

    /// Creates a value without playbacks, with a point for each step of the broadcast.
    ///
    /// - Parameter end: The end of the broadcast since 1970; of one in progress the present.
    public init(began: Int64, end: Int64, step: Int64) {
        self.end = end
        self.step = max(1, step)
        possible = Array(repeating: 0, count: Int(clamping: max(0, end - began) / self.step) + 1)
        watched = possible
    }

    /// Adds a playback.
    ///
    /// - Parameters:
    ///   - start: Its first media, in milliseconds since 1970.
    ///   - stop: Its end, in milliseconds since 1970; nil while it lasts.
    ///   - reason: The reason of its end.
    public mutating func add(from start: Int64, to stop: Int64?, because reason: AudienceEvent.CloseReason?) {
        let isCutOff = reason == .roomEnded || reason == .shutdown
        let stop = min(stop ?? end, end)
        possible[index((isCutOff ? stop : end) - start)] += 1
        watched[index(stop - start)] += 1
    }

    /// One point for each step, the first at 0.
    public var points: [Point] {
        var points: [Point] = []
        var (joins, watching) = (0, 0)
        for index in possible.indices.reversed() {
            joins += possible[index]
            watching += watched[index]
            points.append(Point(after: Int64(index) * step, joins: joins, watching: watching))
        }
        return points.reversed()
    }

    private func index(_ duration: Int64) -> Int {
        min(Int(clamping: max(0, duration) / step), possible.count - 1)
    }
}
