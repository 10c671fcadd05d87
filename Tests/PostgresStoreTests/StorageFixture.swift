import Cluster
import Logging
import PostgresStore
import Stage
import Synchronization
import TestSupport
import Testing
import Webhooks

@testable import Persistence

/// The kinds of databases that the suites of the storages run against.
enum DatabaseKind: String, CustomTestStringConvertible {
    case sqlite = "SQLite"
    case postgres = "PostgreSQL"

    /// The kinds that this machine has.
    static let present: [DatabaseKind] = PostgresServers.programs == nil ? [.sqlite] : [.sqlite, .postgres]

    var testDescription: String { rawValue }
}

/// Starts one PostgreSQL server for a suite, in which each test has a database of its own.
struct SharedPostgresTrait: SuiteTrait, TestScoping {
    @TaskLocal static var servers: PostgresServers?

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        guard PostgresServers.programs != nil else { return try await function() }
        let servers = try await PostgresServers(hasStandby: false)
        try await Self.$servers.withValue(servers) { try await function() }
    }
}

extension Trait where Self == SharedPostgresTrait {
    static var sharedPostgres: Self { Self() }
}

/// A database of a test, and the gateway that uses it.
final class StorageFixture: Sendable {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private let folder: TemporaryFolder
    /// The gateway as a node of a cluster; nil where it runs alone.
    private let node: Mutex<ClaimingNode?>

    init(_ kind: DatabaseKind) async throws {
        folder = try TemporaryFolder("storage")
        node = Mutex(kind == .sqlite ? nil : try await ClaimingNode("a", Self.newDatabase()))
    }

    /// Creates a database on the suite's server, and returns its connection string.
    static func newDatabase() async throws -> String {
        let servers = try #require(SharedPostgresTrait.servers)
        return servers.connection(0, database: try await servers.createDatabase())
    }

    func rooms() -> any RoomStorage {
        if let node = node.withLock({ $0 }) { return node.rooms() }
        return StoreConnection<RoomDatabase>(
            path: folder.file("rooms.sqlite"),
            lockTimeout: 0.5,
            logger: Self.logger
        )
    }

    func shows() -> any ShowStorage {
        if let node = node.withLock({ $0 }) { return node.shows() }
        return StoreConnection<ShowDatabase>(
            path: folder.file("shows.sqlite"),
            lockTimeout: 0.5,
            logger: Self.logger
        )
    }

    func outbox() -> any WebhookStore {
        if let node = node.withLock({ $0 }) { return node.outbox() }
        return OutboxStore(path: folder.file("webhooks.sqlite"), logger: Self.logger)
    }

    func store(of directory: any RoomRecordSource, writeDelay: Double = 0.02) -> RoomStore {
        node.withLock { $0 }?.store(of: directory, writeDelay: writeDelay)
            ?? RoomStore(
                RoomStoreConfiguration(writeDelay: writeDelay, initialRetryDelay: 0.02, maximumRetryDelay: 0.1),
                storage: rooms(),
                source: directory,
                logger: Self.logger
            )
    }

    /// Makes the gateway the owner of rooms or shows.
    func claim(_ ids: [String]) async throws {
        try await node.withLock { $0 }?.claim(ids)
    }

    /// Gives up rooms or shows.
    func release(_ ids: [String]) async throws {
        try await node.withLock { $0 }?.release(ids)
    }

    /// Goes on as the next process of the gateway, with the same rooms and shows.
    func restart() async throws {
        guard let former = node.withLock({ $0 }) else { return }
        let next = try await ClaimingNode("a", former.connection)
        try await next.claim(former.owned)
        node.withLock { $0 = next }
    }
}

/// A node of a cluster that claims rooms and shows by hand.
final class ClaimingNode: Sendable {
    private struct State {
        var count: UInt64 = 1
        var fences: [String: UInt64] = [:]
    }

    let connection: String
    let link: PostgresLink
    private let cluster: PostgresClusterStore
    private let identity: NodeIdentity
    var name: String { identity.node }
    private let state = Mutex(State())

    /// Registers a process of a node in place of the former one.
    init(_ name: String, _ connection: String, timeout: Int64 = 5000) async throws {
        self.connection = connection
        link = try PostgresLink(.init(connection: connection, timeout: timeout), logger: StorageFixture.logger)
        cluster = PostgresClusterStore(link: link)
        try await PostgresSchema.prepare(link)
        let row = try await cluster.read().nodes.first { $0.identity.node == name }
        identity = NodeIdentity(node: name, incarnation: (row?.identity.incarnation ?? 0) + 1)
        let write = NodeWrite(identity: identity, count: 1, condition: .replacing(row))
        guard try await cluster.write(write) == .accepted(granted: []) else { throw ToolFailure("not registered") }
    }

    var owned: [String] { state.withLock { $0.fences.keys.sorted() } }

    func fence(of id: String) -> UInt64? { state.withLock { $0.fences[id] } }

    func rooms() -> PostgresRoomStorage {
        PostgresRoomStorage(link: link) { [self] in fence(of: $0) }
    }

    func shows() -> PostgresShowStorage {
        PostgresShowStorage(link: link) { [self] in fence(of: $0) }
    }

    func outbox(leaseDuration: Double = 60) -> PostgresOutboxStore {
        PostgresOutboxStore(
            link: link,
            node: identity.node,
            leaseDuration: leaseDuration,
            secret: Array(1...32)
        ) { [self] in fence(of: $0) }
    }

    func store(
        of directory: any RoomRecordSource,
        writeDelay: Double = 0.02,
        onRefused: @escaping @Sendable (String) -> Void = { _ in }
    ) -> RoomStore {
        RoomStore(
            RoomStoreConfiguration(writeDelay: writeDelay, initialRetryDelay: 0.02, maximumRetryDelay: 0.1),
            storage: rooms(),
            source: directory,
            onRefused: onRefused,
            logger: StorageFixture.logger
        )
    }

    /// The fence of a room that was released stays known, as the one by which this node owned it last.
    func release(_ ids: [String], isForgotten: Bool = true) async throws {
        var write = nextWrite()
        write.releases = state.withLock { state in
            ids.compactMap { id in
                state.fences[id].map { RoomTenure(room: id, owner: identity, fence: $0) }
            }
        }
        guard try await cluster.write(write) == .accepted(granted: []) else { throw ToolFailure("not released") }
        guard isForgotten else { return }
        state.withLock { state in
            for id in ids { state.fences[id] = nil }
        }
    }

    /// Claims rooms or shows, after fencing another node if there is one.
    func claim(_ ids: [String], fencing other: ClaimingNode? = nil) async throws {
        let tenures = try await cluster.read().tenures
        var write = nextWrite()
        write.claims = ids.map { id in .init(room: id, expected: tenures.first { $0.room == id }?.fence) }
        if let other {
            write.fences = [NodeStatus(identity: other.identity, count: other.state.withLock { $0.count })]
        }
        guard case .accepted(let granted) = try await cluster.write(write), granted.count == ids.count else {
            throw ToolFailure("not granted")
        }
        state.withLock { state in
            for tenure in granted { state.fences[tenure.room] = tenure.fence }
        }
    }

    private func nextWrite() -> NodeWrite {
        state.withLock { state in
            state.count += 1
            return NodeWrite(identity: identity, count: state.count, condition: .acknowledged(state.count - 1))
        }
    }
}
