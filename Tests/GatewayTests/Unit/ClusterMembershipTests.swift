import Cluster
import FootlightModel
import FootlightTesting
import Media
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite("Membership in a cluster", .timeLimit(.minutes(1)))
struct ClusterMembershipTests {
    /// A store in memory that can be turned off.
    private final class MemoryStore: ClusterStore {
        private let state = Mutex((cluster: ClusterState(), isAway: false))

        var cluster: ClusterState { state.withLock { $0.cluster } }

        func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

        func write(_ write: NodeWrite) async throws(ClusterStoreUnavailable) -> NodeWriteResult {
            guard let result = state.withLock({ $0.isAway ? nil : $0.cluster.apply(write) }) else {
                throw ClusterStoreUnavailable("away")
            }
            return result
        }

        func read() async throws(ClusterStoreUnavailable) -> ClusterSnapshot {
            guard let snapshot = state.withLock({ $0.isAway ? nil : $0.cluster.snapshot }) else {
                throw ClusterStoreUnavailable("away")
            }
            return snapshot
        }
    }

    /// Two nodes on one clock, whose turns a test runs.
    private final class Nodes {
        let clock = ManualClock()
        let store = MemoryStore()
        var members: [String: ClusterMembership] = [:]
        /// The names and sids in use at each node.
        var inUse: [String: Set<String>] = [:]
        var closed: [String: Set<String>] = [:]
        var silent: Set<String> = []

        init() {
            for node in ["a", "b"] { start(node) }
        }

        func start(_ node: String, predecessors: [UInt64] = []) {
            members[node] = ClusterMembership(
                node: node,
                address: "http://\(node):8080",
                predecessors: predecessors,
                clock: clock
            )
        }

        func run(milliseconds: Int) async throws {
            for _ in 0..<milliseconds / 50 {
                for (node, member) in members.sorted(by: { $0.key < $1.key }) where !silent.contains(node) {
                    try await turn(node, member)
                }
                clock.advance(by: .milliseconds(50))
            }
        }

        private func turn(_ node: String, _ member: ClusterMembership) async throws {
            for reference in member.reconcile(inUse[node] ?? []) {
                closed[node, default: []].insert(reference)
                inUse[node]?.remove(reference)
            }
            while let action = member.nextAction(wallSeconds: 1_800_000_000) {
                do throws(ClusterStoreUnavailable) {
                    switch action {
                    case .read: member.received(try await store.read())
                    case .write(let write): _ = member.written(try await store.write(write), seconds: 0.001)
                    }
                } catch {
                    member.unanswered()
                }
            }
        }

        /// Claims a room while the nodes run.
        func claim(_ room: String, at node: String) async throws -> StageError? {
            guard let member = members[node] else { return nil }
            let claim = Task { () -> StageError? in
                do throws(StageError) {
                    try await member.claim(room)
                    return nil
                } catch {
                    return error
                }
            }
            // The task may begin late.
            for _ in 0..<100 {
                try await run(milliseconds: 50)
                try await Task.sleep(for: .milliseconds(2))
            }
            return await claim.value
        }
    }

    @Test("a claimed name is this node's until its room ends, and no other node gets it meanwhile")
    func claims() async throws {
        let nodes = Nodes()
        try await nodes.run(milliseconds: 500)
        #expect(nodes.members["a"]?.location(of: "show") == .here)
        #expect(throws: StageError.clusterUnavailable) { try nodes.members["a"]?.check("show") }
        nodes.inUse["a"] = ["show", "RM" + String(repeating: "0", count: 32)]
        #expect(try await nodes.claim("show", at: "a") == nil)
        try nodes.members["a"]?.check("show")
        try await nodes.run(milliseconds: 500)
        #expect(nodes.members["b"]?.location(of: "show") == .node("a", address: "http://a:8080"))
        #expect(nodes.members["b"]?.location(ofPlayed: "show.preview") == .node("a", address: "http://a:8080"))
        #expect(nodes.members["b"]?.location(ofPlayed: "show_720p") == .node("a", address: "http://a:8080"))
        #expect(nodes.members["b"]?.location(ofPlayed: "other") == .here)
        #expect(try await nodes.claim("show", at: "b") == .roomExists(at: "a"))
        #expect(throws: StageError.roomExists(at: "a")) { try nodes.members["b"]?.check("show") }
        let listed = nodes.members["b"]?.nodes ?? []
        #expect(listed.map(\.name) == ["a", "b"] && listed.map(\.rooms) == [1, 0])
        #expect(listed.allSatisfy { $0.state == .up && $0.leaseSeconds > 0 } && listed.map(\.isSelf) == [false, true])
        let epoch = nodes.members["a"]?.firstEpoch(of: "show", at: 1_800_000_000)
        #expect(epoch == RoomEpoch.epoch(fence: 1_800_000_000, start: 0))

        nodes.inUse["a"] = []
        try await nodes.run(milliseconds: 1000)
        #expect(nodes.members["b"]?.location(of: "show") == .here)
        nodes.inUse["b"] = ["show"]
        #expect(try await nodes.claim("show", at: "b") == nil)
        let later = nodes.members["b"]?.firstEpoch(of: "show", at: 1_800_000_000) ?? 0
        #expect(later > epoch ?? .max)
    }

