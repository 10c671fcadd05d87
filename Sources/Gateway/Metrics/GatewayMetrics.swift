import Egress
import FanOut
import Ingest
import Media
import RTMP
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
    let site: MediaSite
    let gate: ConnectionGate
    let health: Health
    let servers: [RTMPServer]
    let streams: ClientLimiter
    let snapshots: ClientLimiter
    let degradation: DegradationLog

    /// The whole page.
    func text() -> String {
        PrometheusText.render(families)
    }

    /// The whole page for those who ask for OpenMetrics.
    func openMetricsText() -> String {
        PrometheusText.renderOpenMetrics(families)
    }

    private var families: [MetricFamily] {
        let mixers = hostTimes + mixerLoads + mixerFrames + [mixerRestarts, degradation.family]
        let media = rooms + ingest + mixers + fanOut + audienceLoad + httpLoad + pushes + recordings.figures.families
        let audience = viewership.metrics() + [logLines, logLag, unspooledLogs] + history.status.families
        return [build, health.family] + audience + media + (webhooks?.status.families ?? [])
    }

    private var build: MetricFamily {
        MetricFamily(
            name: "footlight_build_info",
            kind: .gauge,
            help: "The version that runs, and the compiler that built it.",
            samples: [.init(["version": Version.text, "swift": Version.compiler], 1)]
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
        self.init(["room": feed.room, "rendition": feed.rendition], value)
    }

    fileprivate init(room: String, value: Double) {
        self.init(["room": room], value)
    }

    /// A value at a place that is named by pairs.
    init(_ labels: KeyValuePairs<String, String>, _ value: Double) {
        self.init(labels: labels.map { .init(name: $0.key, value: $0.value) }, value: value)
    }
}

extension RoomDirectory {
    /// Whether a feed of that name is a room's program rather than one from or for a host.
    fileprivate func isRoom(_ name: String) -> Bool {
        HostFeedName(name) == nil && ReturnFeedName(name) == nil
    }
}
