import Media
import Stage
import Synchronization

/// One metric with all its samples, as the Prometheus text format has it: a name, a kind, a line of help.
public struct MetricFamily: Sendable, Equatable {
    /// What the value does: a gauge goes up and down, a counter only up.
    public enum Kind: String, Sendable, Equatable {
        case gauge
        case counter
    }

    /// One dimension of a sample.
    public struct Label: Sendable, Equatable {
        /// The dimension, such as `room`.
        public var name: String
        /// Where in it, as it is; the renderer escapes.
        public var value: String

        /// Names a place in a dimension.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// One value.
    public struct Sample: Sendable, Equatable {
        /// What the value is of; empty for the whole process.
        public var labels: [Label]
        /// In the unit that the metric's name ends in.
        public var value: Double

        /// Makes a sample.
        public init(labels: [Label], value: Double) {
            self.labels = labels
            self.value = value
        }
    }

    /// The full name; that of a counter ends in `_total`.
    public var name: String
    /// The Prometheus type.
    public var kind: Kind
    /// One line for people.
    public var help: String
    /// Every combination of labels once.
    public var samples: [Sample]

    /// Makes a family from samples that are there already.
    public init(name: String, kind: Kind, help: String, samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.help = help
        self.samples = samples
    }
}

extension ViewershipLedger {
    /// The figures for a metrics endpoint, for a renderer to write out.
    ///
    /// Labels name rooms, protocols and reasons, never a viewer. Beyond the configured number of rooms the emptiest are
    /// added up under `room="_other"`; a room goes to 0 when it ends and is gone some minutes later.
    public func metrics() -> [MetricFamily] {
        let now = clock.now.milliseconds
        let cut = cut()
        let names = cut.rooms.keys.sorted { one, other in
            let (left, right) = (cut.rooms[one]?.live.sum ?? 0, cut.rooms[other]?.live.sum ?? 0)
            return left == right ? one < other : left > right
        }
        var viewers = MetricFamily("footlight_viewers", .gauge, "Viewers that count now.")
        var peak = MetricFamily("footlight_viewers_peak", .gauge, "Most viewers at once in this broadcast.")
        var joins = MetricFamily("footlight_viewer_joins_total", .counter, "Viewer sessions proven to watch.")
        var leaves = MetricFamily("footlight_viewer_leaves_total", .counter, "Viewer sessions that ended for good.")
        var watch = MetricFamily("footlight_viewer_watch_seconds_total", .counter, "Time watched by all viewers.")

        var other = RoomCounters()
        var otherWatch = PerProtocol<Int64>.zero
        for (position, name) in names.enumerated() {
            guard let counters = cut.rooms[name] else { continue }
            let watched = book.withLock { $0.publish(watch: counters.watch(at: now), of: name) }
            guard position < configuration.labelledRooms else {
                other += counters
                otherWatch += watched
                continue
            }
            let isOver = cut.book[name]?.ended != nil
            peak.add(isOver ? 0 : Double(cut.book[name]?.peak ?? 0), ("room", name))
            Self.add(name, counters, watched, to: &viewers, &joins, &leaves, &watch)
        }
        if names.count > configuration.labelledRooms {
            Self.add("_other", other, otherWatch, to: &viewers, &joins, &leaves, &watch)
        }

        var beatFamily = MetricFamily("footlight_beats_total", .counter, "Playlist and segment requests of viewers.")
        beatFamily.add(Double(cut.beats))
        var adopted = MetricFamily(
            "footlight_viewer_sessions_adopted_total",
            .counter,
            "Viewer sessions of an earlier run that were taken over."
        )
        adopted.add(Double(cut.adopted))
        return [viewers, peak, joins, leaves, watch, beatFamily, rejections(cut), adopted]
    }

    private func rejections(_ cut: Cut) -> MetricFamily {
        var family = MetricFamily("footlight_beats_rejected_total", .counter, "Session ids and events turned away.")
        for reason in AudienceShard.Rejection.allCases {
            var count = cut.rejected[reason] ?? 0
            switch reason {
            case .mac: count += refusedCodes.load(ordering: .relaxed)
            case .malformed: count += refusedForms.load(ordering: .relaxed)
            case .full: break
            }
            family.add(Double(count), ("reason", reason.rawValue))
        }
        return family
    }

    private static func add(
        _ room: String,
        _ counters: RoomCounters,
        _ watched: PerProtocol<Int64>,
        to viewers: inout MetricFamily,
        _ joins: inout MetricFamily,
        _ leaves: inout MetricFamily,
        _ watch: inout MetricFamily
    ) {
        for playback in PlaybackProtocol.allCases {
            let way = ("protocol", playback.rawValue)
            viewers.add(Double(counters.live[playback]), ("room", room), way)
            joins.add(Double(counters.joins[playback]), ("room", room), way)
            watch.add(Double(watched[playback]) / 1000, ("room", room), way)
            for reason in PerReason.allReasons where counters.leaves[playback][reason] > 0 {
                leaves.add(
                    Double(counters.leaves[playback][reason]),
                    ("room", room),
                    way,
                    ("reason", reason.rawValue)
                )
            }
        }
    }
}

extension MetricFamily {
    init(_ name: String, _ kind: Kind, _ help: String) {
        self.init(name: name, kind: kind, help: help, samples: [])
    }

    mutating func add(_ value: Double, _ labels: (String, String)...) {
        samples.append(Sample(labels: labels.map { Label(name: $0.0, value: $0.1) }, value: value))
    }
}
