import Stage

/// Viewers over time, in steps of whole minutes, from what the history has.
public struct ViewershipTimeline: Sendable {
    /// By what the viewers are grouped.
    public enum Grouping: String, Sendable, CaseIterable {
        case playback = "protocol"
        case rendition
        case region
        case client

        /// The name of the group that a place belongs to.
        public func group(of dimensions: Dimensions) -> String {
            switch self {
            case .playback: dimensions.playback.rawValue
            case .rendition: dimensions.rendition
            case .region: dimensions.region
            case .client: dimensions.client.rawValue
            }
        }
    }

    /// One step of one group.
    public struct Point: Sendable, Equatable {
        /// Milliseconds since 1970.
        public var at: Int64
        /// Nil where the viewers are not grouped.
        public var group: String?
        /// Sessions that were proven to watch.
        public var joins = 0
        /// Sessions that ended for good.
        public var leaves = 0
        /// Milliseconds.
        public var watched: Int64 = 0
        /// Milliseconds that players waited for media.
        public var stalled: Int64 = 0
        /// Milliseconds from wish to picture, of those of whom it is known.
        public var startup: Int64 = 0
        /// How many `startup` is of.
        public var startups = 0
        /// The most at once, of a group as it was seen once a second; nil where nobody knows.
        public var peak: Int?
    }

    private struct Key: Hashable {
        var step: Int64
        var group: String?
    }

    /// In order of time.
    public let points: [Point]

    /// - Parameters:
    ///   - step: Minutes.
    ///   - from: Minutes since 1970, where the first step begins.
    public init(_ rows: [MinuteRow], from: Int64, step: Int64, grouping: Grouping?) {
        var points: [Key: Point] = [:]
        for row in rows where row.key.minute >= from {
            let group = row.key.dimensions.flatMap { dimensions in grouping.map { $0.group(of: dimensions) } }
            guard grouping == nil || row.key.dimensions != nil else { continue }
            let place = (row.key.minute - from) / step
            let start = (from + place * step) * 60_000
            let key = Key(step: place, group: group)
            var point = points[key] ?? Point(at: start, group: group)
            if row.key.dimensions != nil { point.add(row) }
            // Of a group that was watched there is a peak, unless it is older than the peaks of groups.
            if row.key.dimensions == nil || grouping != nil && row.maximum > 0 {
                point.peak = max(point.peak ?? 0, row.maximum)
            }
            points[key] = point
        }
        self.points = points.values.sorted { ($0.at, $0.group ?? "") < ($1.at, $1.group ?? "") }
    }
}

extension ViewershipTimeline.Point {
    fileprivate mutating func add(_ row: MinuteRow) {
        joins += row.joins
        leaves += row.leaves.reduce(0, +)
        watched += row.watched
        stalled += row.stalled
        startup += row.startup
        startups += row.startups
    }
}
