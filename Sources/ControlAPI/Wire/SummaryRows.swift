import GatewayModel

// A summary as a table: a line of everybody, and one of each group, with the same columns.

extension ViewershipSummary: ReportRow, AudienceFigures {
    static var columns: [String] {
        ["room", "began_at", "ended_at", "settled", "on_air_seconds"] + audienceColumns + ["coverage"]
    }

    var lines: [[CSVText.Cell]] {
        let beginning: [CSVText.Cell] = [
            .text(room), .time(beganAt), .time(endedAt), .text(settled ? "true" : "false"), .number(onAirSeconds),
        ]
        let groups = Self.lines(byProtocol, byRendition, byRegion, byClient)
        return [beginning + cells(peakAt: peakAt) + [.optional(coverage)]]
            + groups.map { beginning + $0 + [.nothing] }
    }

    fileprivate var peak: Int? { peakViewers }
    fileprivate var livePeak: Int? { livePeakViewers }
    fileprivate var distinct: UniquesResource? { uniques }
    fileprivate var watchSeconds: Double { watchHours * 3600 }
}

extension ViewershipPeriod: ReportRow, AudienceFigures {
    static var columns: [String] {
        ["from", "to", "broadcasts", "on_air_seconds"] + audienceColumns
    }

    var lines: [[CSVText.Cell]] {
        let beginning: [CSVText.Cell] = [.time(from), .time(to), .count(broadcasts), .number(onAirSeconds)]
        let groups = Self.lines(byProtocol, byRendition, byRegion, byClient)
        return ([cells(peakAt: peakAt)] + groups).map { beginning + $0 }
    }

    fileprivate var peak: Int? { peakViewers }
    fileprivate var livePeak: Int? { livePeakViewers }
    fileprivate var distinct: UniquesResource? { uniques }
    fileprivate var watchSeconds: Double { watchHours * 3600 }
}

extension ViewershipSliceResource: AudienceFigures {
    fileprivate var peak: Int? { peakViewers }
    fileprivate var livePeak: Int? { livePeakViewers }
    fileprivate var distinct: UniquesResource? { uniques }
    fileprivate var watchSeconds: Double { watchTimeSeconds }
}

/// What a summary says of everybody, and of each group of viewers as well.
private protocol AudienceFigures {
    var peak: Int? { get }
    var peakKind: String { get }
    var livePeak: Int? { get }
    var averageViewers: Double { get }
    var averageMinuteAudience: Double { get }
    var joins: Int { get }
    var leaves: Int { get }
    var switches: Int { get }
    var distinct: UniquesResource? { get }
    var watchSeconds: Double { get }
    var averageStartupSeconds: Double? { get }
    var stalledSeconds: Double { get }
    var rebufferRatio: Double { get }
}

extension AudienceFigures {
    fileprivate static var audienceColumns: [String] {
        [
            "group_by", "group", "peak_viewers", "peak_at", "peak_kind", "live_peak_viewers", "average_viewers",
            "average_minute_audience", "joins", "leaves", "switches", "unique_users", "unique_devices",
            "unique_estimated", "uniques_approximate", "watch_hours", "average_watch_seconds",
            "average_startup_seconds", "stalled_seconds", "rebuffer_ratio",
        ]
    }

    /// - Parameters:
    ///   - group: How the viewers are grouped, and which group these are; nil for everybody.
    ///   - peakAt: When the peak of everybody was.
    fileprivate func cells(
        group: (by: String, name: String)? = nil,
        peakAt: Timestamp? = nil
    ) -> [CSVText.Cell] {
        [
            .optional(group?.by), .optional(group?.name), .optional(peak), .time(peakAt),
            .optional(peak.map { _ in peakKind }), .optional(livePeak), .number(averageViewers),
            .number(averageMinuteAudience), .count(joins),
            .count(leaves), .count(switches), .optional(distinct?.users), .optional(distinct?.devices),
            .optional(distinct?.estimated),
            .optional(distinct.map { $0.approximate ? "true" : "false" }), .number(watchSeconds / 3600),
            .number(joins > 0 ? watchSeconds / Double(joins) : 0), .optional(averageStartupSeconds),
            .number(stalledSeconds), .number(rebufferRatio),
        ]
    }

    /// A line of each group of the four groupings.
    fileprivate static func lines(
        _ byProtocol: [String: ViewershipSliceResource],
        _ byRendition: [String: ViewershipSliceResource],
        _ byRegion: [String: ViewershipSliceResource],
        _ byClient: [String: ViewershipSliceResource]
    ) -> [[CSVText.Cell]] {
        [("protocol", byProtocol), ("rendition", byRendition), ("region", byRegion), ("client", byClient)]
            .flatMap { grouping, groups in
                groups.sorted { $0.key < $1.key }.map { $0.value.cells(group: (grouping, $0.key)) }
            }
    }
}
