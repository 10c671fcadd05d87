import FanOut
import Stage
import Viewership

extension GatewayMetrics {
    /// What all viewers together take of the machine, and whom there was no room for.
    var audienceLoad: [MetricFamily] {
        let load = feeds.load
        func counter(_ name: String, _ help: String, _ counts: [PlaybackProtocol: UInt64]) -> MetricFamily {
            let samples = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                MetricFamily.Sample(["protocol": $0.key.rawValue], Double($0.value))
            }
            return MetricFamily(name: name, kind: .counter, help: help, samples: samples)
        }
        return [
            .gauge("footlight_fanout_viewers", "RTMP and HTTP-FLV viewers let in now.", Double(load.viewers)),
            .gauge(
                "footlight_fanout_requesters",
                "HLS viewers served here.",
                Double(viewership.requesters)
            ),
            .gauge(
                "footlight_fanout_viewers_limit",
                "Most of both that are let in.",
                Double(feeds.configuration.maximumViewers)
            ),
            .gauge(
                "footlight_fanout_total_cached_bytes",
                "Bytes of groups of pictures kept for joiners, of all feeds.",
                Double(load.cachedBytes)
            ),
            .gauge(
                "footlight_fanout_total_cached_limit_bytes",
                "Bytes beyond which the longest groups are not kept.",
                Double(feeds.configuration.cacheLimit)
            ),
            .gauge(
                "footlight_fanout_total_queued_bytes",
                "Bytes that wait for viewers who do not take them, of all feeds.",
                Double(load.queuedBytes)
            ),
            .gauge(
                "footlight_fanout_total_queued_limit_bytes",
                "Bytes beyond which slow viewers are skipped at once and closed early.",
                Double(feeds.configuration.queueLimit.total)
            ),
            .gauge(
                "footlight_memory_short",
                "1 while new viewers are refused for want of memory.",
                load.isHeld ? 1 : 0
            ),
            MetricFamily(
                name: "footlight_memory_used_ratio",
                kind: .gauge,
                help: "The part in use of the machine's memory or the container's; above 0.8 new viewers are refused.",
                samples: MemoryUse.current().map { [.init(labels: [], value: $0.part)] } ?? []
            ),
            counter("footlight_fanout_refused_total", "Viewers sent away for want of room.", load.refused),
            counter(
                "footlight_egress_bytes_total",
                "Bytes of media and playlists given to viewers; hls with and without low latency.",
                load.sent
            ),
            MetricFamily(
                name: "footlight_hls_stored_bytes",
                kind: .gauge,
                help: "Bytes of segments and parts kept in memory, renditions included.",
                samples: hls.storedBytes.sorted { $0.room < $1.room }.map {
                    .init(labels: [.init(name: "room", value: $0.room)], value: Double($0.bytes))
                }
            ),
        ]
    }

    /// How late the logs of content networks are.
    var logLag: MetricFamily {
        MetricFamily(
            name: "footlight_log_lag_seconds",
            kind: .gauge,
            help: "By how much what logs of content networks tell is counted later than it happened.",
            samples: [.init(labels: [], value: Double(logs.lag) / 1000)]
        )
    }

    /// Logs of content networks that a kill would have cost.
    var unspooledLogs: MetricFamily {
        MetricFamily(
            name: "footlight_logs_unspooled_total",
            kind: .counter,
            help: "Logs of content networks that could not be spooled to disk until their lines were counted.",
            samples: [.init(labels: [], value: Double(logs.unspooled))]
        )
    }

    /// What the logs of content networks told.
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
            help: "Lines of content networks' logs, by what became of them.",
            samples: outcomes.map { .init(labels: [.init(name: "outcome", value: $0.0)], value: Double($0.1)) }
        )
    }
}
