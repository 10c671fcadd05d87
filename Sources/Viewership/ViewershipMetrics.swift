import Media
import Stage
import Synchronization

extension ViewershipLedger {
    /// Returns the metrics of the audience, for a renderer.
    ///
    /// Labels name rooms, protocols, renditions, regions and reasons, never a viewer. Rooms beyond the configured
    /// number are summed as `room="_other"`; an ended room goes to 0 and disappears after the retention.
    public func metrics() -> [MetricFamily] {
        let snapshot = publishedSnapshot(at: clock.now)
        var page = MetricsPage()
        let figures = snapshot.figures().reduce(into: [:]) { $0[$1.key] = snapshot.published($1.value, of: $1.key) }
        let rooms = published(figures).map { (name: $0.key, figures: $0.value, live: $0.value.live) }
            .sorted { $0.live == $1.live ? $0.name < $1.name : $0.live > $1.live }
        for room in rooms.prefix(configuration.labelledRooms) {
            let entry = snapshot.roomReports[room.name]
            page.peak.add(entry?.ended == nil ? Double(entry?.peak ?? 0) : 0, ("room", room.name))
            page.add(room.name, room.figures)
        }
        if rooms.count > configuration.labelledRooms {
            var other = RoomFigures()
            for room in rooms.dropFirst(configuration.labelledRooms) {
                for (dimensions, cell) in room.figures.cells {
                    // The sum is by protocol only.
                    other.cells[Dimensions(playback: dimensions.playback), default: .init()] += cell
                }
                other.counters += room.figures.counters
            }
            page.add("_other", other)
        }
        return page.families + [startup(snapshot.startups)] + processFamilies(snapshot)
    }

    /// Returns the maximum of the current and the published watch time, because a late end reduces it and a counter
    /// must not decrease.
    private func published(_ figures: [String: RoomFigures]) -> [String: RoomFigures] {
        publishedWatchTime.withLock { given in
            given = given.filter { figures[$0.key] != nil }
            return figures.reduce(into: [:]) { result, room in
                var figures = room.value
                for dimensions in figures.cells.keys {
                    let watch = max(
                        given[room.key]?[dimensions] ?? 0,
                        figures.cells[dimensions]?.counts.watched ?? 0
                    )
                    given[room.key, default: [:]][dimensions] = watch
                    figures.cells[dimensions]?.counts.watched = watch
                }
                result[room.key] = figures
            }
        }
    }

    private func startup(_ histogram: StartupHistogram) -> MetricFamily {
        var family = MetricFamily(
            "footlight_viewer_startup_seconds",
            .histogram,
            "Time from a viewer's request to its first media."
        )
        family.addHistogram(bounds: StartupHistogram.bounds, counts: histogram.counts, sum: histogram.sum)
        return family
    }

    private func processFamilies(_ snapshot: AudienceSnapshot) -> [MetricFamily] {
        var requests = MetricFamily("footlight_beats_total", .counter, "Playlist and segment requests of viewers.")
        requests.add(Double(snapshot.requests))
        var adopted = MetricFamily(
            "footlight_viewer_sessions_adopted_total",
            .counter,
            "Viewer sessions of an earlier run that were adopted."
        )
        adopted.add(Double(snapshot.adopted))
        let rejected = snapshot.rejected
        var rejections = MetricFamily("footlight_beats_rejected_total", .counter, "Rejected session ids and events.")
        for reason in AudienceShard.Rejection.allCases {
            var count = rejected[reason] ?? 0
            switch reason {
            case .mac: count += refusedCodes.load(ordering: .relaxed)
            case .malformed: count += refusedForms.load(ordering: .relaxed) + refusedLines.load(ordering: .relaxed)
            case .full: break
            }
            rejections.add(Double(count), ("reason", reason.rawValue))
        }
        rejections.add(Double(refusedSenders.load(ordering: .relaxed)), ("reason", "sender"))
        rejections.add(Double(refusedRooms.load(ordering: .relaxed)), ("reason", "room"))
        var robots = MetricFamily("footlight_robot_list_info", .gauge, "The list by which robots are recognized.")
        robots.add(1, ("source", BotNames.source), ("date", BotNames.date))
        return [requests, rejections, adopted, robots]
    }
}

