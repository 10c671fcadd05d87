import Stage

/// One broadcast as a whole, from what the history has of it.
public struct BroadcastFigures: Sendable {
    /// The broadcast.
    public let broadcast: BroadcastRow
    /// What everybody did, and each group.
    public let slices: AudienceSlices
    /// Milliseconds over which the averages are.
    public let duration: Int64
    private let peak: Int

    /// - Parameters:
    ///   - sums: a row for each place in the dimensions.
    ///   - groups: what of the groups does not follow from those.
    ///   - now: milliseconds since 1970; where a broadcast is that lasts.
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

    /// Everybody.
    public var whole: AudienceSlices.Slice { slices.whole }

    /// The part of the viewers by requests whose players report of themselves, 0 to 1; nil without such viewers.
    ///
    /// Who took an id and was never seen again counts as one who does not report: where another server answers the
    /// requests and tells nothing, all players that do not report are among those. So it is never too high.
    public var coverage: Double? {
        let byProtocol = slices[.playback]
        let seen = [PlaybackProtocol.hls, .llhls].reduce(0) { $0 + (byProtocol[$1.rawValue]?.joins ?? 0) }
        let asked = seen + broadcast.unseen
        return asked > 0 ? min(1, Double(broadcast.heard) / Double(asked)) : nil
    }

    /// Viewers on average over the time on the air (ACV); of a broadcast whose program never was, over the whole of it.
    ///
    /// It is the average minute audience (AMA) as well: that of each minute, with the part of it that was on the air for its
    /// weight.
    public func average(of slice: AudienceSlices.Slice) -> Double {
        slices.average({ broadcast.onAir > 0 ? $0.aired : $0.watched }, of: slice, over: duration, peak: peak)
    }
}
