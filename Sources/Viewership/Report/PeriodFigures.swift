import Stage

/// What was watched in all rooms together from one minute to another.
public struct PeriodFigures: Sendable {
    /// When programs were on the air, and what the single minutes tell beyond their sum.
    public struct Air: Sendable {
        /// Broadcasts of which anything was counted.
        public var broadcasts = 0
        /// Milliseconds in which any program was on the air; in a minute that none was from beginning to end, those of the
        /// one that was for longest.
        public var duration: Int64 = 0
        /// The most viewers at once as they were counted live, and in which minute since 1970 that was.
        public var peak: (viewers: Int, minute: Int64)?

        /// Nothing was.
        public init() {}
    }

    /// What everybody did, and each group.
    public let slices: AudienceSlices
    /// The time on the air.
    public let air: Air

    /// - Parameters:
    ///   - sums: a row for each place in the dimensions.
    ///   - groups: what of the groups does not follow from those.
    ///   - air: when programs were on the air.
    public init(sums: [MinuteRow], groups: [ViewerGroup?: GroupFigures] = [:], air: Air) {
        var groups = groups
        groups[nil, default: GroupFigures()].peak = air.peak?.viewers
        self.air = air
        slices = AudienceSlices(sums, groups: groups)
    }

    /// Everybody.
    public var whole: AudienceSlices.Slice { slices.whole }

    /// Viewers on average over the time on the air (ACV, and AMA), never more than there were at once.
    public func average(of slice: AudienceSlices.Slice) -> Double {
        let peak = whole.figures.settledPeak?.viewers ?? whole.figures.peak
        return slices.average(\.aired, of: slice, over: air.duration, peak: peak)
    }
}
