import Admission
import Egress
import FanOut
import FootlightModel
import Foundation
import Ingest
import Media
import MixerProcess
import RTMP
import Recording
import Stage
import Viewership
import Persistence
import Webhooks

/// Collects the figures of every component when they are scraped.
struct GatewayMetrics: Sendable {
    let viewership: ViewershipLedger
    let audienceGate: AudienceGate
    let history: HistoryStore
    let stage: RoomDirectory
    let hosts: HostIngest
    let feeds: FeedDirectory
    let livestreams: Livestreams
    let supervisor: MixerSupervisor
    let recordings: RecordingController
    let webhooks: WebhookDispatcher?
    let hls: HLSDirectory
    let logs: CDNLogReader
    let service: MediaService
    let gate: ConnectionGate
    let health: Health
    let servers: [RTMPServer]
    let certificate: ServerCertificate?
    let streams: ClientLimiter
    let snapshots: ClientLimiter
    let degradation: DegradationLog
    /// Nil for a gateway that runs alone.
    let cluster: ClusterController?

    /// Returns the metrics in the Prometheus text format.
    func text() -> String {
        PrometheusText.render(families)
    }

    /// Returns the metrics in the OpenMetrics format.
    func openMetricsText() -> String {
        PrometheusText.renderOpenMetrics(families)
    }

    private var families: [MetricFamily] {
        let mixers = hostSync + mixerLoads + mixerFrames + [mixerRestarts, degradation.family]
        let media = rooms + ingest + mixers + fanOut + audienceLoad + httpLoad + pushes + recordings.figures.families
        let audience =
            viewership.metrics() + [refusedViewers, logLines, logLag, unspooledLogs] + history.status.families
        let others = (webhooks?.status.families ?? []) + (cluster?.families ?? [])
        return [build, health.family, certificateExpiry] + audience + media + others
    }

    private var build: MetricFamily {
        MetricFamily(
            name: "footlight_build_info",
            kind: .gauge,
            help: "The version that runs, and the compiler that built it.",
            samples: [.init(["version": Version.text, "swift": Version.compiler], 1)]
        )
    }

    private var certificateExpiry: MetricFamily {
        MetricFamily(
            name: "footlight_tls_certificate_expires_timestamp_seconds",
            kind: .gauge,
            help: "When the certificate of HTTPS and RTMPS expires, in seconds since 1970; no sample without one.",
            samples: certificate.map { [.init([:], $0.expiry.timeIntervalSince1970)] } ?? []
        )
    }

    private var refusedViewers: MetricFamily {
        let refusals = audienceGate.refusals
        return MetricFamily(
            name: "footlight_access_refused_total",
            kind: .counter,
            help: "Players that were not admitted to private rooms, by reason.",
            samples: AccessRefusal.allCases.map { .init(["reason": $0.rawValue], Double(refusals[$0] ?? 0)) }
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
        let activity = feeds.all.filter { FeedAudience(of: $0.name).isCounted }.map(\.activity)
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
            family("footlight_fanout_skips_total", "Slow viewers skipped to a later keyframe.") {
                Double($0.skips)
            },
            family("footlight_fanout_closed_slow_total", "Viewers disconnected because they did not read.") {
                Double($0.closedSlow)
            },
            family("footlight_fanout_cached_bytes", "Bytes of the cached GOP, all copies.", .gauge) {
                Double($0.cachedBytes)
            },
            family("footlight_fanout_queued_bytes", "Bytes queued for slow viewers.", .gauge) {
                Double($0.queuedBytes)
            },
        ]
    }

    private var mixerRestarts: MetricFamily {
        MetricFamily(
            name: "footlight_mixer_restarts_total",
            kind: .counter,
            help: "Mixer processes restarted after a failure.",
            samples: supervisor.restartCounts.sorted { $0.key < $1.key }.map {
                .init(room: $0.key, value: Double($0.value))
            }
        )
    }
}

extension MetricFamily.Sample {
    /// Makes a sample of a room's program, or of one of its renditions.
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

    /// Makes a sample from label names and values.
    init(_ labels: KeyValuePairs<String, String>, _ value: Double) {
        self.init(labels: labels.map { .init(name: $0.key, value: $0.value) }, value: value)
    }
}

