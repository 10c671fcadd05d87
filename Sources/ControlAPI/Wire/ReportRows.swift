import GatewayModel

extension CSVText.Cell {
    fileprivate static func time(_ time: Timestamp?) -> CSVText.Cell {
        time.map { .text($0.text) } ?? .nothing
    }

    fileprivate static func optional(_ text: String?) -> CSVText.Cell {
        text.map { .text($0) } ?? .nothing
    }
}

extension SeriesPointResource: ReportRow {
    static var columns: [String] {
        ["at", "group", "average_viewers", "peak_viewers", "joins", "leaves", "watch_time_seconds"]
    }

    var cells: [CSVText.Cell] {
        [
            .time(at), .optional(group), .number(averageViewers), peakViewers.map { .count($0) } ?? .nothing,
            .count(joins), .count(leaves), .number(watchTimeSeconds),
        ]
    }
}

extension ViewerSessionResource: ReportRow {
    static var columns: [String] {
        [
            "id", "started_at", "ended_at", "away", "watch_time_seconds", "stalled_seconds", "protocol", "rendition",
            "renditions", "region", "client", "switches", "bytes", "end_reason",
        ]
    }

    /// Times away that a cell holds, so that none is longer than a spreadsheet takes.
    private static let awayLimit = 32

    /// The times away as intervals of ISO 8601, and how many there are beyond those.
    private var awayText: String {
        let times = away.prefix(Self.awayLimit).map { "\($0.from.text)/\($0.to.text)" }
        let more = away.count - times.count
        return (times + (more > 0 ? ["+\(more)"] : [])).joined(separator: " ")
    }

    var cells: [CSVText.Cell] {
        [
            .text(id), .time(startedAt), .time(endedAt), .text(awayText), .number(watchTimeSeconds),
            .number(stalledSeconds), .text(playback), .text(rendition), .text(renditions.joined(separator: " ")),
            .text(region), .text(client), .count(switches), .count(bytes), .optional(endReason),
        ]
    }
}

extension ViewershipSummary: ReportRow {
    static var columns: [String] {
        [
            "room", "began_at", "ended_at", "on_air_seconds", "peak_viewers", "peak_at", "live_peak_viewers",
            "average_viewers", "average_minute_audience", "joins", "leaves", "switches", "unique_users",
            "unique_devices",
            "unique_estimated", "watch_hours", "average_watch_seconds", "average_startup_seconds", "stalled_seconds",
            "rebuffer_ratio", "coverage", "settled",
        ]
    }

    var cells: [CSVText.Cell] {
        [
            .text(room), .time(beganAt), .time(endedAt), .number(onAirSeconds), .count(peakViewers), .time(peakAt),
            .count(livePeakViewers), .number(averageViewers), .number(averageMinuteAudience), .count(joins),
            .count(leaves), .count(switches), .count(uniques.users), .count(uniques.devices), .count(uniques.estimated),
            .number(watchHours), .number(averageWatchSeconds), averageStartupSeconds.map { .number($0) } ?? .nothing,
            .number(stalledSeconds), .number(rebufferRatio),
            coverage.map { .number($0) } ?? .nothing, .text(settled ? "true" : "false"),
        ]
    }
}

extension ViewershipPeriod: ReportRow {
    private static let ways = ["sdk", "rtmp", "flv", "hls", "llhls"]

    static var columns: [String] {
        [
            "from", "to", "broadcasts", "on_air_seconds", "peak_viewers", "peak_at", "average_viewers",
            "average_minute_audience", "joins", "leaves", "switches", "watch_hours", "average_watch_seconds",
        ] + ways.flatMap { ["\($0)_joins", "\($0)_watch_time_seconds", "\($0)_average_viewers"] }
    }

    var cells: [CSVText.Cell] {
        let whole: [CSVText.Cell] = [
            .time(from), .time(to), .count(broadcasts), .number(onAirSeconds), .count(peakViewers), .time(peakAt),
            .number(averageViewers), .number(averageMinuteAudience), .count(joins), .count(leaves), .count(switches),
            .number(watchHours), .number(averageWatchSeconds),
        ]
        return whole
            + Self.ways.flatMap { way -> [CSVText.Cell] in
                let slice =
                    byProtocol[way] ?? ViewershipSliceResource(joins: 0, watchTimeSeconds: 0, averageViewers: 0)
                return [.count(slice.joins), .number(slice.watchTimeSeconds), .number(slice.averageViewers)]
            }
    }
}

extension ViewershipResource: ReportRow {
    static var columns: [String] {
        ["room", "as_of", "concurrent_viewers", "devices", "peak_concurrent_viewers", "peak_at", "joins", "leaves"]
            + ["watch_time_seconds", "unfiltered_viewers", "sdk", "rtmp", "flv", "hls", "llhls"]
            + ["resumable", "switches", "unique_users", "unique_devices", "unique_estimated", "uniques_approximate"]
            + ["average_startup_seconds", "stalled_seconds", "recovering"]
    }

    var cells: [CSVText.Cell] {
        let figures: [CSVText.Cell] = [
            .text(room), .time(asOf), .count(concurrentViewers), .count(devices), .count(peakConcurrentViewers),
            .time(peakAt), .count(joins), .count(leaves), .number(watchTimeSeconds), .count(unfilteredViewers),
        ]
        let ways = ["sdk", "rtmp", "flv", "hls", "llhls"].map { CSVText.Cell.count(by.byProtocol[$0] ?? 0) }
        let more: [CSVText.Cell] = [
            .count(resumable), .count(switches), .count(uniques.users), .count(uniques.devices),
            .count(uniques.estimated), .text(uniques.approximate ? "true" : "false"),
            averageStartupSeconds.map { .number($0) } ?? .nothing, .number(stalledSeconds),
            .text(recovering ? "true" : "false"),
        ]
        return figures + ways + more
    }
}
