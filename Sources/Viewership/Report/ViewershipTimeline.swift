public import Stage

/// Viewers over time in steps of whole minutes, computed from the history.
public struct ViewershipTimeline: Sendable {
    /// One step of one group.
    public struct Point: Sendable, Equatable {
        /// The start of the step, in milliseconds since 1970.
        public var at: Int64
        /// The group; nil without a grouping.
        public var group: String?
        /// The counts.
        public var counts = AudienceCounts.zero
        /// The concurrent peak, of a group sampled once a second; nil when unknown.
        public var peak: Int?
    }

    private struct Key: Hashable {
        var step: Int64
        var group: String?
    }

    /// The points, ordered by time.
    public let points: [Point]

    /// - Parameters:
    ///   - step: The length of a step, in minutes.
    ///   - from: The start of the first step, in minutes since 1970.
    public init(_ rows: [MinuteRow], from: Int64, step: Int64, grouping: ViewershipGrouping?) {
        var points: [Key: Point] = [:]
        for row in rows where row.key.minute >= from {
            let group = row.key.dimensions.flatMap { dimensions in grouping.map { $0.group(of: dimensions) } }
            guard grouping == nil || row.key.dimensions != nil else { continue }
            let index = (row.key.minute - from) / step
            let start = (from + index * step) * 60_000
            let key = Key(step: index, group: group)
            var point = points[key] ?? Point(at: start, group: group)
            if row.key.dimensions != nil { point.counts += row.counts }
            // A watched group has a peak, unless its rows are older than group peaks.
            if row.key.dimensions == nil || grouping != nil && row.maximum > 0 {
                point.peak = max(point.peak ?? 0, row.maximum)
            }
            points[key] = point
        }
        self.points = points.values.sorted { ($0.at, $0.group ?? "") < ($1.at, $1.group ?? "") }
    }
}

extension ViewershipGrouping {
    /// Returns the name of the group that a cell belongs to.
    public func group(of dimensions: Dimensions) -> String {
        switch self {
        case .playback: dimensions.playback.rawValue
        case .rendition: dimensions.rendition
        case .region: dimensions.region
        case .client: dimensions.client.rawValue
        }
    }
}