extension GatewayMetrics {
    /// The resources that viewers use, and the number of refused viewers.
    var audienceLoad: [MetricFamily] {
        let load = feeds.load
        func counter(_ name: String, _ help: String, _ counts: [PlaybackProtocol: UInt64]) -> MetricFamily {
            let samples = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                MetricFamily.Sample(["protocol": $0.key.rawValue], Double($0.value))
            }
            return MetricFamily(name: name, kind: .counter, help: help, samples: samples)
        }
        return [
            .gauge("footlight_fanout_viewers", "Connected RTMP and HTTP-FLV viewers.", Double(load.viewers)),
            .gauge(
                "footlight_fanout_requesters",
                "HLS viewers served here.",
                Double(viewership.requesters)
            ),
            .gauge(
                "footlight_fanout_viewers_limit",
                "Limit of RTMP, HTTP-FLV and HLS viewers.",
                Double(feeds.configuration.maximumViewers)
            ),
            .gauge(
                "footlight_fanout_total_cached_bytes",
                "Bytes of cached GOPs of all feeds.",
                Double(load.cachedBytes)
            ),
            .gauge(
                "footlight_fanout_total_cached_limit_bytes",
                "Bytes beyond which the longest GOPs are not cached.",
                Double(feeds.configuration.cacheLimit)
            ),
            .gauge(
                "footlight_fanout_total_queued_bytes",
                "Bytes queued for slow viewers of all feeds.",
                Double(load.queuedBytes)
            ),
            .gauge(
                "footlight_fanout_total_queued_limit_bytes",
                "Bytes beyond which slow viewers are skipped at once and closed early.",
                Double(feeds.configuration.queueLimit.total)
            ),
            .gauge(
                "footlight_memory_short",
                "1 while new viewers are refused because memory is short.",
                load.isAdmissionSuspended ? 1 : 0
            ),
            MetricFamily(
                name: "footlight_memory_used_ratio",
                kind: .gauge,
                help: "Used fraction of the machine's or the container's memory; above 0.8 new viewers are refused.",
                samples: MemoryUsage.current().map { [.init(labels: [], value: $0.usedFraction)] } ?? []
            ),
            counter("footlight_fanout_refused_total", "Viewers refused at capacity.", load.refused),
            counter(
                "footlight_egress_bytes_total",
                "Bytes of media and playlists sent to viewers; hls with and without low latency.",
                load.sent
            ),
            MetricFamily(
                name: "footlight_hls_stored_bytes",
                kind: .gauge,
                help: "Bytes of segments and parts in memory, renditions included.",
                samples: hls.storedBytes.sorted { $0.room < $1.room }.map {
                    .init(labels: [.init(name: "room", value: $0.room)], value: Double($0.bytes))
                }
            ),
        ]
    }

    /// The delay of CDN logs.
    var logLag: MetricFamily {
        MetricFamily(
            name: "footlight_log_lag_seconds",
            kind: .gauge,
            help: "Delay between the requests in CDN logs and their counting.",
            samples: [.init(labels: [], value: Double(logs.lag) / 1000)]
        )
    }

    /// The CDN logs that would be lost if the process were killed.
    var unspooledLogs: MetricFamily {
        MetricFamily(
            name: "footlight_logs_unspooled_total",
            kind: .counter,
            help: "CDN logs that could not be spooled to disk until their lines were counted.",
            samples: [.init(labels: [], value: Double(logs.unspooled))]
        )
    }

    /// The lines of CDN logs by outcome.
    var logLines: MetricFamily {
        let total = logs.total
        let outcomes = [
            ("taken", total.taken), ("ignored", total.ignored), ("nameless", total.nameless),
            ("malformed", total.malformed), ("late", total.late), ("dropped", total.dropped),
            ("repeated", total.repeated),
        ]
        return MetricFamily(
            name: "footlight_log_lines_total",
            kind: .counter,
            help: "Lines of CDN logs by outcome.",
            samples: outcomes.map { .init(labels: [.init(name: "outcome", value: $0.0)], value: Double($0.1)) }
        )
    }
}

