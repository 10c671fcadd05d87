import Cluster
import Media
import Testing

@Suite("Placement, epochs and outages of a cluster")
struct ClusterPolicyTests {
    private func status(_ node: String, load: Double = 0, accepts: Bool = true) -> NodeStatus {
        NodeStatus(
            identity: NodeIdentity(node: node, incarnation: 1),
            count: 1,
            profile: NodeProfile(load: load, acceptsRooms: accepts)
        )
    }

    @Test(
        "a new room stays at the node that was asked unless its load exceeds one and a half times the lowest",
        arguments: [
            (0.6, 0.4, "a"), (0.61, 0.4, "b"), (0.14, 0.0, "a"), (0.16, 0.0, "b"), (.nan, 0.9, "b"), (0.2, 0.9, "a"),
        ]
    )
    func newRoom(own: Double, other: Double, expected: String) {
        let nodes = [status("a", load: own), status("b", load: other)]
        #expect(RoomPlacement.node(forNewRoom: "a", among: nodes) == expected)
    }

    @Test("a node that is drained gets no room if another one accepts rooms")
    func drained() {
        let nodes = [status("a", accepts: false), status("b", load: 1)]
        #expect(RoomPlacement.node(forNewRoom: "a", among: nodes) == "b")
        #expect(RoomPlacement.node(forNewRoom: "a", among: [status("a", accepts: false)]) == "a")
    }

    @Test("orphaned rooms spread evenly, and the loss of a node moves only its own")
    func rendezvous() {
        let nodes = ["n1", "n2", "n3", "n4"].map { status($0) }
        func first(_ room: Int, among nodes: [NodeStatus]) -> String? {
            nodes.first { RoomPlacement.position(of: $0.identity.node, for: "room\(room)", among: nodes) == 0 }?
                .identity.node
        }
        var counts: [String: Int] = [:]
        for room in 0..<1000 {
            let positions = nodes.map { RoomPlacement.position(of: $0.identity.node, for: "room\(room)", among: nodes) }
            #expect(Set(positions) == [0, 1, 2, 3])
            guard let owner = first(room, among: nodes) else { continue }
            counts[owner, default: 0] += 1
            if owner != "n4" { #expect(first(room, among: Array(nodes.dropLast())) == owner) }
        }
        #expect(counts.count == 4 && counts.values.allSatisfy { $0 > 180 })
    }

    @Test("an epoch rises with the fence before the start, exceeds those of one node, and is exact in JSON")
    func epochs() throws {
        let epoch = try #require(RoomEpoch.epoch(fence: 1_800_000_000, start: 5))
        #expect(epoch == 1_800_000_000 << 20 | 5)
        #expect(try #require(RoomEpoch.epoch(fence: 1_800_000_001, start: 0)) > epoch)
        #expect(epoch > 4_000_000_000)
        #expect(RoomEpoch.epoch(fence: RoomEpoch.highestFence, start: RoomEpoch.starts - 1) == 1 << 53 - 1)
        #expect(RoomEpoch.epoch(fence: RoomEpoch.highestFence + 1, start: 0) == nil)
        #expect(RoomEpoch.epoch(fence: 1, start: RoomEpoch.starts) == nil)
    }

    @Test(
        "a clock that is out of range sets no floor for fences",
        arguments: [(-1.0, 0), (.nan, 0), (1.9, 1), (1_800_000_000, 1_800_000_000), (5e9, 0), (.infinity, 0)]
            as [(Double, UInt64)]
    )
    func floors(seconds: Double, floor: UInt64) {
        #expect(RoomEpoch.fenceFloor(seconds: seconds) == floor)
    }

    /// One row of the table: milliseconds before now, and what is decided.
    struct Outage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var acknowledged: Int64?
        var unanswered: Int64
        /// When each report arrived, and how old the reporter's latest acknowledged write was then.
        var reports: [(arrived: Int64, age: Int64?)]
        var nodeCount: Int
        var expected: StoreOutage.State

        init(
            _ description: String,
            _ acknowledged: Int64?,
            _ reports: [(arrived: Int64, age: Int64?)],
            of nodeCount: Int,
            _ expected: StoreOutage.State
        ) {
            testDescription = description
            self.acknowledged = acknowledged
            unanswered = (acknowledged ?? 1900) - 400
            self.reports = reports
            self.nodeCount = nodeCount
            self.expected = expected
        }
    }

    private static let outages = [
        Outage("own write", 2000, [], of: 3, .available),
        Outage("a peer writes", 2001, [(10, 100)], of: 3, .isolated),
        Outage("a peer's last write was under way", 2001, [(10, 1400), (10, nil)], of: 3, .unavailable),
        Outage("the majority has no answer either", 9000, [(10, 8700)], of: 3, .unavailable),
        Outage("half of four nodes answer", 9000, [(10, 8700)], of: 4, .alone),
        Outage("reports are old", 9000, [(2001, 100), (2001, 100)], of: 3, .alone),
        Outage("a report from the future", 9000, [(10, -500)], of: 2, .unavailable),
        Outage("the only node", 9000, [], of: 1, .unavailable),
        Outage("never acknowledged", nil, [(10, 100)], of: 2, .isolated),
    ]

    @Test("a node tells an outage of the store from being cut off", arguments: outages)
    func states(row: Outage) {
        let now = MonotonicTime(nanoseconds: 100_000_000_000)
        let state = StoreOutage().state(
            acknowledgedAt: row.acknowledged.map { now.advanced(milliseconds: -$0) },
            unansweredSince: now.advanced(milliseconds: -row.unanswered),
            reports: row.reports.enumerated().map { index, report in
                StoreOutage.PeerReport(
                    node: "p\(index)",
                    receivedAt: now.advanced(milliseconds: -report.arrived),
                    acknowledgedAge: report.age
                )
            },
            nodeCount: row.nodeCount,
            at: now
        )
        #expect(state == row.expected)
    }

    @Test("rooms stop only when others take them over, and outputs of a lone node as the operator decides")
    func conduct() {
        let outage = StoreOutage(alonePolicy: .stop)
        #expect(StoreOutage.State.allCases.map { outage.conduct(in: $0).keepsRooms } == [true, false, true, true])
        #expect(StoreOutage.State.allCases.map { outage.conduct(in: $0).keepsOutputs } == [true, false, true, false])
        #expect(StoreOutage.State.allCases.map { outage.conduct(in: $0).acceptsRooms } == [true, false, false, false])
        #expect(StoreOutage(alonePolicy: .keep).conduct(in: .alone).keepsOutputs)
    }
}
