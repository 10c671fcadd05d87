import Stage

/// What all viewers did together, and what each group of them did.
public struct AudienceSlices: Sendable {
    /// What one group of viewers did.
    public struct Slice: Sendable, Equatable {
        /// Sessions that were proven to watch.
        public var joins = 0
        /// Sessions that ended for good.
        public var leaves = 0
        /// Changes of rendition or protocol.
        public var switches = 0
        /// Milliseconds.
        public var watched: Int64 = 0
        /// Milliseconds of them while the program was on the air.
        public var aired: Int64 = 0
        /// Milliseconds that players waited for media in the midst of it.
        public var stalled: Int64 = 0
        /// Milliseconds from wish to picture, of those of whom it is known.
        public var startup: Int64 = 0
        /// How many `startup` is of.
        public var startups = 0
        /// What does not follow from the minutes.
        public var figures = GroupFigures()
    }

    /// Everybody.
    public private(set) var whole = Slice()
    private var slices: [ViewerGroup: Slice] = [:]

    /// - Parameters:
    ///   - sums: a row for each place in the dimensions; rows of the whole are passed over.
    ///   - groups: what does not follow from those.
    public init(_ sums: [MinuteRow], groups: [ViewerGroup?: GroupFigures] = [:]) {
        for row in sums {
            guard let dimensions = row.key.dimensions else { continue }
            whole.add(row)
            for group in dimensions.groups { slices[group, default: Slice()].add(row) }
        }
        whole.figures = groups[nil] ?? GroupFigures()
        for group in slices.keys { slices[group]?.figures = groups[group] ?? GroupFigures() }
    }

    /// The groups of one grouping, by their names.
    public subscript(grouping: ViewershipTimeline.Grouping) -> [String: Slice] {
        var groups: [String: Slice] = [:]
        for (group, slice) in slices where group.grouping == grouping { groups[group.name] = slice }
        return groups
    }

    /// Viewers on average: the area under the number of viewers over a time, divided by that time.
    ///
    /// Watching is booked when it is proven, some seconds late: at the edges that may be more than there ever were at
    /// once. Then all groups are taken down alike.
    ///
    /// - Parameters:
    ///   - area: milliseconds watched in the time.
    ///   - duration: the time, milliseconds.
    ///   - peak: the most at once; nil where that is not known.
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
        joins += row.joins
        leaves += row.leaves.reduce(0, +)
        switches += row.switches
        watched += row.watched
        aired += row.aired
        stalled += row.stalled
        startup += row.startup
        startups += row.startups
    }
}
