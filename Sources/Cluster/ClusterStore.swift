/// Identifies one process of a node; the next process has the same name and another incarnation.
public struct NodeIdentity: Sendable, Hashable {
    /// The name of the node, unique in the cluster.
    public var node: String
    /// A random number, drawn again by every process and after every loss of the lease.
    public var incarnation: UInt64

    /// Makes an identity.
    public init(node: String, incarnation: UInt64) {
        self.node = node
        self.incarnation = incarnation
    }
}

/// Describes a node to the others.
public struct NodeProfile: Sendable, Hashable {
    /// Where other nodes reach this one.
    public var address: String
    /// The load, 0 for idle and 1 for fully used.
    public var load: Double
    /// Whether the node accepts rooms; false while it is drained.
    public var acceptsRooms: Bool
    /// The version of the program.
    public var version: String

    /// Makes a profile.
    public init(address: String = "", load: Double = 0, acceptsRooms: Bool = true, version: String = "") {
        self.address = address
        self.load = load
        self.acceptsRooms = acceptsRooms
        self.version = version
    }
}

/// The stored row of a node.
public struct NodeStatus: Sendable, Hashable {
    /// The process that wrote the row last.
    public var identity: NodeIdentity
    /// The number of its latest write; each write has a higher one.
    public var count: UInt64
    /// Whether another node declared the process dead, so that none of its writes is accepted any more.
    public var isFenced: Bool
    /// What the node last reported of itself.
    public var profile: NodeProfile

    /// Makes a row.
    public init(identity: NodeIdentity, count: UInt64, isFenced: Bool = false, profile: NodeProfile = .init()) {
        self.identity = identity
        self.count = count
        self.isFenced = isFenced
        self.profile = profile
    }
}

/// The stored owner of a room.
public struct RoomTenure: Sendable, Hashable {
    /// What identifies the room among all nodes: its unique name or its sid, of which each has a tenure of its own.
    public var room: String
    /// The process that owns the room; nil after a release.
    public var owner: NodeIdentity?
    /// The number of the ownership, higher than those of all earlier owners.
    public var fence: UInt64

    /// Makes a tenure.
    public init(room: String, owner: NodeIdentity?, fence: UInt64) {
        self.room = room
        self.owner = owner
        self.fence = fence
    }
}

/// The rows of all nodes and rooms as one read returned them.
///
/// Possibly outdated, or never acknowledged: a read suggests what to write, and decides nothing.
public struct ClusterSnapshot: Sendable, Hashable {
    /// The nodes.
    public var nodes: [NodeStatus]
    /// The rooms.
    public var tenures: [RoomTenure]

    /// Makes a snapshot.
    public init(nodes: [NodeStatus] = [], tenures: [RoomTenure] = []) {
        self.nodes = nodes
        self.tenures = tenures
    }
}

/// One write of a node: its heartbeat, and the changes of ownership that depend on it, in one transaction.
public struct NodeWrite: Sendable, Hashable {
    /// The condition on the writer's own row, without which nothing of the write is done.
    public enum Condition: Sendable, Hashable {
        /// The row is exactly this one, which the write replaces; nil: there is none.
        case replacing(NodeStatus?)
        /// The row is of this identity and not fenced, its count is lower than the write's, and at least this one,
        /// the latest that was acknowledged: a lower one means that the store lost writes.
        case acknowledged(UInt64)
    }

    /// A claim of a room, granted only over exactly the tenure that was read.
    ///
    /// The owner that was read must be absent, the writer itself, or over: fenced, or replaced by another incarnation.
    /// The store checks this in the write.
    public struct Claim: Sendable, Hashable {
        /// The room.
        public var room: String
        /// The fence that was read; nil: the room is not stored yet.
        public var expected: UInt64?

        /// Makes a claim.
        public init(room: String, expected: UInt64?) {
            self.room = room
            self.expected = expected
        }
    }

    /// The writer.
    public var identity: NodeIdentity
    /// The number of this write.
    public var count: UInt64
    /// The condition on the writer's row.
    public var condition: Condition
    /// What the writer reports of itself.
    public var profile: NodeProfile
    /// The nodes to fence: each only if its row has exactly this identity and count.
    public var fences: [NodeStatus] = []
    /// The rooms to claim, after the fences; each gets the higher one of its fence plus one and `fenceFloor`.
    public var claims: [Claim] = []
    /// The lowest fence to give, so that a store that was restored from a backup gives no number twice.
    public var fenceFloor: UInt64 = 0
    /// The rooms to release, by the fence that the writer has.
    public var releases: [RoomTenure] = []

    /// Makes a heartbeat.
    public init(identity: NodeIdentity, count: UInt64, condition: Condition, profile: NodeProfile = .init()) {
        self.identity = identity
        self.count = count
        self.condition = condition
        self.profile = profile
    }
}

/// The answer to a write.
public enum NodeWriteResult: Sendable, Hashable {
    /// The heartbeat is stored durably, with the claims that were granted.
    case accepted(granted: [RoomTenure])
    /// Nothing was stored: the writer's row was not as the write demands.
    case rejected
}

/// Reports that the store did not answer in time, or not at all: the write may have happened, or may still.
public struct ClusterStoreUnavailable: Error, Sendable {
    /// The reason, for the log.
    public var reason: String

    /// Makes the error.
    public init(_ reason: String) {
        self.reason = reason
    }
}

/// The store by which nodes agree on who owns which room.
///
/// `accepted` must mean that the write survives the loss of any one server. Writes of one row happen one after the
/// other. Everything else may be outdated.
public protocol ClusterStore: Sendable {
    /// Executes a write.
    func write(_ write: NodeWrite) async throws(ClusterStoreUnavailable) -> NodeWriteResult

    /// Returns the rows of all nodes and rooms.
    func read() async throws(ClusterStoreUnavailable) -> ClusterSnapshot
}
