import Foundation
import FootlightModel
import Stage
import Viewership

extension ViewershipResource {
    init(_ report: RoomViewership) {
        self.init(
            room: report.room,
            concurrentViewers: report.concurrent,
            devices: report.devices,
            peakConcurrentViewers: report.peak,
            peakAt: report.peakAt.map { Timestamp($0) },
            joins: report.joins,
            watchTimeSeconds: report.watchTimeSeconds,
            asOf: Timestamp(report.asOf),
            staleMs: report.staleMs,
            recovering: report.recovering,
            by: BreakdownResource(report)
        )
        leaves = report.leaves
        resumable = report.resumable
        unfilteredViewers = report.unfiltered
        excluded = Dictionary(uniqueKeysWithValues: report.excluded.map { (.known($0.key), $0.value) })
        switches = report.counts.switches
        stalledSeconds = report.counts.stalledSeconds
        averageStartupSeconds = report.counts.averageStartupSeconds
        uniques = UniquesResource(report.uniques)
    }
}

extension BreakdownResource {
    init(_ report: RoomViewership) {
        let protocols = PlaybackProtocol.allCases.map { (WireEnum.known($0), report.byProtocol[$0] ?? 0) }
        let players = ClientClass.allCases.map { (WireEnum.known($0), report.byClient[$0] ?? 0) }
        self.init(
            byProtocol: Dictionary(uniqueKeysWithValues: protocols),
            byRendition: report.byRendition,
            byRegion: report.byRegion,
            byClient: Dictionary(uniqueKeysWithValues: players)
        )
    }
}

extension UniquesResource {
    init(_ viewers: UniqueViewers) {
        self.init(
            users: viewers.users,
            devices: viewers.devices,
            estimated: viewers.estimated,
            approximate: viewers.isApproximate
        )
    }
}

extension ViewershipTotalsResource {
    init(_ totals: ViewershipTotals) {
        self.init(
            total: ViewershipResource(totals.total),
            rooms: totals.rooms.map { ViewershipResource($0) }
        )
    }
}

extension ViewershipResource {
    /// The figures without their time, and with a coarse staleness.
    var withoutTimestamp: ViewershipResource {
        var figures = self
        figures.asOf = Timestamp(0)
        figures.staleMs = staleMs / 3000
        return figures
    }
}

extension ViewershipTotalsResource {
    /// The figures without their time.
    var withoutTimestamp: ViewershipTotalsResource {
        ViewershipTotalsResource(total: total.withoutTimestamp, rooms: rooms.map(\.withoutTimestamp))
    }
}

extension Timestamp {
    /// - Parameter milliseconds: Milliseconds since 1970.
    init(milliseconds: Int64) {
        self.init(Double(milliseconds) / 1000)
    }
}

extension ViewershipSummary {
    init(_ figures: BroadcastFigures) {
        let broadcast = figures.broadcast
        self.init(
            room: broadcast.room,
            beganAt: Timestamp(milliseconds: broadcast.began),
            endedAt: broadcast.ended.map { Timestamp(milliseconds: $0) }
        )
        if !broadcast.roomSID.isEmpty { roomSID = broadcast.roomSID }
        let (whole, counts) = (figures.whole, figures.whole.counts)
        onAirSeconds = Double(figures.duration) / 1000
        let peak = whole.figures.settledPeak
        peakViewers = peak?.viewers ?? broadcast.peak
        peakAt = (peak?.at ?? broadcast.peakAt).map { Timestamp(milliseconds: $0) }
        peakKind = whole.figures.peakKind
        peakNote = whole.figures.peakNote
        livePeakViewers = broadcast.peak
        averageViewers = figures.average(of: whole)
        averageMinuteAudience = averageViewers
        averageMinuteAudienceMinutes = Double(figures.duration) / 60_000
        joins = counts.joins
        leaves = counts.leaves.sum
        switches = counts.switches
        uniques = UniquesResource(broadcast.uniques)
        watchHours = counts.watchTimeSeconds / 3600
        averageWatchSeconds = counts.averageWatchSeconds
        averageStartupSeconds = counts.averageStartupSeconds
        stalledSeconds = counts.stalledSeconds
        rebufferRatio = counts.rebufferRatio
        coverage = figures.coverage
        excluded = Dictionary(
            uniqueKeysWithValues: zip(ExclusionReason.allCases.map { .known($0) }, broadcast.excluded)
        )
        byProtocol = figures.resources(.playback) { WireEnum(rawValue: $0) }
        byRendition = figures.resources(.rendition) { $0 }
        byRegion = figures.resources(.region) { $0 }
        byClient = figures.resources(.client) { WireEnum(rawValue: $0) }
    }
}

