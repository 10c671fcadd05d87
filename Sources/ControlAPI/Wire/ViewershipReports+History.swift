import GatewayModel
import Stage
import Viewership

extension Timestamp {
    /// - Parameter milliseconds: since 1970.
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
        let whole = figures.whole
        let watched = Double(whole.watched) / 1000
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
        joins = whole.joins
        leaves = whole.leaves
        switches = whole.switches
        uniques = UniquesResource(broadcast.uniques)
        watchHours = watched / 3600
        averageWatchSeconds = whole.joins > 0 ? watched / Double(whole.joins) : 0
        averageStartupSeconds = whole.startup.average(of: whole.startups)
        stalledSeconds = Double(whole.stalled) / 1000
        rebufferRatio = whole.stalled.part(ofWatched: whole.watched)
        coverage = figures.coverage
        excluded = Dictionary(uniqueKeysWithValues: zip(Exclusion.allCases.map(\.rawValue), broadcast.excluded))
        byProtocol = figures.resources(.playback)
        byRendition = figures.resources(.rendition)
        byRegion = figures.resources(.region)
        byClient = figures.resources(.client)
    }
}

extension ViewershipPeriod {
    /// - Parameters: minutes since 1970.
    init(_ figures: PeriodFigures, from: Int64, to: Int64) {
        self.init(from: Timestamp(milliseconds: from * 60_000), to: Timestamp(milliseconds: to * 60_000))
        let whole = figures.whole
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
        joins = whole.joins
        leaves = whole.leaves
        switches = whole.switches
        uniques = whole.figures.uniques.map { UniquesResource($0) }
        watchHours = Double(whole.watched) / 3_600_000
        averageWatchSeconds = whole.joins > 0 ? Double(whole.watched) / 1000 / Double(whole.joins) : 0
        averageStartupSeconds = whole.startup.average(of: whole.startups)
        stalledSeconds = Double(whole.stalled) / 1000
        rebufferRatio = whole.stalled.part(ofWatched: whole.watched)
        byProtocol = figures.resources(.playback)
        byRendition = figures.resources(.rendition)
        byRegion = figures.resources(.region)
        byClient = figures.resources(.client)
    }
}

/// Figures of all viewers and of each group.
private protocol GroupedFigures {
    var slices: AudienceSlices { get }
    func average(of slice: AudienceSlices.Slice) -> Double
}

extension BroadcastFigures: GroupedFigures {}
extension PeriodFigures: GroupedFigures {}

extension GroupedFigures {
    fileprivate func resources(_ grouping: ViewershipTimeline.Grouping) -> [String: ViewershipSliceResource] {
        slices[grouping].mapValues { ViewershipSliceResource($0, average: average(of: $0)) }
    }
}

extension GroupFigures {
    fileprivate var peakKind: String { settledPeak == nil ? "live" : "settled" }

    /// Why there were more than were counted live; nil where there were not.
    fileprivate var peakNote: String? {
        guard let settledPeak, settledPeak.viewers > peak ?? 0 else { return nil }
        return "Settled, viewers count from their first media or playlist; live they did from the proof, seconds later."
    }
}

extension ViewershipSliceResource {
    /// - Parameter average: viewers on average over the time on the air.
    fileprivate init(_ slice: AudienceSlices.Slice, average: Double) {
        self.init()
        joins = slice.joins
        leaves = slice.leaves
        switches = slice.switches
        uniques = slice.figures.uniques.map { UniquesResource($0) }
        peakViewers = slice.figures.settledPeak?.viewers ?? slice.figures.peak
        peakKind = slice.figures.peakKind
        peakNote = slice.figures.peakNote
        livePeakViewers = slice.figures.peak
        averageViewers = average
        averageMinuteAudience = average
        watchTimeSeconds = Double(slice.watched) / 1000
        averageStartupSeconds = slice.startup.average(of: slice.startups)
        stalledSeconds = Double(slice.stalled) / 1000
        rebufferRatio = slice.stalled.part(ofWatched: slice.watched)
    }
}

extension Int64 {
    /// Seconds, of so many milliseconds, that each of `count` took; nil of nobody.
    fileprivate func average(of count: Int) -> Double? {
        count > 0 ? Double(self) / 1000 / Double(count) : nil
    }

    /// The part that a wait has of a time: what is watched is what is played and what is waited for in its midst, paused
    /// time apart.
    fileprivate func part(ofWatched watched: Int64) -> Double {
        self > 0 ? Double(self) / Double(Swift.max(watched, self)) : 0
    }
}

extension SeriesPointResource {
    /// - Parameter step: seconds.
    init(_ point: ViewershipTimeline.Point, step: Int) {
        self.init(
            at: Timestamp(milliseconds: point.at),
            group: point.group,
            averageViewers: Double(point.watched) / 1000 / Double(step),
            peakViewers: point.peak,
            joins: point.joins,
            leaves: point.leaves,
            watchTimeSeconds: Double(point.watched) / 1000,
            averageStartupSeconds: point.startup.average(of: point.startups),
            stalledSeconds: Double(point.stalled) / 1000
        )
    }
}

extension ViewerSessionResource {
    /// - Parameter gaps: of all playbacks with the row's code.
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
            playback: row.dimensions.playback.rawValue,
            rendition: row.dimensions.rendition,
            renditions: row.renditions,
            region: row.dimensions.region,
            client: row.dimensions.client.rawValue,
            switches: row.switches,
            bytes: Int(clamping: row.bytes),
            endReason: row.reason?.rawValue
        )
    }
}
