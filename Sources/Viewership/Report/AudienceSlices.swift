public import Stage

/// The sums of all viewers and of each group.
public struct AudienceSlices: Sendable {
    /// The sums of one group of viewers.
    public struct Slice: Sendable, Equatable {
        /// The counts.
        public var counts = AudienceCounts.zero
        /// The part of the watch time that was on air, in milliseconds.
        public var aired: Int64 = 0
        /// The figures that cannot be summed.
        public var figures = GroupFigures()
    }

    /// The sums of all viewers.
    public private(set) var whole = Slice()
    private var slices: [ViewerGroup: Slice] = [:]

    /// - Parameters:
    ///   - sums: One row per cell; rows of whole rooms are ignored.
    ///   - groups: The figures that cannot be summed.
    public init(_ sums: [MinuteRow], groups: [ViewerGroup?: GroupFigures] = [:]) {
        for row in sums {
            guard let dimensions = row.key.dimensions else { continue }
            whole.add(row)
            for group in dimensions.groups { slices[group, default: Slice()].add(row) }
        }
        whole.figures = groups[nil] ?? GroupFigures()
        for group in slices.keys { slices[group]?.figures = groups[group] ?? GroupFigures() }
    }

    /// Returns the groups of a grouping, by name.
    public subscript(grouping: ViewershipGrouping) -> [String: Slice] {
        var groups: [String: Slice] = [:]
        for (group, slice) in slices where group.grouping == grouping { groups[group.name] = slice }
        return groups
    }

    /// Returns the average audience: the area under the viewer count over a period, divided by its length.
    ///
    /// Watch time is counted on qualification, some seconds late, so that the area at the edges of a period may exceed
    /// its peak. Then all groups are scaled down alike.
    ///
    /// - Parameters:
    ///   - area: The watch time in the period, in milliseconds.
    ///   - duration: The length of the period, in milliseconds.
    ///   - peak: The concurrent peak; nil when unknown.
    func average(
        _ area: (Slice) -> Int64,
        of slice: Slice,
        over duration: Int64,
        peak: Int?
    ) -> Double {
        guard duration > 0, area(whole) > 0 else { return 0 }
        let all = Double(area(whole)) / Double(duration)
        let most = peak.map { Double($0) } ?? all
        return min(1, most / all) * Double(area(slice)) / Double(duration)
    }
}

extension AudienceSlices.Slice {
    mutating func add(_ row: MinuteRow) {
        counts += row.counts
        aired += row.aired
    }
}

/// A group of viewers with the same value of one dimension.
public struct ViewerGroup: Sendable, Hashable {
    /// The dimension.
    public var grouping: ViewershipGrouping
    /// The value, such as `hls` or `DE`; empty when unknown.
    public var name: String

    /// Creates a group.
    public init(_ grouping: ViewershipGrouping, _ name: String) {
        self.grouping = grouping
        self.name = name
    }
}

extension Dimensions {
    /// The groups that a viewer in this cell belongs to, one per grouping.
    public var groups: [ViewerGroup] {
        ViewershipGrouping.allCases.map { ViewerGroup($0, $0.group(of: self)) }
    }
}

/// The figures of a group that cannot be summed over minutes.
public struct GroupFigures: Sendable, Equatable {
    /// The concurrent peak, sampled once a second; nil without any viewer.
    public var peak: Int?
    /// The settled peak; nil while unknown.
    public var settledPeak: SettledPeak?
    /// Distinct viewers; nil when the sessions have expired.
    public var uniques: UniqueViewers?

    /// Creates figures; unknown by default.
    public init(peak: Int? = nil, settledPeak: SettledPeak? = nil, uniques: UniqueViewers? = nil) {
        self.peak = peak
        self.settledPeak = settledPeak
        self.uniques = uniques
    }
}
