public import Cluster

/// The nodes and rooms of a cluster in a PostgreSQL database.
///
/// Every write is one statement, and so one transaction: the writer's row first, then all that depends on it. The server
/// acknowledges it when its synchronous standby has it. An answer that nothing was changed is no more than a read.
public struct PostgresClusterStore: ClusterStore {
    private let link: PostgresLink

    /// Makes the store; `prepare` creates its tables.
    public init(link: PostgresLink) {
        self.link = link
    }

    /// Creates the tables, with those of the other stores, or migrates them.
    ///
    /// - Throws: `PostgresFault` if the tables are of a later version, or cannot be created.
    public func prepare() async throws(PostgresFault) {
        try await PostgresSchema.prepare(link)
    }

    /// Removes the rooms that were released more than a day ago, so that reads do not grow with every former room.
    public func removeReleased() async throws(PostgresFault) {
        _ = try await link.execute(PostgresStatement(Self.removeQuery))
    }

    /// Executes a write.
    public func write(_ write: NodeWrite) async throws(ClusterStoreUnavailable) -> NodeWriteResult {
        let rows = try await execute(Self.statement(for: write))
        var isAccepted = false
        var granted: [RoomTenure] = []
        for row in rows where row.count == 2 {
            if let room = row[0] {
                guard let fence = row[1].flatMap({ UInt64($0) }) else { throw Self.malformed }
                granted.append(RoomTenure(room: room, owner: write.identity, fence: fence))
            } else {
                isAccepted = true
            }
        }
        return isAccepted ? .accepted(granted: granted) : .rejected
    }

    /// Returns the rows of all nodes and rooms.
    public func read() async throws(ClusterStoreUnavailable) -> ClusterSnapshot {
        var snapshot = ClusterSnapshot()
        for row in try await execute(PostgresStatement(Self.readQuery)) {
            guard row.count == 9, let name = row[1], let number = row[3].flatMap({ UInt64($0) }) else {
                throw Self.malformed
            }
            let incarnation = row[2].flatMap { UInt64($0) }
            if row[0] == "node" {
                guard let incarnation else { throw Self.malformed }
                let profile = NodeProfile(
                    address: row[5] ?? "",
                    load: row[6].flatMap { Double($0) } ?? 0,
                    acceptsRooms: row[7] == "t",
                    version: row[8] ?? ""
                )
                let identity = NodeIdentity(node: name, incarnation: incarnation)
                snapshot.nodes.append(
                    NodeStatus(identity: identity, count: number, isFenced: row[4] == "t", profile: profile)
                )
            } else {
                let owner = row[5].flatMap { node in incarnation.map { NodeIdentity(node: node, incarnation: $0) } }
                snapshot.tenures.append(RoomTenure(room: name, owner: owner, fence: number))
            }
        }
        return snapshot
    }

    private static let malformed = ClusterStoreUnavailable("a row of the database is not understood")

    private func execute(_ statement: PostgresStatement) async throws(ClusterStoreUnavailable) -> [[String?]] {
        do {
            return try await link.execute(statement)
        } catch {
            throw ClusterStoreUnavailable("\(error)")
        }
    }
}