extension GatewayMetrics {
    /// The capacity and use of the public ports, and the refusals.
    var httpLoad: [MetricFamily] {
        let load = service.load
        let refused = [
            ("connections", gate.refused), ("requests", load.refusedRequests), ("waits", load.refusedWaits),
        ]
        let rtmp = servers.map(\.refused)
        let players = rtmp.reduce(UInt64(0)) { $0 + $1.players }
        let waiting = rtmp.reduce(UInt64(0)) { $0 + $1.waiting }
        let perClient: [(limit: String, count: UInt64)] = [
            ("requests", load.refusedRequests), ("connections", load.refusedConnections),
            ("players", players), ("waiting", waiting), ("sessions", viewership.refusedSessions),
            ("streams", streams.refused), ("snapshots", snapshots.refused),
        ]
        return [
            .gauge("footlight_connections", "Open connections to the public ports.", Double(gate.connections)),
            .gauge("footlight_connections_limit", "Limit of connections to the public ports.", Double(gate.limit)),
            .gauge("footlight_viewer_connections", "Open HTTP connections and RTMP players.", Double(gate.viewers)),
            .gauge("footlight_viewer_connections_limit", "Limit of viewer connections.", Double(gate.viewerLimit)),
            .gauge("footlight_http_waits", "Requests waiting for media.", Double(load.waiting)),
            .gauge("footlight_http_waits_limit", "Limit of waiting requests.", Double(load.waitingLimit)),
            MetricFamily(
                name: "footlight_http_refused_total",
                kind: .counter,
                help: "Refused connections and requests of the public ports by reason.",
                samples: refused.map { .init(["reason": $0.0], Double($0.1)) }
            ),
            MetricFamily(
                name: "footlight_client_refused_total",
                kind: .counter,
                help: "Refusals by per-client limit.",
                samples: perClient.map { .init(["limit": $0.limit], Double($0.count)) }
            ),
        ]
    }
}

extension GatewayMetrics {
    /// The ingest figures; a connection that ends is removed.
    var ingest: [MetricFamily] {
        let statistics = hosts.statistics
        return [
            MetricFamily(
                name: "footlight_ingest_publishers",
                kind: .gauge,
                help: "Connections that publish a host's media.",
                samples: [.init([:], Double(statistics.publishers))]
            ),
            MetricFamily(
                name: "footlight_ingest_bytes_total",
                kind: .counter,
                help: "Media bytes received on a host's connection.",
                samples: statistics.received.sorted { $0.labels < $1.labels }.map {
                    .init(["room": $0.room, "host": $0.identity, "source": $0.source.rawValue], Double($0.bytes))
                }
            ),
            MetricFamily(
                name: "footlight_ingest_gated_total",
                kind: .counter,
                help: "Video and audio frames dropped because their track was disabled or unpublished.",
                samples: [("picture", statistics.droppedVideoFrames), ("sound", statistics.droppedAudioFrames)].map {
                    .init(["kind": $0.0], Double($0.1))
                }
            ),
            MetricFamily(
                name: "footlight_ingest_interruptions_total",
                kind: .counter,
                help: "Interruptions of a track on an open connection.",
                samples: [.init([:], Double(statistics.interruptions))]
            ),
        ]
    }

    /// The state of the outputs of rooms in progress.
    var pushes: [MetricFamily] {
        let outputs = stage.rooms(.inProgress).flatMap { room in
            livestreams.status(room: room.name).outputs.map { (room: room.name, status: $0) }
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
                samples: outputs.map { .init(["room": $0.room, "target": $0.status.name], value($0.status)) }
            )
        }
        let reconnects = MetricFamily(
            name: "footlight_push_reconnects_total",
            kind: .counter,
            help: "Reconnects of the output by reason.",
            samples: outputs.flatMap { output in
                output.status.reconnectReasons.sorted { $0.key.rawValue < $1.key.rawValue }.map { reason, count in
                    let labels: KeyValuePairs = [
                        "room": output.room, "target": output.status.name, "reason": reason.rawValue,
                    ]
                    return MetricFamily.Sample(labels, Double(count))
                }
            }
        )
        return [
            family("footlight_push_up", .gauge, "1 while the output is connected.") { $0.state == .connected ? 1 : 0 },
            reconnects,
            family("footlight_push_dropped_total", .counter, "Packets dropped because the target was too slow.") {
                Double($0.droppedFrames)
            },
            family("footlight_push_queue_bytes", .gauge, "Bytes queued for the output.") {
                Double($0.queuedBytes)
            },
            family("footlight_push_bytes_total", .counter, "Bytes sent to the output.") { Double($0.bytesSent) },
        ]
    }
}