extension ViewershipPeriod {
    /// - Parameters: Minutes since 1970.
    init(_ figures: PeriodFigures, from: Int64, to: Int64) {
        self.init(from: Timestamp(milliseconds: from * 60_000), to: Timestamp(milliseconds: to * 60_000))
        let (whole, counts) = (figures.whole, figures.whole.counts)
        broadcasts = figures.air.broadcasts
        onAirSeconds = Double(figures.air.duration) / 1000
        let (live, settled) = (figures.air.peak, whole.figures.settledPeak)
        peakViewers = settled?.viewers ?? live?.viewers ?? 0
        peakAt = (settled?.at ?? live.map { $0.minute * 60_000 }).map { Timestamp(milliseconds: $0) }
        peakKind = whole.figures.peakKind
        peakNote = whole.figures.peakNote
        livePeakViewers = live?.viewers ?? 0
        averageViewers = figures.average(of: whole)
        averageMinuteAudience = averageViewers
        averageMinuteAudienceMinutes = Double(figures.air.duration) / 60_000
        joins = counts.joins
        leaves = counts.leaves.sum
        switches = counts.switches
        uniques = whole.figures.uniques.map { UniquesResource($0) }
        watchHours = Double(counts.watched) / 3_600_000
        averageWatchSeconds = counts.averageWatchSeconds
        averageStartupSeconds = counts.averageStartupSeconds
        stalledSeconds = counts.stalledSeconds
        rebufferRatio = counts.rebufferRatio
        byProtocol = figures.resources(.playback) { WireEnum(rawValue: $0) }
        byRendition = figures.resources(.rendition) { $0 }
        byRegion = figures.resources(.region) { $0 }
        byClient = figures.resources(.client) { WireEnum(rawValue: $0) }
    }
}

/// The figures of all viewers and of each group.
private protocol GroupedFigures {
    var slices: AudienceSlices { get }
    func average(of slice: AudienceSlices.Slice) -> Double
}

extension BroadcastFigures: GroupedFigures {}
extension PeriodFigures: GroupedFigures {}

extension GroupedFigures {
    fileprivate func resources<Group: Hashable>(
        _ grouping: ViewershipGrouping,
        group: (String) -> Group
    ) -> [Group: ViewershipSliceResource] {
        let resources = slices[grouping].map { (group($0), ViewershipSliceResource($1, average: average(of: $1))) }
        return Dictionary(uniqueKeysWithValues: resources)
    }
}

extension GroupFigures {
    fileprivate var peakKind: WireEnum<PeakKind> { .known(settledPeak == nil ? .live : .settled) }

    /// The explanation why the settled peak exceeds the live one; nil if it does not.
    fileprivate var peakNote: String? {
        guard let settledPeak, settledPeak.viewers > peak ?? 0 else { return nil }
        return "Settled, viewers count from their first media or playlist; live they did from the proof, seconds later."
    }
}

extension ViewershipSliceResource {
    /// - Parameter average: The average number of viewers over the time on air.
    fileprivate init(_ slice: AudienceSlices.Slice, average: Double) {
        self.init()
        joins = slice.counts.joins
        leaves = slice.counts.leaves.sum
        switches = slice.counts.switches
        uniques = slice.figures.uniques.map { UniquesResource($0) }
        peakViewers = slice.figures.settledPeak?.viewers ?? slice.figures.peak
        peakKind = slice.figures.peakKind
        peakNote = slice.figures.peakNote
        livePeakViewers = slice.figures.peak
        averageViewers = average
        averageMinuteAudience = average
        watchTimeSeconds = slice.counts.watchTimeSeconds
        averageStartupSeconds = slice.counts.averageStartupSeconds
        stalledSeconds = slice.counts.stalledSeconds
        rebufferRatio = slice.counts.rebufferRatio
    }
}

extension SeriesPointResource {
    /// - Parameter step: Seconds.
    init(_ point: ViewershipTimeline.Point, step: Int) {
        self.init(
            at: Timestamp(milliseconds: point.at),
            group: point.group,
            averageViewers: point.counts.watchTimeSeconds / Double(step),
            peakViewers: point.peak,
            joins: point.counts.joins,
            leaves: point.counts.leaves.sum,
            watchTimeSeconds: point.counts.watchTimeSeconds,
            averageStartupSeconds: point.counts.averageStartupSeconds,
            stalledSeconds: point.counts.stalledSeconds
        )
    }
}

extension RetentionPointResource {
    init(_ point: AudienceRetention.Point) {
        self.init(
            afterSeconds: Int(clamping: point.after / 1000),
            joins: point.joins,
            watching: point.watching,
            share: point.joins > 0 ? Double(point.watching) / Double(point.joins) : 0
        )
    }
}

