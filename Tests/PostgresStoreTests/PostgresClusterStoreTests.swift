import Cluster
import FootlightTesting
import Logging
import Media
import PostgresStore
import Synchronization
import TestSupport
import Testing

@Suite("Cluster in PostgreSQL", .enabled(if: TestRun.isFull && PostgresServers.programs != nil))
struct PostgresClusterStoreTests {
    private func store(_ connection: String, timeout: Int64 = 5000) throws -> PostgresClusterStore {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return PostgresClusterStore(
            link: try PostgresLink(.init(connection: connection, timeout: timeout), logger: logger)
        )
    }

    private func identity(_ node: String, _ incarnation: UInt64 = 1) -> NodeIdentity {
        NodeIdentity(node: node, incarnation: incarnation)
    }

    private func register(_ node: String, in store: PostgresClusterStore) async throws -> NodeIdentity {
        let write = NodeWrite(identity: identity(node), count: 1, condition: .replacing(nil))
        #expect(try await store.write(write) == .accepted(granted: []))
        return write.identity
    }

    @Test("random writes have the results that the definition of a store gives")
    func conformance() async throws {
        let servers = try await PostgresServers(hasStandby: false)
        let store = try store(servers.connection(0))
        try await store.prepare()
        try await store.prepare()
        var state = ClusterState()
        var random = SeededGenerator(seed: 7)
        var (accepted, granted, fenced) = (0, 0, 0)
        for _ in 0..<1500 {
            let write = randomWrite(over: state, &random)
            let before = state
            let expected = state.apply(write)
            let result = try await store.write(write)
            try #require(sorted(result) == sorted(expected), "\(write) over \(before)")
            if case .accepted(let tenures) = result { (accepted, granted) = (accepted + 1, granted + tenures.count) }
            fenced += state.nodes.count(where: \.isFenced) > before.nodes.count(where: \.isFenced) ? 1 : 0
            guard state != before else { continue }
            let snapshot = try await store.read()
            try #require(Set(snapshot.nodes) == Set(state.nodes))
            try #require(Set(snapshot.tenures) == Set(state.tenures))
        }
        #expect(accepted > 200 && granted > 100 && fenced > 20, "\(accepted), \(granted), \(fenced)")
    }

    private func sorted(_ result: NodeWriteResult) -> NodeWriteResult {
        guard case .accepted(let granted) = result else { return result }
        return .accepted(granted: granted.sorted { $0.room < $1.room })
    }

    /// Draws a write that often fits the state, and often just misses it.
    private func randomWrite(over state: ClusterState, _ random: inout SeededGenerator) -> NodeWrite {
        let node = ["a", "b", "c"].randomElement(using: &random) ?? "a"
        let row = state.nodes.first { $0.identity.node == node }
        let isRegistration = row == nil || Int.random(in: 0..<(row?.isFenced == true ? 2 : 12), using: &random) == 0
        let known = row?.count ?? 0
        var write = NodeWrite(
            identity: identity(node, isRegistration ? random.next() >> 1 : row?.identity.incarnation ?? 1),
            count: known + UInt64.random(in: 0...2, using: &random),
            condition: isRegistration
                ? .replacing(row) : .acknowledged(known + UInt64.random(in: 0...1, using: &random)),
            profile: NodeProfile(
                address: "[::1]:\(known)",
                load: 0.25,
                acceptsRooms: Bool.random(using: &random),
                version: "1.\(known)"
            )
        )
        if Int.random(in: 0..<4, using: &random) > 0, !isRegistration { write.condition = .acknowledged(known) }
        if isRegistration, Int.random(in: 0..<6, using: &random) == 0, var other = row {
            other.count += 1
            write.condition = .replacing(other)
        }
        guard !isRegistration else { return write }
        write.fenceFloor = UInt64.random(in: 0...1, using: &random) * 1_800_000_000
        for var other in state.nodes where other.identity.node != node && Int.random(in: 0..<8, using: &random) == 0 {
            if Bool.random(using: &random) { other.count += UInt64.random(in: 0...1, using: &random) }
            write.fences.append(other)
        }
        for room in ["r1", "r 2", "r\"3"] where Int.random(in: 0..<2, using: &random) == 0 {
            let tenure = state.tenures.first { $0.room == room }
            if let tenure, tenure.owner == write.identity, Bool.random(using: &random) {
                write.releases.append(tenure)
            } else {
                let missed = UInt64.random(in: 0...3, using: &random) == 0
                write.claims.append(.init(room: room, expected: missed ? (tenure?.fence ?? 0) + 1 : tenure?.fence))
            }
        }
        return write
    }

