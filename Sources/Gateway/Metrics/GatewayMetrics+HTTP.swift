import FanOut
import Stage
import Viewership

extension GatewayMetrics {
    /// What the public HTTP port has to give, how much of it is taken, and whom that sent away.
    var httpLoad: [MetricFamily] {
        let load = site.load
        let refused = [
            ("connections", gate.refused), ("requests", load.refusedRequests), ("waits", load.refusedWaits),
        ]
        return [
            .gauge("footlight_http_connections", "Connections to the public HTTP port.", Double(gate.connections)),
            .gauge("footlight_http_connections_limit", "The most that are let in.", Double(gate.limit)),
            .gauge("footlight_http_waits", "Requests that wait for media.", Double(load.waiting)),
            .gauge("footlight_http_waits_limit", "The most that may wait.", Double(load.waitingLimit)),
            MetricFamily(
                name: "footlight_http_refused_total",
                kind: .counter,
                help: "Connections without room, requests that came too fast, and requests that could not wait.",
                samples: refused.map { .init(["reason": $0.0], Double($0.1)) }
            ),
        ]
    }
}
