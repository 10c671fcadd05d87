/// What the gateways of a cluster know of one of them.
public enum NodeState: String, Sendable, Hashable, CaseIterable {
    /// It wrote within the time for which a lease holds.
    case up
    /// As `up`, and it accepts no new rooms.
    case draining
    /// It has not written for longer than a lease holds: it is stopped, or does not reach the database.
    case silent
    /// Another gateway declared it lost; its rooms wait for its return, or for a request to have them elsewhere.
    case lost
}

/// A gateway of a cluster.
public struct NodeResource: Codable, Sendable, Hashable {
    /// The name, as in `cluster.node`.
    public var name: String
    /// What is known of it.
    public var state: WireEnum<NodeState>
    /// The address by which the others reach it.
    public var address: String
    /// The version that it runs.
    public var version: String
    /// The number of its rooms.
    public var rooms: Int
    /// Seconds for which its lease still holds, as the gateway that answers knows it; 0 without a lease.
    public var leaseSeconds: Double
    /// Whether it is the gateway that answers.
    public var isSelf: Bool

    /// Creates a description.
    public init(
        name: String,
        state: WireEnum<NodeState>,
        address: String,
        version: String,
        rooms: Int,
        leaseSeconds: Double,
        isSelf: Bool
    ) {
        self.name = name
        self.state = state
        self.address = address
        self.version = version
        self.rooms = rooms
        self.leaseSeconds = leaseSeconds
        self.isSelf = isSelf
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case state
        case address
        case version
        case rooms
        case leaseSeconds = "lease_seconds"
        case isSelf = "self"
    }
}

/// The gateways of a cluster; none for one that runs alone.
public struct NodeList: Codable, Sendable, Hashable {
    /// By name.
    public var nodes: [NodeResource]

    /// Creates a list.
    public init(nodes: [NodeResource]) {
        self.nodes = nodes
    }
}
