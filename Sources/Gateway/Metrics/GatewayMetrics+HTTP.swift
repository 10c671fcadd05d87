import FanOut
import Media
import RTMP
import Stage
import Viewership

extension GatewayMetrics {
    /// What the public HTTP port has to give, how much of it is taken, and whom that sent away.
    var httpLoad: [MetricFamily] {
        let load = site.load
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
            .gauge("footlight_connections", "Connections to the public ports.", Double(gate.connections)),
            .gauge("footlight_connections_limit", "The most that are let in.", Double(gate.limit)),
            .gauge("footlight_viewer_connections", "Connections by HTTP, and RTMP players.", Double(gate.viewers)),
            .gauge("footlight_viewer_connections_limit", "The most that are let in.", Double(gate.viewerLimit)),
            .gauge("footlight_http_waits", "Requests that wait for media.", Double(load.waiting)),
            .gauge("footlight_http_waits_limit", "The most that may wait.", Double(load.waitingLimit)),
            MetricFamily(
                name: "footlight_http_refused_total",
                kind: .counter,
                help: "Connections without room to either public port, requests too fast, and those that cannot wait.",
                samples: refused.map { .init(["reason": $0.0], Double($0.1)) }
            ),
            MetricFamily(
                name: "footlight_client_refused_total",
                kind: .counter,
                help: "What was refused because its client had as much as one client may, by the limit.",
                samples: perClient.map { .init(["limit": $0.limit], Double($0.count)) }
            ),
        ]
    }
}
