import Media
import Stage
import Synchronization

extension ViewershipLedger {
    /// The figures for a metrics endpoint, for a renderer to write out.
    ///
    /// Labels name rooms, protocols, renditions, regions and reasons, never a viewer. Beyond the configured number of
    /// rooms the emptiest are added up under `room="_other"`; a room goes to 0 when it ends and is gone some minutes later.
    public func metrics() -> [MetricFamily] {
        let cut = toldCut(at: clock.now)
        var page = MetricsPage()
        let figures = cut.figures().reduce(into: [:]) { $0[$1.key] = cut.told($1.value, of: $1.key) }
        let rooms = published(figures).map { (name: $0.key, figures: $0.value, live: $0.value.live) }
            .sorted { $0.live == $1.live ? $0.name < $1.name : $0.live > $1.live }
        for room in rooms.prefix(configuration.labelledRooms) {
            let entry = cut.book[room.name]
            page.peak.add(entry?.ended == nil ? Double(entry?.peak ?? 0) : 0, ("room", room.name))
            page.add(room.name, room.figures)
        }
        if rooms.count > configuration.labelledRooms {
            var other = RoomFigures()
            for room in rooms.dropFirst(configuration.labelledRooms) {
                for (dimensions, place) in room.figures.places {
                    // Only the ways of watching are told apart among those who have no name.
                    other.places[Dimensions(playback: dimensions.playback), default: .init()] += place
                }
                other.tally += room.figures.tally
            }
            page.add("_other", other)
        }
        return page.families + [startup(cut.startups)] + processFamilies(cut)
    }

    /// As measured, or as given out before if that was more: an end that is told late takes watch time back, and a counter
    /// must not be seen to fall.
    private func published(_ figures: [String: RoomFigures]) -> [String: RoomFigures] {
        publishedWatch.withLock { given in
            given = given.filter { figures[$0.key] != nil }
            return figures.reduce(into: [:]) { result, room in
                var figures = room.value
                for dimensions in figures.places.keys {
                    let watch = max(
                        given[room.key]?[dimensions] ?? 0,
                        figures.places[dimensions]?.counts.watch ?? 0
                    )
                    given[room.key, default: [:]][dimensions] = watch
                    figures.places[dimensions]?.counts.watch = watch
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

    private func processFamilies(_ cut: AudienceCut) -> [MetricFamily] {
        var beats = MetricFamily("footlight_beats_total", .counter, "Playlist and segment requests of viewers.")
        beats.add(Double(cut.beats))
        var adopted = MetricFamily(
            "footlight_viewer_sessions_adopted_total",
            .counter,
            "Viewer sessions of an earlier run that were taken over."
        )
        adopted.add(Double(cut.adopted))
        let rejected = cut.rejected
        var rejections = MetricFamily("footlight_beats_rejected_total", .counter, "Session ids and events turned away.")
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
        var robots = MetricFamily("footlight_robot_list_info", .gauge, "By which list robots are told from viewers.")
        robots.add(1, ("source", RobotWords.source), ("date", RobotWords.date))
        return [beats, rejections, adopted, robots]
    }
}

/// The families that have a sample for every room.
private struct MetricsPage {
    private var viewers = MetricFamily("footlight_viewers", .gauge, "Viewers that count now.")
    var peak = MetricFamily("footlight_viewers_peak", .gauge, "Most viewers at once in this broadcast.")
    private var joins = MetricFamily("footlight_viewer_joins_total", .counter, "Viewer sessions proven to watch.")
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
        "Times that viewers changed their rendition or protocol."
    )
    private var stalled = MetricFamily(
        "footlight_viewer_stalled_seconds_total",
        .counter,
        "Time that players waited for media in the midst of it."
    )
    private var excluded = MetricFamily(
        "footlight_viewers_excluded_total",
        .counter,
        "Sessions and requests that never counted."
    )

    var families: [MetricFamily] { [viewers, peak, joins, leaves, watch, switches, stalled, excluded] }

    /// Renditions and regions of one room that have a series of their own, those that were watched most.
    private static let placeLimit = 64

    /// Those beyond the limit are added up, by the way of watching, as the region `_other`.
    private static func bounded(_ places: [Dimensions: RoomFigures.Place]) -> [Dimensions: RoomFigures.Place] {
        guard places.count > placeLimit else { return places }
        var bounded: [Dimensions: RoomFigures.Place] = [:]
        let order = places.sorted { $0.value.counts.watch > $1.value.counts.watch }
        for (position, entry) in order.enumerated() {
            let isOwn = position < placeLimit || entry.key == Dimensions(playback: entry.key.playback)
            let key = isOwn ? entry.key : Dimensions(playback: entry.key.playback, region: "_other")
            bounded[key, default: .init()] += entry.value
        }
        return bounded
    }

    mutating func add(_ room: String, _ figures: RoomFigures) {
        let room = ("room", room)
        var counts: [PlaybackProtocol: Cell.Counts] = [:]
        var places: [Dimensions: RoomFigures.Place] = [:]
        for playback in PlaybackProtocol.allCases { places[Dimensions(playback: playback)] = .init() }
        // Places in which somebody was announced and nobody ever counted are no series.
        for (dimensions, place) in figures.places where place.live != 0 || place.counts != .zero {
            counts[dimensions.playback, default: .zero] += place.counts
            // Kinds of players are for reports; here they would only multiply the series.
            var labelled = dimensions
            labelled.client = .unknown
            places[labelled, default: .init()] += place
        }
        for (dimensions, place) in Self.bounded(places).sorted(by: { $0.key.order < $1.key.order }) {
            let labels = [
                room, ("protocol", dimensions.playback.rawValue), ("rendition", dimensions.rendition),
                ("region", dimensions.region),
            ].filter { !$0.1.isEmpty }.map { MetricFamily.Label(name: $0.0, value: $0.1) }
            viewers.samples.append(.init(labels: labels, value: Double(place.live)))
            watch.samples.append(.init(labels: labels, value: Double(place.counts.watch) / 1000))
        }
        for playback in PlaybackProtocol.allCases {
            let way = ("protocol", playback.rawValue)
            let count = counts[playback] ?? .zero
            joins.add(Double(count.joins), room, way)
            for reason in PerReason.allReasons where count.leaves[reason] > 0 {
                leaves.add(Double(count.leaves[reason]), room, way, ("reason", reason.rawValue))
            }
        }
        switches.add(Double(figures.counts.switches), room)
        stalled.add(Double(figures.counts.stalled) / 1000, room)
        for reason in Exclusion.allCases where figures.tally.counts.excluded[reason] > 0 {
            excluded.add(Double(figures.tally.counts.excluded[reason]), room, ("reason", reason.rawValue))
        }
    }
}

extension Dimensions {
    fileprivate var order: (Int, String, String) {
        (PlaybackProtocol.allCases.firstIndex(of: playback) ?? 0, rendition, region)
    }
}
