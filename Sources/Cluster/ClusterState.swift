/// The nodes and rooms in a store, and what a write does to them: the definition that every store follows.
///
/// Tests compare real stores with it.
package struct ClusterState: Sendable, Hashable {
    /// The nodes, in the order of their registration.
    package private(set) var nodes: [NodeStatus] = []
    /// The rooms, in the order of their first claim.
    package private(set) var tenures: [RoomTenure] = []

    /// Makes an empty store.
    package init() {}

    /// The content.
    package var snapshot: ClusterSnapshot { ClusterSnapshot(nodes: nodes, tenures: tenures) }

    /// Executes a write: all of it, or nothing if the writer's row is not as the write demands.
    package mutating func apply(_ write: NodeWrite, rules: ClusterRules = ClusterRules()) -> NodeWriteResult {
        let index = nodes.firstIndex { $0.identity.node == write.identity.node }
        guard accepts(write, over: index.map { nodes[$0] }, rules: rules) else { return .rejected }
        let status = NodeStatus(identity: write.identity, count: write.count, profile: write.profile)
        if let index { nodes[index] = status } else { nodes.append(status) }
        for fenced in write.fences { fence(fenced, rules: rules) }
        for release in write.releases { self.release(release, by: write.identity) }
        let granted = write.claims.compactMap { grant($0, to: write.identity, floor: write.fenceFloor, rules: rules) }
        return .accepted(granted: granted)
    }

    private func accepts(_ write: NodeWrite, over row: NodeStatus?, rules: ClusterRules) -> Bool {
        switch write.condition {
        case .replacing(let expected):
            return row?.identity == expected?.identity && row?.count == expected?.count
                && row?.isFenced == expected?.isFenced
        case .acknowledged(let count):
            guard let row, row.identity == write.identity, !row.isFenced || rules.acceptsFenced else { return false }
            return row.count >= count && row.count < write.count
        }
    }

    private mutating func fence(_ expected: NodeStatus, rules: ClusterRules) {
        for index in nodes.indices where nodes[index].identity == expected.identity {
            if nodes[index].count == expected.count || rules.fencesOverChange { nodes[index].isFenced = true }
        }
    }

    private mutating func release(_ tenure: RoomTenure, by owner: NodeIdentity) {
        for index in tenures.indices where tenures[index].room == tenure.room {
            guard tenures[index].owner == owner, tenures[index].fence == tenure.fence else { continue }
            // With a fence of its own, so that a late claim of the released tenure fails.
            tenures[index] = RoomTenure(room: tenure.room, owner: nil, fence: tenure.fence + 1)
        }
    }

    private mutating func grant(
        _ claim: NodeWrite.Claim,
        to owner: NodeIdentity,
        floor: UInt64,
        rules: ClusterRules
    ) -> RoomTenure? {
        guard let index = tenures.firstIndex(where: { $0.room == claim.room }) else {
            guard claim.expected == nil else { return nil }
            let tenure = RoomTenure(room: claim.room, owner: owner, fence: max(1, floor))
            tenures.append(tenure)
            return tenure
        }
        let present = tenures[index]
        guard present.fence == claim.expected else { return nil }
        if let other = present.owner, other != owner, !rules.claimsByRead {
            let row = nodes.first { $0.identity.node == other.node }
            guard let row, row.isFenced || row.identity != other else { return nil }
        }
        let tenure = RoomTenure(room: claim.room, owner: owner, fence: max(present.fence + 1, floor))
        tenures[index] = tenure
        if rules.forgetsFence { tenures[index].fence = present.fence }
        return tenure
    }
}
