import Stage

/// The report of one broadcast, computed from the history.
public struct BroadcastFigures: Sendable {
    /// The broadcast.
    public let broadcast: BroadcastRow
    /// The sums of all viewers and of each group.
    public let slices: AudienceSlices
    /// The duration of the averages, in milliseconds.
    public let duration: Int64
    private let peak: Int

    /// - Parameters:
    ///   - sums: One row per cell of the dimensions.
    ///   - groups: The figures that cannot be summed.
    ///   - now: Milliseconds since 1970; the end of a broadcast in progress.
    public init(
        broadcast: BroadcastRow,
        sums: [MinuteRow],
        groups: [ViewerGroup?: GroupFigures] = [:],
        now: Int64
    ) {
        var groups = groups
        groups[nil, default: GroupFigures()].peak = broadcast.peak
        self.broadcast = broadcast
        peak = groups[nil]?.settledPeak?.viewers ?? broadcast.peak
        let end = broadcast.ended ?? now
        duration = broadcast.onAir > 0 ? broadcast.onAir : max(0, end - broadcast.began)
        slices = AudienceSlices(sums, groups: groups)
    }

    /// The sums of all viewers.
    public var whole: AudienceSlices.Slice { slices.whole }

    /// The share of HLS viewers whose players send reports, 0 to 1; nil without HLS viewers.
    ///
    /// An id that was issued and never used counts as a viewer without reports, because it may play through a server
    /// that forwards no requests. So the share is never too high.
    public var coverage: Double? {
        let byProtocol = slices[.playback]
        let seen = [PlaybackProtocol.hls, .llhls].reduce(0) { $0 + (byProtocol[$1.rawValue]?.counts.joins ?? 0) }
        let asked = seen + broadcast.unusedIDs
        return asked > 0 ? min(1, Double(broadcast.reportingSessions) / Double(asked)) : nil
    }

    /// Returns the average concurrent viewers (ACV) over the time on air, or over the whole broadcast without any.
    ///
    /// This is also the average minute audience (AMA), with each minute weighted by its part on air.
    public func average(of slice: AudienceSlices.Slice) -> Double {
        slices.average({ broadcast.onAir > 0 ? $0.aired : $0.counts.watched }, of: slice, over: duration, peak: peak)
    }
}

/// The report of all rooms together over a period of whole minutes.
public struct PeriodFigures: Sendable {
    /// The time on air and the figures of single minutes.
    public struct Air: Sendable {
        /// The number of broadcasts with any counts.
        public var broadcasts = 0
        /// The time on air of any program, in milliseconds; of a minute that is on air in part, the longest program
        /// counts.
        public var duration: Int64 = 0
        /// The concurrent peak as it was counted live, and its minute since 1970.
        public var peak: (viewers: Int, minute: Int64)?

        /// Creates an empty value.
        public init() {}
    }

    /// The sums of all viewers and of each group.
    public let slices: AudienceSlices
    /// The time on air and the peak.
    public let air: Air

    /// - Parameters:
    ///   - sums: One row per cell of the dimensions.
    ///   - groups: The figures that cannot be summed.
    ///   - air: The time on air and the peak.
    public init(sums: [MinuteRow], groups: [ViewerGroup?: GroupFigures] = [:], air: Air) {
        var groups = groups
        groups[nil, default: GroupFigures()].peak = air.peak?.viewers
        self.air = air
        slices = AudienceSlices(sums, groups: groups)
    }

    /// The sums of all viewers.
    public var whole: AudienceSlices.Slice { slices.whole }

    /// Returns the average concurrent viewers over the time on air (ACV and AMA), never above the peak.
    public func average(of slice: AudienceSlices.Slice) -> Double {
        let peak = whole.figures.settledPeak?.viewers ?? whole.figures.peak
        return slices.average(\.aired, of: slice, over: air.duration, peak: peak)
    }
}

/// The scope of a report.
public enum ReportScope: Sendable, Hashable {
    /// One broadcast, by epoch.
    case broadcast(Int64)
    /// All rooms together in a range of minutes since 1970.
    case period(Range<Int64>)
}
