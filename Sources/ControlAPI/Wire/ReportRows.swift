import GatewayModel

extension SeriesPointResource: ReportRow {
    static var columns: [String] {
        ["at", "group", "average_viewers", "peak_viewers", "joins", "leaves", "watch_time_seconds"]
            + ["average_startup_seconds", "stalled_seconds"]
    }

    var lines: [[CSVText.Cell]] {
        [
            [
                .time(at), .optional(group), .number(averageViewers), .optional(peakViewers),
                .count(joins), .count(leaves), .number(watchTimeSeconds), .optional(averageStartupSeconds),
                .number(stalledSeconds),
            ]
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

    var lines: [[CSVText.Cell]] {
        [
            [
                .text(id), .time(startedAt), .time(endedAt), .text(awayText), .number(watchTimeSeconds),
                .number(stalledSeconds), .text(playback), .text(rendition), .text(renditions.joined(separator: " ")),
                .text(region), .text(client), .count(switches), .count(bytes), .optional(endReason),
            ]
        ]
    }
}

extension ViewershipResource: ReportRow {
    static var columns: [String] {
        ["room", "as_of", "concurrent_viewers", "devices", "peak_concurrent_viewers", "peak_at", "joins", "leaves"]
            + ["watch_time_seconds", "unfiltered_viewers", "sdk", "rtmp", "flv", "hls", "llhls"]
            + ["resumable", "switches", "unique_users", "unique_devices", "unique_estimated", "uniques_approximate"]
            + ["average_startup_seconds", "stalled_seconds", "recovering"]
    }

    var lines: [[CSVText.Cell]] {
        let figures: [CSVText.Cell] = [
            .text(room), .time(asOf), .count(concurrentViewers), .count(devices), .count(peakConcurrentViewers),
            .time(peakAt), .count(joins), .count(leaves), .number(watchTimeSeconds), .count(unfilteredViewers),
        ]
        let ways = ["sdk", "rtmp", "flv", "hls", "llhls"].map { CSVText.Cell.count(by.byProtocol[$0] ?? 0) }
        let more: [CSVText.Cell] = [
            .count(resumable), .count(switches), .count(uniques.users), .count(uniques.devices),
            .count(uniques.estimated), .text(uniques.approximate ? "true" : "false"),
            .optional(averageStartupSeconds), .number(stalledSeconds),
            .text(recovering ? "true" : "false"),
        ]
        return [figures + ways + more]
    }
}
