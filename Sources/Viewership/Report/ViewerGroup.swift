/// Some of the viewers: those that one of the ways of grouping them puts together.
public struct ViewerGroup: Sendable, Hashable {
    /// How they are grouped.
    public var grouping: ViewershipTimeline.Grouping
    /// Which of the groups, as `hls` or `DE`; empty for those of whom it is not known.
    public var name: String

    /// Names a group.
    public init(_ grouping: ViewershipTimeline.Grouping, _ name: String) {
        self.grouping = grouping
        self.name = name
    }
}

extension Dimensions {
    /// The groups that a viewer in this place belongs to, one of each grouping.
    public var groups: [ViewerGroup] {
        ViewershipTimeline.Grouping.allCases.map { ViewerGroup($0, $0.group(of: self)) }
    }
}

/// What of a group does not follow from minutes added up.
public struct GroupFigures: Sendable, Equatable {
    /// The most at once as they were counted live, looked at once a second; nil where none was ever seen.
    public var peak: Int?
    /// The most at once, settled; nil while that is not known.
    public var settledPeak: SettledPeak?
    /// Distinct viewers; nil where the sessions of which they are counted are kept no longer.
    public var uniques: UniqueViewers?

    /// Nobody's, or as given.
    public init(peak: Int? = nil, settledPeak: SettledPeak? = nil, uniques: UniqueViewers? = nil) {
        self.peak = peak
        self.settledPeak = settledPeak
        self.uniques = uniques
    }
}