extension ViewerSessionResource {
    /// - Parameter gaps: The absences of all playbacks with the row's code.
    init(_ row: SessionRow, gaps: [GapRow]) {
        self.init(
            id: String(row.code, radix: 16),
            startedAt: Timestamp(milliseconds: row.start),
            endedAt: row.end.map { Timestamp(milliseconds: $0) },
            away: gaps.filter { row.start <= $0.from && $0.to <= row.end ?? .max }.map {
                AbsenceResource(from: Timestamp(milliseconds: $0.from), to: Timestamp(milliseconds: $0.to))
            },
            watchTimeSeconds: Double(row.watched) / 1000,
            stalledSeconds: Double(row.stalled) / 1000,
            playback: .known(row.dimensions.playback),
            rendition: row.dimensions.rendition,
            renditions: row.renditions,
            region: row.dimensions.region,
            client: .known(row.dimensions.client),
            switches: row.switches,
            bytes: Int(clamping: row.bytes),
            endReason: row.reason.map { .known($0) }
        )
    }
}

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

extension RetentionPointResource: ReportRow {
    static var columns: [String] { ["after_seconds", "joins", "watching", "share"] }

    var lines: [[CSVText.Cell]] { [[.count(afterSeconds), .count(joins), .count(watching), .number(share)]] }
}

extension ViewerSessionResource: ReportRow {
    static var columns: [String] {
        [
            "id", "started_at", "ended_at", "away", "watch_time_seconds", "stalled_seconds", "protocol", "rendition",
            "renditions", "region", "client", "switches", "bytes", "end_reason",
        ]
    }

    /// Maximum number of absences in a cell, so that it fits the limits of spreadsheets.
    private static let maximumAbsences = 32

    /// The absences as ISO 8601 intervals, and the number of further ones.
    private var absencesText: String {
        let times = away.prefix(Self.maximumAbsences).map { "\($0.from.text)/\($0.to.text)" }
        let more = away.count - times.count
        return (times + (more > 0 ? ["+\(more)"] : [])).joined(separator: " ")
    }

    var lines: [[CSVText.Cell]] {
        [
            [
                .text(id), .time(startedAt), .time(endedAt), .text(absencesText), .number(watchTimeSeconds),
                .number(stalledSeconds), .text(playback.rawValue), .text(rendition),
                .text(renditions.joined(separator: " ")),
                .text(region), .text(client.rawValue), .count(switches), .count(bytes), .optional(endReason?.rawValue),
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
        let protocols: [PlaybackProtocol] = [.sdk, .rtmp, .flv, .hls, .llhls]
        let byProtocolCells = protocols.map { CSVText.Cell.count(by.byProtocol[.known($0)] ?? 0) }
        let more: [CSVText.Cell] = [
            .count(resumable), .count(switches), .count(uniques.users), .count(uniques.devices),
            .count(uniques.estimated), .text(uniques.approximate ? "true" : "false"),
            .optional(averageStartupSeconds), .number(stalledSeconds),
            .text(recovering ? "true" : "false"),
        ]
        return [figures + byProtocolCells + more]
    }
}

// A summary as a table: a line for all viewers and one for each group, with the same columns.

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

/// The figures that a summary has for all viewers and for each group.
private protocol AudienceFigures {
    var peak: Int? { get }
    var peakKind: WireEnum<PeakKind> { get }
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
    ///   - group: The grouping and the group's name; nil for all viewers.
    ///   - peakAt: The time of the peak of all viewers.
    fileprivate func cells(
        group: (by: String, name: String)? = nil,
        peakAt: Timestamp? = nil
    ) -> [CSVText.Cell] {
        [
            .optional(group?.by), .optional(group?.name), .optional(peak), .time(peakAt),
            .optional(peak.map { _ in peakKind.rawValue }), .optional(livePeak), .number(averageViewers),
            .number(averageMinuteAudience), .count(joins),
            .count(leaves), .count(switches), .optional(distinct?.users), .optional(distinct?.devices),
            .optional(distinct?.estimated),
            .optional(distinct.map { $0.approximate ? "true" : "false" }), .number(watchSeconds / 3600),
            .number(joins > 0 ? watchSeconds / Double(joins) : 0), .optional(averageStartupSeconds),
            .number(stalledSeconds), .number(rebufferRatio),
        ]
    }

    /// Returns a line for each group of the four groupings.
    fileprivate static func lines(
        _ byProtocol: [WireEnum<PlaybackProtocol>: ViewershipSliceResource],
        _ byRendition: [String: ViewershipSliceResource],
        _ byRegion: [String: ViewershipSliceResource],
        _ byClient: [WireEnum<ClientClass>: ViewershipSliceResource]
    ) -> [[CSVText.Cell]] {
        [
            ("protocol", byProtocol.map { ($0.rawValue, $1) }), ("rendition", byRendition.map { ($0, $1) }),
            ("region", byRegion.map { ($0, $1) }), ("client", byClient.map { ($0.rawValue, $1) }),
        ]
        .flatMap { grouping, groups in
            groups.sorted { $0.0 < $1.0 }.map { $1.cells(group: (grouping, $0)) }
        }
    }
}