    @Test("of two nodes that claim one room at the same time exactly one gets it, 200 times")
    func races() async throws {
        let servers = try await PostgresServers()
        let stores = [try store(servers.connection(0, 1)), try store(servers.connection(1, 0))]
        // Both create the tables.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores { group.addTask { try await store.prepare() } }
            try await group.waitForAll()
        }
        let identities = [try await register("a", in: stores[0]), try await register("b", in: stores[1])]
        for round in 0..<200 {
            // A new room, or one that was released.
            let room = "room\(round / 2)"
            let tenure = try await stores[0].read().tenures.first { $0.room == room }
            let granted = try await withThrowingTaskGroup(of: [RoomTenure].self) { group in
                for (store, identity) in zip(stores, identities) {
                    var write = NodeWrite(identity: identity, count: UInt64(2 * round + 2), condition: .acknowledged(1))
                    write.claims = [.init(room: room, expected: tenure?.fence)]
                    group.addTask { [write] in
                        guard case .accepted(let granted) = try await store.write(write) else { return [] }
                        return granted
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(granted.count == 1)
            guard let winner = granted.first else { continue }
            #expect(winner.fence > tenure?.fence ?? 0)
            let index = winner.owner == identities[0] ? 0 : 1
            var release = NodeWrite(
                identity: identities[index],
                count: UInt64(2 * round + 3),
                condition: .acknowledged(1)
            )
            release.releases = [winner]
            #expect(try await stores[index].write(release) == .accepted(granted: []))
        }
    }

    @Test("released rooms are removed after a day, and owned ones and recent ones never")
    func removal() async throws {
        let servers = try await PostgresServers(hasStandby: false)
        let store = try store(servers.connection(0))
        try await store.prepare()
        let owner = try await register("a", in: store)
        var claim = NodeWrite(identity: owner, count: 2, condition: .acknowledged(1))
        claim.claims = ["old", "recent", "owned", "again"].map { .init(room: $0, expected: nil) }
        #expect(try await store.write(claim) != .rejected)
        var release = NodeWrite(identity: owner, count: 3, condition: .acknowledged(2))
        release.releases = ["old", "recent", "again"].map { RoomTenure(room: $0, owner: owner, fence: 1) }
        #expect(try await store.write(release) != .rejected)
        try await servers.query(
            "UPDATE footlight.room SET released_at = now() - interval '25 hours' WHERE sid IN ('old', 'again')",
            on: 0
        )
        var reclaim = NodeWrite(identity: owner, count: 4, condition: .acknowledged(3))
        reclaim.claims = [.init(room: "again", expected: 2)]
        #expect(try await store.write(reclaim) != .rejected)
        try await store.removeReleased()
        #expect(Set(try await store.read().tenures.map(\.room)) == ["recent", "owned", "again"])
    }

    @Test("writes of an owner that was fenced change nothing")
    func lateOwner() async throws {
        let servers = try await PostgresServers(hasStandby: false)
        let store = try store(servers.connection(0))
        try await store.prepare()
        let (first, second) = (try await register("a", in: store), try await register("b", in: store))
        var claim = NodeWrite(identity: first, count: 2, condition: .acknowledged(1))
        claim.claims = [.init(room: "r", expected: nil)]
        claim.fenceFloor = 1_800_000_000
        let tenure = RoomTenure(room: "r", owner: first, fence: 1_800_000_000)
        #expect(try await store.write(claim) == .accepted(granted: [tenure]))
        var takeover = NodeWrite(identity: second, count: 2, condition: .acknowledged(1))
        takeover.claims = [.init(room: "r", expected: tenure.fence)]
        // The owner has not been fenced, whatever the claimer believes.
        #expect(try await store.write(takeover) == .accepted(granted: []))
        takeover.count = 3
        takeover.fences = [NodeStatus(identity: first, count: 2)]
        let taken = RoomTenure(room: "r", owner: second, fence: 1_800_000_001)
        #expect(try await store.write(takeover) == .accepted(granted: [taken]))
        var late = NodeWrite(identity: first, count: 3, condition: .acknowledged(2))
        late.releases = [tenure]
        late.claims = [.init(room: "other", expected: nil)]
        #expect(try await store.write(late) == .rejected)
        #expect(try await store.read().tenures == [taken])
    }

    @Test("a former primary that comes back acknowledges nothing, and what it answers to reads moves no room")
    func formerPrimary() async throws {
        let servers = try await PostgresServers()
        // With this default a session would not wait for the standby.
        try await servers.query("ALTER ROLE postgres SET synchronous_commit = local", on: 0)
        let both = try store(servers.connection(0, 1), timeout: 1500)
        try await both.prepare()
        let (first, second) = (try await register("a", in: both), try await register("b", in: both))
        var claim = NodeWrite(identity: first, count: 2, condition: .acknowledged(1))
        claim.claims = [.init(room: "r", expected: nil)]
        #expect(try await both.write(claim) == .accepted(granted: [RoomTenure(room: "r", owner: first, fence: 1)]))
        let old = try await both.read()

        servers.setStopped(true, 0)
        try await servers.promote()
        var takeover = NodeWrite(identity: second, count: 2, condition: .acknowledged(1))
        takeover.fences = [NodeStatus(identity: first, count: 2)]
        takeover.claims = [.init(room: "r", expected: 1)]
        let taken = RoomTenure(room: "r", owner: second, fence: 2)
        // The link has to find out that the first server is silent.
        let isTaken = try await eventually {
            (try? await both.write(takeover)) == .accepted(granted: [taken])
        }
        #expect(isTaken)

        servers.setStopped(false, 0)
        let former = try store(servers.connection(0), timeout: 1500)
        let isAnswering = try await eventually { (try? await former.read()) == old }
        #expect(isAnswering, "the former primary has the old fences")
        for count in 3...5 as ClosedRange<UInt64> {
            let heartbeat = NodeWrite(identity: first, count: count, condition: .acknowledged(2))
            await #expect(throws: ClusterStoreUnavailable.self) { try await former.write(heartbeat) }
        }
        // On the new primary the same heartbeat is refused, and the room stays.
        let heartbeat = NodeWrite(identity: first, count: 9, condition: .acknowledged(2))
        #expect(try await store(servers.connection(1)).write(heartbeat) == .rejected)
        #expect(try await store(servers.connection(1)).read().tenures == [taken])
    }

    @Test("after the primary is killed and the standby promoted, every node has its rooms and the lease again")
    func failover() async throws {
        let servers = try await PostgresServers()
        let nodes = try ["a", "b"].map { name in
            TestNode(name, store: try store(servers.connection(0, 1), timeout: 700))
        }
        try await store(servers.connection(0)).prepare()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes { group.addTask { await node.run() } }
            for (index, node) in nodes.enumerated() {
                for room in 0..<5 { node.member.withLock { $0.request("room\(index)-\(room)") } }
            }
            func fences() -> [[String: UInt64]] {
                nodes.map { node in
                    node.member.withLock { member in
                        guard member.lease.isHeld(at: .now()) else { return [:] }
                        return Dictionary(uniqueKeysWithValues: member.ownedRooms.map { ($0.room, $0.fence) })
                    }
                }
            }
            #expect(try await eventually { fences().map(\.count) == [5, 5] })
            let before = fences()
            servers.kill(0)
            // For longer than a lease holds, as a failover takes.
            try await Task.sleep(for: .seconds(3))
            #expect(fences() == [[:], [:]])
            try await servers.promote()
            #expect(try await eventually { fences().map(\.count) == [5, 5] })
            #expect(fences() == before)
            // A node that ends now is fenced, and its rooms go on with higher fences.
            nodes[0].stop()
            #expect(try await eventually { fences()[1].count == 10 })
            let after = fences()[1]
            #expect(before[0].allSatisfy { room, fence in after[room].map { $0 > fence } ?? false })
            group.cancelAll()
        }
    }
}

/// A node that executes the actions of its member.
private final class TestNode: Sendable {
    let member: Mutex<ClusterMember>
    private let store: PostgresClusterStore
    private let isStopped = Mutex(false)

    init(_ name: String, store: PostgresClusterStore) {
        self.store = store
        member = Mutex(
            ClusterMember(node: name, generator: SystemRandomNumberGenerator(), at: .now())
        )
    }

    func stop() { isStopped.withLock { $0 = true } }

    func run() async {
        while !Task.isCancelled, !isStopped.withLock({ $0 }) {
            let action = member.withLock { $0.nextAction(at: .now(), wallSeconds: 1_800_000_000) }
            do {
                switch action {
                case nil: try? await Task.sleep(for: .milliseconds(10))
                case .read:
                    let snapshot = try await store.read()
                    member.withLock { $0.received(snapshot, at: .now()) }
                case .write(let write):
                    let result = try await store.write(write)
                    _ = member.withLock { $0.written(result, at: .now()) }
                }
            } catch {
                member.withLock { $0.unanswered(at: .now()) }
            }
        }
    }
}