    @Test("a claim without a room that follows is released")
    func unused() async throws {
        let nodes = Nodes()
        try await nodes.run(milliseconds: 500)
        #expect(try await nodes.claim("show", at: "a") == nil)
        try await nodes.run(milliseconds: 12_000)
        #expect(nodes.store.cluster.tenures.map(\.owner) == [nil])
    }

    @Test("without the store new rooms are refused, the others stay, and locations are known")
    func outage() async throws {
        let nodes = Nodes()
        nodes.inUse["a"] = ["show"]
        try await nodes.run(milliseconds: 1000)
        nodes.store.setAway(true)
        try await nodes.run(milliseconds: 5000)
        #expect(nodes.closed.isEmpty)
        #expect(nodes.members["b"]?.location(of: "show") == .node("a", address: "http://a:8080"))
        #expect(try await nodes.claim("new", at: "a") == .clusterUnavailable)
        #expect(nodes.members["a"]?.figures.leaseSeconds == 0)
        nodes.store.setAway(false)
        try await nodes.run(milliseconds: 1000)
        #expect(try await nodes.claim("new", at: "a") == nil)
        #expect(nodes.closed.isEmpty)
    }

    @Test("a room of a lost node waits for it, and is found again when the node is back")
    func lostNode() async throws {
        let nodes = Nodes()
        nodes.inUse["a"] = ["show"]
        try await nodes.run(milliseconds: 1000)
        nodes.silent = ["a"]
        try await nodes.run(milliseconds: 2200)
        // It may still answer.
        #expect(nodes.members["b"]?.location(of: "show") == .node("a", address: "http://a:8080"))
        #expect(nodes.members["b"]?.nodes.first?.state == .silent)
        try await nodes.run(milliseconds: 8000)
        #expect(nodes.members["b"]?.location(of: "show") == .lost("a"))
        #expect(nodes.members["b"]?.nodes.first?.state == .lost)
        #expect(nodes.members["b"]?.others.lost == ["a"])
        // Another process with the same data folder.
        nodes.start("a", predecessors: [1])
        nodes.silent = []
        try await nodes.run(milliseconds: 4000)
        #expect(nodes.members["b"]?.location(of: "show") == .node("a", address: "http://a:8080"))
        try nodes.members["a"]?.check("show")
        #expect(nodes.closed.isEmpty)
    }

    @Test("a room that another node has claimed since is closed where it was")
    func laterOwner() async throws {
        let nodes = Nodes()
        nodes.inUse["a"] = ["show", "other"]
        try await nodes.run(milliseconds: 1000)
        nodes.silent = ["a"]
        try await nodes.run(milliseconds: 10_000)
        nodes.inUse["b"] = ["show"]
        #expect(try await nodes.claim("show", at: "b") == nil)
        nodes.silent = []
        try await nodes.run(milliseconds: 2000)
        #expect(nodes.closed == ["a": ["show"]])
        #expect(nodes.members["a"]?.location(of: "show") == .node("b", address: "http://b:8080"))
        try nodes.members["a"]?.check("other")
    }
}

@Suite("Configuration of a cluster")
struct ClusterConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("cluster") }

    private func values() -> [String: String] {
        [
            "cluster.dsn": "host=db", "cluster.node": "a.example", "cluster.address": "http://10.0.0.5:8080",
            "cluster.key": folder.file("cluster.key"),
        ]
    }

    @Test("all settings of the cluster are needed together, or none")
    func together() async throws {
        let alone = try await GatewayConfiguration(commandLine: [:], file: nil)
        #expect(try ClusterConfiguration(alone) == nil)
        _ = try folder.write(String(repeating: "k", count: 32) + "\n", to: "cluster.key")
        let configuration = try await GatewayConfiguration(commandLine: values(), file: nil)
        let cluster = try #require(try ClusterConfiguration(configuration))
        #expect(cluster.node == "a.example" && cluster.key == Array(repeating: UInt8(ascii: "k"), count: 32))
        #expect(configuration.lines.contains("cluster.dsn: ***"))
        for key in values().keys {
            var some = values()
            some[key] = nil
            await #expect(throws: ConfigurationError.self, "\(key)") {
                _ = try await GatewayConfiguration(commandLine: some, file: nil)
            }
        }
        for (key, value) in [
            ("cluster.node", "a b"), ("cluster.address", "10.0.0.5:8080"), ("cluster.address", "http://"),
        ] {
            var wrong = values()
            wrong[key] = value
            await #expect(throws: ConfigurationError.self, "\(value)") {
                _ = try await GatewayConfiguration(commandLine: wrong, file: nil)
            }
        }
    }

    @Test("a key that is missing or too short is refused")
    func keys() async throws {
        let configuration = try await GatewayConfiguration(commandLine: values(), file: nil)
        #expect(throws: ConfigurationError.self) { try ClusterConfiguration(configuration) }
        _ = try folder.write("short", to: "cluster.key")
        #expect(throws: ConfigurationError.self) { try ClusterConfiguration(configuration) }
    }
}
