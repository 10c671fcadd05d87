import Egress
import Ingest
import Stage
import Viewership

extension GatewayMetrics {
    /// What comes from hosts; a connection that ends leaves here too.
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
                help: "Bytes of media that came by a host's connection.",
                samples: statistics.received.sorted { $0.labels < $1.labels }.map {
                    .init(["room": $0.room, "host": $0.identity, "source": $0.source.rawValue], Double($0.bytes))
                }
            ),
            MetricFamily(
                name: "footlight_ingest_gated_total",
                kind: .counter,
                help: "Pictures and frames of sound dropped because their track was disabled or withdrawn.",
                samples: [("picture", statistics.droppedPictures), ("sound", statistics.droppedSounds)].map {
                    .init(["kind": $0.0], Double($0.1))
                }
            ),
            MetricFamily(
                name: "footlight_ingest_interruptions_total",
                kind: .counter,
                help: "Times an open connection sent nothing of a track for seconds.",
                samples: [.init([:], Double(statistics.interruptions))]
            ),
        ]
    }

    /// How the outputs of live rooms are doing.
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
            help: "Times the output was connected again, by what had broken the connection before.",
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
            family("footlight_push_queue_bytes", .gauge, "Bytes that wait to be sent to the output.") {
                Double($0.queuedBytes)
            },
            family("footlight_push_bytes_total", .counter, "Bytes sent to the output.") { Double($0.bytesSent) },
        ]
    }
}

extension IngestStatistics.Received {
    fileprivate var labels: (String, String, String) { (room, identity, source.rawValue) }
}
