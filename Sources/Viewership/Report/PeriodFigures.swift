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
        /// Minutes in which a program was on the air from beginning to end, and the milliseconds watched in them.
        public var wholeMinutes = (count: 0, watched: Int64(0))
        /// The most viewers at once, and in which minute since 1970 that was.
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
        self.air = air
        slices = AudienceSlices(sums, groups: groups, wholeWatched: air.wholeMinutes.watched)
    }

    /// Everybody.
    public var whole: AudienceSlices.Slice { slices.whole }

    /// Viewers on average over the time on the air, never more than there were at once.
    public func average(of slice: AudienceSlices.Slice) -> Double {
        slices.average(\.aired, of: slice, over: air.duration, peak: air.peak?.viewers)
    }

    /// Viewers on average over the whole minutes on the air.
    public func averageMinuteAudience(of slice: AudienceSlices.Slice) -> Double {
        guard air.wholeMinutes.count > 0 else { return average(of: slice) }
        let duration = Int64(air.wholeMinutes.count) * 60_000
        return slices.average(\.figures.wholeWatched, of: slice, over: duration, peak: air.peak?.viewers)
    }
}