extension IngestStatistics.Received {
    fileprivate var labels: (String, String, String) { (room, identity, source.rawValue) }
}

extension GatewayMetrics {
    /// The load and the degradation of every room's mixer.
    var mixerLoads: [MetricFamily] {
        let rooms = stage.rooms(.inProgress).compactMap { room in room.load.map { (name: room.name, load: $0) } }
        func family(_ name: String, _ help: String, _ value: (MixerLoad) -> Double) -> MetricFamily {
            MetricFamily(
                name: "footlight_mixer_" + name,
                kind: .gauge,
                help: help,
                samples: rooms.map { .init(labels: [.init(name: "room", value: $0.name)], value: value($0.load)) }
            )
        }
        return [
            family("degrade_level", "Degradation level of the program, 0 to 6.") {
                Double($0.level)
            },
            family("work_ratio", "Fraction of the frame interval that a slow frame takes.") { $0.work },
            family("cores", "Processor cores used by the mixer.") { $0.cores },
            MetricFamily(
                name: "footlight_rendition_dropped_pictures_total",
                kind: .counter,
                help: "Frames that a rendition dropped because its encoder was late.",
                samples: rooms.flatMap { room in
                    room.load.renditions.map { rendition in
                        .init(
                            labels: [
                                .init(name: "room", value: room.name), .init(name: "rendition", value: rendition.name),
                            ],
                            value: Double(rendition.dropped)
                        )
                    }
                }
            ),
        ]
    }

    /// The frame times and frame losses of every room's program; a restarted mixer counts from 0.
    var mixerFrames: [MetricFamily] {
        let rooms = stage.rooms(.inProgress).compactMap { room in room.frames.map { (name: room.name, frames: $0) } }
        var times = MetricFamily(
            name: "footlight_mixer_frame_seconds",
            kind: .histogram,
            help: "Time to compose or to encode a frame, which run in parallel: the longer one.",
            samples: []
        )
        for room in rooms {
            times.addHistogram(
                bounds: MixerFrames.bounds,
                counts: room.frames.counts,
                sum: room.frames.seconds,
                labels: [.init(name: "room", value: room.name)]
            )
        }
        let lost = MetricFamily(
            name: "footlight_mixer_frames_dropped_total",
            kind: .counter,
            help: "Frames of programs and renditions that were not produced.",
            samples: rooms.flatMap { room in
                MixerFrames.Loss.allCases.map { loss in
                    MetricFamily.Sample(
                        ["room": room.name, "stage": loss.rawValue],
                        Double(room.frames.lost[loss] ?? 0)
                    )
                }
            }
        )
        return [times, lost]
    }
}

extension GatewayMetrics {
    /// The A/V sync figures of every host on air, as the mixers report them; a host that leaves is removed.
    ///
    /// The screen of a host who also has a camera has series of its own, with `input="screen"`.
    var hostSync: [MetricFamily] {
        let hosts = stage.rooms(.inProgress).flatMap { room in
            room.hosts.flatMap { host in
                [
                    host.sync.map { SyncSample(room: room.name, host: host.identity, isScreen: false, sync: $0) },
                    host.screenSync.map { SyncSample(room: room.name, host: host.identity, isScreen: true, sync: $0) },
                ].compactMap(\.self)
            }
        }
        func family(
            _ name: String,
            _ kind: MetricFamily.Kind,
            _ help: String,
            _ value: (HostSync) -> Double
        ) -> MetricFamily {
            MetricFamily(
                name: "footlight_host_" + name,
                kind: kind,
                help: help,
                samples: hosts.map { .init(labels: $0.labels, value: value($0.sync)) }
            )
        }
        return [
            family("offset_seconds", .gauge, "Change of the host's clock offset to the program.") {
                $0.offset / 1000
            },
            family("drift_ppm", .gauge, "Drift of the host's clock, positive if it is fast.") { $0.drift },
            family("buffer_seconds", .gauge, "Lead of the host's newest packet before its playout time.") {
                $0.buffer / 1000
            },
            family("late_total", .counter, "Video and audio frames that arrived after their playout time.") {
                Double($0.late)
            },
            family("duplicated_total", .counter, "Program frames that repeated the host's last frame.") {
                Double($0.duplicated)
            },
            family("dropped_total", .counter, "Dropped video and audio frames of the host.") {
                Double($0.dropped)
            },
        ]
    }
}

