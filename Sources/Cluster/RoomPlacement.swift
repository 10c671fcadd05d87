/// Chooses nodes for rooms.
public enum RoomPlacement {
    /// The load below which nodes count as equally idle.
    static let idleLoad = 0.1
    /// The ratio to the lowest load from which a node passes a new room on.
    static let imbalance = 1.5

    /// Returns the node for a new room: the one that was asked, unless its load exceeds one and a half times the lowest.
    ///
    /// - Parameters:
    ///   - asked: The node that received the request.
    ///   - nodes: The live nodes; those that accept no rooms are left out.
    /// - Returns: A node of `nodes`, or `asked` if none accepts rooms.
    public static func node(forNewRoom asked: String, among nodes: [NodeStatus]) -> String {
        let candidates = nodes.filter(\.profile.acceptsRooms)
        func load(_ status: NodeStatus) -> Double {
            // A load that is no number is none to place rooms on.
            status.profile.load.isFinite ? max(status.profile.load, idleLoad) : .infinity
        }
        guard
            let least = candidates.min(by: { (load($0), $0.identity.node) < (load($1), $1.identity.node) })
        else { return asked }
        guard let own = candidates.first(where: { $0.identity.node == asked }) else { return least.identity.node }
        return load(own) > load(least) * imbalance ? least.identity.node : asked
    }

    /// Returns the position of a node in the order in which nodes take over a room whose owner is gone; 0 is the first.
    ///
    /// The order is by rendezvous hashing: every node computes the same one, it differs from room to room, and a node
    /// that joins or leaves changes the first position only for rooms that it gains or loses.
    public static func position(of node: String, for room: String, among nodes: [NodeStatus]) -> Int {
        let own = weight(node, room)
        return nodes.count { status in
            guard status.profile.acceptsRooms, status.identity.node != node else { return false }
            let other = weight(status.identity.node, room)
            return other > own || (other == own && status.identity.node > node)
        }
    }

    /// Hashes a node with a room, the same in every process: FNV-1a, and the final mixing of SplitMix64, without which
    /// names that differ in the last character would be close together.
    private static func weight(_ node: String, _ room: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for text in [node, room] {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            // Separates the texts: no byte of UTF-8 is 255.
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
        return hash ^ hash >> 31
    }
}