/// The families with samples for every room.
private struct MetricsPage {
    private var viewers = MetricFamily("footlight_viewers", .gauge, "Concurrent viewers.")
    var peak = MetricFamily("footlight_viewers_peak", .gauge, "Peak of concurrent viewers in this broadcast.")
    private var joins = MetricFamily("footlight_viewer_joins_total", .counter, "Qualified viewer sessions.")
    private var leaves = MetricFamily(
        "footlight_viewer_leaves_total",
        .counter,
        "Viewer sessions that ended for good."
    )
    private var watch = MetricFamily(
        "footlight_viewer_watch_seconds_total",
        .counter,
        "Time watched by all viewers."
    )
    private var switches = MetricFamily(
        "footlight_viewer_switches_total",
        .counter,
        "Switches of rendition or protocol by viewers."
    )
    private var stalled = MetricFamily(
        "footlight_viewer_stalled_seconds_total",
        .counter,
        "Rebuffering time of viewers."
    )
    private var excluded = MetricFamily(
        "footlight_viewers_excluded_total",
        .counter,
        "Excluded sessions and requests."
    )

    var families: [MetricFamily] { [viewers, peak, joins, leaves, watch, switches, stalled, excluded] }

    /// The maximum number of series per room, by watch time.
    private static let seriesLimit = 64

    /// Sums the cells beyond the limit by protocol, as the region `_other`.
    private static func bounded(_ cells: [Dimensions: RoomFigures.CellFigures]) -> [Dimensions: RoomFigures.CellFigures]
    {
        guard cells.count > seriesLimit else { return cells }
        var bounded: [Dimensions: RoomFigures.CellFigures] = [:]
        let order = cells.sorted { $0.value.counts.watched > $1.value.counts.watched }
        for (position, entry) in order.enumerated() {
            let isOwn = position < seriesLimit || entry.key == Dimensions(playback: entry.key.playback)
            let key = isOwn ? entry.key : Dimensions(playback: entry.key.playback, region: "_other")
            bounded[key, default: .init()] += entry.value
        }
        return bounded
    }

    mutating func add(_ room: String, _ figures: RoomFigures) {
        let room = ("room", room)
        var counts: [PlaybackProtocol: AudienceCounts] = [:]
        var cells: [Dimensions: RoomFigures.CellFigures] = [:]
        for playback in PlaybackProtocol.allCases { cells[Dimensions(playback: playback)] = .init() }
        // Cells without any counted viewer have no series.
        for (dimensions, cell) in figures.cells where cell.live != 0 || cell.counts != .zero {
            counts[dimensions.playback, default: .zero] += cell.counts
            // The class of player is in reports only; here it would multiply the series.
            var labelled = dimensions
            labelled.client = .unknown
            cells[labelled, default: .init()] += cell
        }
        for (dimensions, cell) in Self.bounded(cells).sorted(by: { $0.key.order < $1.key.order }) {
            let labels = [
                room, ("protocol", dimensions.playback.rawValue), ("rendition", dimensions.rendition),
                ("region", dimensions.region),
            ].filter { !$0.1.isEmpty }.map { MetricFamily.Label(name: $0.0, value: $0.1) }
            viewers.samples.append(.init(labels: labels, value: Double(cell.live)))
            watch.samples.append(.init(labels: labels, value: Double(cell.counts.watched) / 1000))
        }
        for playback in PlaybackProtocol.allCases {
            let protocolLabel = ("protocol", playback.rawValue)
            let count = counts[playback] ?? .zero
            joins.add(Double(count.joins), room, protocolLabel)
            for reason in CloseReasonCounters.allReasons where count.leaves[reason] > 0 {
                leaves.add(Double(count.leaves[reason]), room, protocolLabel, ("reason", reason.rawValue))
            }
        }
        switches.add(Double(figures.counts.switches), room)
        stalled.add(Double(figures.counts.stalled) / 1000, room)
        for reason in ExclusionReason.allCases where figures.counters.counts.excluded[reason] > 0 {
            excluded.add(Double(figures.counters.counts.excluded[reason]), room, ("reason", reason.rawValue))
        }
    }
}

extension Dimensions {
    fileprivate var order: (Int, String, String) {
        (PlaybackProtocol.allCases.firstIndex(of: playback) ?? 0, rendition, region)
    }
}
