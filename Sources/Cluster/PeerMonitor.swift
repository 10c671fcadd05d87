import Media

/// Watches the rows of other nodes for changes.
struct PeerMonitor: Sendable {
    private struct Sighting {
        var status: NodeStatus
        /// The time of the first read that returned this row.
        var since: MonotonicTime
    }

    private var sightings: [String: Sighting] = [:]

    /// Records the rows of a read.
    ///
    /// A row that is older than one already read counts as a change, too: the later one may have been read from a server
    /// whose writes were lost. An outdated read only makes this node wait longer.
    mutating func observe(_ nodes: [NodeStatus], at now: MonotonicTime) {
        for status in nodes {
            if let known = sightings[status.identity.node]?.status, known.identity == status.identity,
                known.count == status.count, known.isFenced == status.isFenced
            {
                continue
            }
            sightings[status.identity.node] = Sighting(status: status, since: now)
        }
        guard sightings.count > nodes.count else { return }
        let names = Set(nodes.map(\.identity.node))
        sightings = sightings.filter { names.contains($0.key) }
    }

    /// All rows, each with the time since which it is unchanged.
    var all: [(status: NodeStatus, since: MonotonicTime)] { sightings.values.map { ($0.status, $0.since) } }

    /// Returns the row of a node and the time since which it is unchanged.
    func row(of node: String) -> (status: NodeStatus, since: MonotonicTime)? {
        sightings[node].map { ($0.status, $0.since) }
    }

    /// Returns the rows for which a condition holds, given the time since which they are unchanged.
    func statuses(where condition: (NodeStatus, _ since: MonotonicTime) -> Bool) -> [NodeStatus] {
        sightings.values.compactMap { condition($0.status, $0.since) ? $0.status : nil }
    }

    /// Returns the rows that changed within `milliseconds`, of nodes that are not fenced.
    func live(within milliseconds: Int64, at now: MonotonicTime) -> [NodeStatus] {
        statuses { !$0.isFenced && now <= $1.advanced(milliseconds: milliseconds) }
    }

    /// Whether the process is known to be over: fenced, or replaced by another incarnation.
    ///
    /// A suggestion for a claim; the store checks it again.
    func isOver(_ identity: NodeIdentity) -> Bool {
        guard let status = sightings[identity.node]?.status else { return false }
        return status.isFenced || status.identity != identity
    }
}