/// The sync figures of one host input.
private struct SyncSample {
    let room: String
    let host: String
    let isScreen: Bool
    let sync: HostSync

    var labels: [MetricFamily.Label] {
        let labels = [MetricFamily.Label(name: "room", value: room), MetricFamily.Label(name: "host", value: host)]
        return isScreen ? labels + [MetricFamily.Label(name: "input", value: "screen")] : labels
    }
}

extension HistoryStore.Status {
    /// The Prometheus metrics of the history store.
    var families: [MetricFamily] {
        func family(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily(name: name, kind: .counter, help: help, samples: [.init(labels: [], value: Double(value))])
        }
        let errors = MetricFamily(
            name: "footlight_store_errors_total",
            kind: .counter,
            help: "Failed writes to disk.",
            samples: [.init(labels: [.init(name: "op", value: "viewership")], value: Double(failures))]
        )
        let waiting = MetricFamily(
            name: "footlight_viewership_waiting_rows",
            kind: .gauge,
            help: "Rows pending in memory because the last write failed.",
            samples: [.init(labels: [], value: Double(waiting))]
        )
        return [
            errors, waiting,
            family("footlight_viewership_writes_total", "Transactions of the viewership history.", writes),
            family("footlight_viewership_dropped_total", "Rows dropped while writes failed.", dropped),
            family("footlight_viewership_asides_total", "Databases quarantined as unusable.", quarantined),
        ]
    }
}

extension RecordingCounts {
    /// The Prometheus metrics of recordings.
    var families: [MetricFamily] {
        func family(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily(name: name, kind: kind, help: help, samples: [.init(labels: [], value: Double(value))])
        }
        return [
            family("footlight_recordings_active", .gauge, "Rooms that are being recorded.", active),
            family("footlight_recording_files_total", .counter, "Files started.", files),
            family("footlight_recording_failures_total", .counter, "Recordings that failed.", failures),
            family(
                "footlight_recording_dropped_total",
                .counter,
                "Packets that were not recorded because the disk was too slow.",
                droppedPackets
            ),
            family("footlight_recording_stored_files", .gauge, "Stored recorded files.", storedFiles),
            family("footlight_recording_stored_bytes", .gauge, "Bytes in recorded files.", storedBytes),
        ]
    }
}

extension WebhookStatus {
    /// The Prometheus metrics of webhooks; the number of series does not depend on the number of webhooks.
    var families: [MetricFamily] {
        func family(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily(name: name, kind: kind, help: help, samples: [.init(labels: [], value: Double(value))])
        }
        return [
            MetricFamily(
                name: "footlight_webhook_endpoints",
                kind: .gauge,
                help: "Webhooks by state.",
                samples: [("healthy", healthy), ("failing", failing), ("disabled", disabled)].map {
                    .init(labels: [.init(name: "state", value: $0.0)], value: Double($0.1))
                }
            ),
            MetricFamily(
                name: "footlight_webhook_tries_total",
                kind: .counter,
                help: "Delivery attempts by outcome.",
                samples: WebhookAttemptOutcome.allCases.map {
                    .init(labels: [.init(name: "outcome", value: $0.rawValue)], value: Double(tries[$0] ?? 0))
                }
            ),
            family("footlight_webhook_pending", .gauge, "Messages pending for webhooks.", pending),
            family(
                "footlight_webhook_dropped_total",
                .counter,
                "Messages dropped because the queue was full or they were too large.",
                dropped
            ),
            family(
                "footlight_webhook_store_failures_total",
                .counter,
                "Failed operations of the outbox.",
                storeFailures
            ),
            family(
                "footlight_webhook_asides_total",
                .counter,
                "Outboxes quarantined as unusable.",
                quarantined
            ),
        ]
    }
}
