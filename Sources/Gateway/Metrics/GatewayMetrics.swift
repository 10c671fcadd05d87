import Egress
import FanOut
import Ingest
import Recording
import Stage
import Viewership
import ViewershipStore
import Webhooks

/// Gathers what every part has counted, at the moment somebody asks.
struct GatewayMetrics: Sendable {
    let viewership: ViewershipLedger
    let history: HistoryKeeper
    let stage: RoomDirectory
    let hosts: HostDoor
    let feeds: FeedDirectory
    let livestreams: Livestreams
    let supervisor: MixerSupervisor
    let recordings: RecordingControl
    let webhooks: WebhookDispatcher?
    let hls: HLSDirectory
    let logs: AudienceLogs

    /// The whole page.
    func text() -> String {
        PrometheusText.render(families)
    }

    /// The whole page for those who ask for OpenMetrics.
    func openMetricsText() -> String {
        PrometheusText.renderOpenMetrics(families)
    }

    private var families: [MetricFamily] {
        let mixers = hostTimes + mixerLoads + [mixerRestarts]
        let media = rooms + ingest + mixers + fanOut + audienceLoad + pushes + recordings.figures.families
        let audience = viewership.metrics() + [logLines] + history.status.families
        return [build] + audience + media + (webhooks?.status.families ?? [])
    }

    private var build: MetricFamily {
        MetricFamily(
            name: "footlight_build_info",
            kind: .gauge,
            help: "The version that runs.",
            samples: [.init(labels: [.init(name: "version", value: Version.text)], value: 1)]
        )
    }

    private var rooms: [MetricFamily] {
        let live = stage.rooms(.inProgress)
        return [
            MetricFamily(
                name: "footlight_rooms",
                kind: .gauge,
                help: "Rooms in progress.",
                samples: [.init(labels: [], value: Double(live.count))]
            ),
            MetricFamily(
                name: "footlight_hosts",
                kind: .gauge,
                help: "Hosts in a room.",
                samples: live.map { .init(room: $0.name, value: Double($0.counts.hosts)) }
            ),
        ]
    }

    private var ingest: [MetricFamily] {
        let statistics = hosts.statistics
        return [
            MetricFamily(
                name: "footlight_ingest_publishers",
                kind: .gauge,
                help: "Connections that publish a host's media.",
                samples: [.init(labels: [], value: Double(statistics.publishers))]
            ),
            MetricFamily(
                name: "footlight_ingest_gated_total",
                kind: .counter,
                help: "Pictures and frames of sound dropped because their track was disabled or withdrawn.",
                samples: [("picture", statistics.droppedPictures), ("sound", statistics.droppedSounds)].map {
                    .init(labels: [.init(name: "kind", value: $0.0)], value: Double($0.1))
                }
            ),
            MetricFamily(
                name: "footlight_ingest_interruptions_total",
                kind: .counter,
                help: "Times an open connection sent nothing of a track for seconds.",
                samples: [.init(labels: [], value: Double(statistics.interruptions))]
            ),
        ]
    }

    private var fanOut: [MetricFamily] {
        let activity = feeds.all.filter { stage.isRoom($0.name) }.map(\.activity)
        func family(
            _ name: String,
            _ help: String,
            _ kind: MetricFamily.Kind = .counter,
            _ value: (FeedActivity) -> Double
        ) -> MetricFamily {
            MetricFamily(
                name: name,
                kind: kind,
                help: help,
                samples: activity.map { .init(feed: $0.name, value: value($0)) }
            )
        }
        return [
            family("footlight_fanout_bytes_total", "Bytes handed to RTMP and HTTP-FLV viewers.") { Double($0.bytes) },
            family("footlight_fanout_skips_total", "Slow viewers moved on to a later key picture.") {
                Double($0.skips)
            },
            family("footlight_fanout_closed_slow_total", "Viewers closed because they took nothing.") {
                Double($0.closedSlow)
            },
            family("footlight_fanout_cached_bytes", "Bytes of the present group of pictures, all copies.", .gauge) {
                Double($0.cachedBytes)
            },
            family("footlight_fanout_queued_bytes", "Bytes that wait for viewers who do not take them.", .gauge) {
                Double($0.queuedBytes)
            },
        ]
    }

    private var pushes: [MetricFamily] {
        let outputs = stage.rooms(.inProgress).flatMap { room in
            livestreams.status(room: room.name).outputs.map { (room.name, $0) }
        }
        func family(
            _ name: String,
            _ kind: MetricFamily.Kind,
            _ help: String,
            _ value: (OutputStatus) -> Double
        ) -> MetricFamily {
            MetricFamily(
                name: name,
                kind: kind,
                help: help,
                samples: outputs.map { room, output in
                    let labels = [
                        MetricFamily.Label(name: "room", value: room),
                        MetricFamily.Label(name: "target", value: output.name),
                    ]
                    return .init(labels: labels, value: value(output))
                }
            )
        }
        return [
            family("footlight_push_up", .gauge, "1 while the output is connected.") { $0.state == .connected ? 1 : 0 },
            family("footlight_push_reconnects_total", .counter, "Times the output had to connect again.") {
                Double($0.reconnects)
            },
            family("footlight_push_dropped_total", .counter, "Packets dropped because the target was too slow.") {
                Double($0.droppedFrames)
            },
            family("footlight_push_bytes_total", .counter, "Bytes sent to the output.") { Double($0.bytesSent) },
        ]
    }

    private var mixerRestarts: MetricFamily {
        MetricFamily(
            name: "footlight_mixer_restarts_total",
            kind: .counter,
            help: "Mixer processes started again after they died.",
            samples: supervisor.restartCounts.sorted { $0.key < $1.key }.map {
                .init(room: $0.key, value: Double($0.value))
            }
        )
    }
}

extension MetricFamily.Sample {
    /// A value of a room's program, or of one of its renditions.
    fileprivate init(feed name: String, value: Double) {
        guard let feed = RenditionFeedName(name) else {
            self.init(room: name, value: value)
            return
        }
        let labels = [("room", feed.room), ("rendition", feed.rendition)]
        self.init(labels: labels.map { .init(name: $0.0, value: $0.1) }, value: value)
    }

    fileprivate init(room: String, value: Double) {
        self.init(labels: [.init(name: "room", value: room)], value: value)
    }
}

extension RoomDirectory {
    /// Whether a feed of that name is a room's program rather than one from or for a host.
    fileprivate func isRoom(_ name: String) -> Bool {
        HostFeedName(name) == nil && ReturnFeedName(name) == nil
    }
}
