import ControlAPI
import FanOut
import Foundation
import FootlightModel
import Hummingbird
import Stage
import Viewership

/// The other gateways of the cluster, as the API, the pages, the public ports and the metrics work with them.
struct ClusterController: ClusterControlling {
    let membership: ClusterMembership
    let forwarder: NodeForwarder

    /// Milliseconds that a read of the store takes at most, usually.
    private static let readTime: Int64 = 100

    var name: String { membership.node }
    var nodes: [NodeResource] { membership.nodes }

    func claim(_ name: String) async throws(StageError) {
        try await membership.claim(name)
    }

    func announce(_ sid: String) async {
        // The service claims the sid again until it is granted.
        try? await membership.claim(sid)
        // The others read once in an interval. A client that is gone need not wait.
        try? await Task.sleep(for: .milliseconds(membership.readInterval + Self.readTime))
    }

    func forward(_ request: Request) async throws(StageError) -> Response? {
        try await forwarder.forward(request)
    }

    func rooms(for request: Request) async -> (pages: [RoomList], unreachable: [String]) {
        await forwarder.rooms(for: request)
    }
}

extension NodeRouting {
    /// Makes the routing of the public ports from what is known of the cluster.
    init(_ membership: ClusterMembership, _ signature: NodeSignature) {
        self.init(
            sender: { signature.sender(of: $0, at: Date().timeIntervalSince1970) },
            isElsewhere: { membership.location(ofPlayed: $0) != .here }
        )
    }
}

extension ClusterController {
    /// The Prometheus metrics of the cluster.
    var families: [MetricFamily] {
        let figures = membership.figures
        let forwarded = forwarder.figures
        return [
            .gauge(
                "footlight_cluster_lease_seconds",
                "Seconds for which this gateway's lease holds if it is not renewed; 0 without a lease.",
                figures.leaseSeconds
            ),
            .gauge(
                "footlight_cluster_rooms",
                "Rooms of this gateway, as the other gateways know them.",
                Double(figures.rooms)
            ),
            MetricFamily(
                name: "footlight_cluster_store_seconds",
                kind: .gauge,
                help: "Time that the latest write to the cluster's database took; no sample before the first.",
                samples: figures.latency.map { [.init([:], $0)] } ?? []
            ),
            MetricFamily(
                name: "footlight_cluster_nodes",
                kind: .gauge,
                help: "Gateways of the cluster by state.",
                samples: NodeState.allCases.map { .init(["state": $0.rawValue], Double(figures.nodes[$0] ?? 0)) }
            ),
            MetricFamily(
                name: "footlight_cluster_forwarded_total",
                kind: .counter,
                help: "Requests forwarded to the gateway that has the room, by outcome.",
                samples: NodeForwarder.Outcome.allCases.map {
                    .init(["outcome": $0.rawValue], Double(forwarded.outcomes[$0] ?? 0))
                }
            ),
            .gauge(
                "footlight_cluster_forwarding",
                "Requests and streams that are being forwarded.",
                Double(forwarded.pending)
            ),
        ]
    }
}
