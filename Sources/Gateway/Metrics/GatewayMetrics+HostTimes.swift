import Stage
import Viewership

extension GatewayMetrics {
    /// How the media of every host on air keeps time, as their mixers report it; a host that leaves leaves here too.
    ///
    /// The screen of a host who has a camera, too, is told beside it, with `input="screen"`.
    var hostTimes: [MetricFamily] {
        let hosts = stage.rooms(.inProgress).flatMap { room in
            room.hosts.flatMap { host in
                [
                    host.sync.map { Measured(room: room.name, host: host.identity, isScreen: false, sync: $0) },
                    host.screenSync.map { Measured(room: room.name, host: host.identity, isScreen: true, sync: $0) },
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
            family("offset_seconds", .gauge, "By how much the host's clock has been moved against the program's.") {
                $0.offset / 1000
            },
            family("drift_ppm", .gauge, "By how much the host's clock is fast.") { $0.drift },
            family("buffer_seconds", .gauge, "How long before its turn the host's newest packet came.") {
                $0.buffer / 1000
            },
            family("late_total", .counter, "Pictures and frames of sound that came after their turn.") {
                Double($0.late)
            },
            family("duplicated_total", .counter, "Program pictures that showed the host's last picture again.") {
                Double($0.duplicated)
            },
            family("dropped_total", .counter, "Pictures and frames of sound of the host that were left out.") {
                Double($0.dropped)
            },
        ]
    }
}

/// One input of a host, and how it keeps time.
private struct Measured {
    let room: String
    let host: String
    let isScreen: Bool
    let sync: HostSync

    var labels: [MetricFamily.Label] {
        let labels = [MetricFamily.Label(name: "room", value: room), MetricFamily.Label(name: "host", value: host)]
        return isScreen ? labels + [MetricFamily.Label(name: "input", value: "screen")] : labels
    }
}
