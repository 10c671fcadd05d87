/// An order of a room's hosts on stage, by identity.
///
/// Hosts that it does not name follow in join order. A host that left keeps its place for its return.
public struct HostOrder: Sendable, Hashable, Codable {
    /// The maximum number of identities, more than a room has hosts at a time.
    static let capacity = 100

    /// The identities in order; each once.
    public private(set) var identities: [String] = []

    /// Returns hosts, which are in join order, in this order.
    func sorted<Host>(_ hosts: [Host], by identity: KeyPath<Host, String>) -> [Host] {
        let places = Dictionary(zip(identities, identities.indices), uniquingKeysWith: { first, _ in first })
        return hosts.enumerated().sorted { one, other in
            let ranks = [one, other].map { places[$0.element[keyPath: identity]] ?? identities.count }
            return (ranks[0], one.offset) < (ranks[1], other.offset)
        }.map(\.element)
    }

    /// Puts hosts first; the others follow in their present order.
    ///
    /// - Parameters:
    ///   - first: Identities.
    ///   - hosts: The identities of the present hosts in join order.
    /// - Throws: 3073 naming an identity that is unknown or repeated.
    mutating func put(_ first: [String], beforeOthersOf hosts: [String]) throws(StageError) {
        let known = Set(identities).union(hosts)
        var named: Set<String> = []
        for (index, identity) in first.enumerated() {
            guard known.contains(identity) else {
                throw .invalidParameter("identities[\(index)]", "is no host of this room: \(identity.prefix(64))")
            }
            guard named.insert(identity).inserted else {
                throw .invalidParameter("identities[\(index)]", "is there already: \(identity.prefix(64))")
            }
        }
        let rest = identities + hosts.filter { !identities.contains($0) }
        identities = first + rest.filter { !named.contains($0) }
        let present = Set(hosts)
        while identities.count > Self.capacity, let absent = identities.lastIndex(where: { !present.contains($0) }) {
            identities.remove(at: absent)
        }
    }
}

/// The order of hosts, by command.
extension Room {
    /// The hosts in their order on stage.
    var orderedHosts: [Participant] {
        let hosts = participants.filter(\.isHost)
        return settings.hostOrder?.sorted(hosts, by: \.identity) ?? hosts
    }

    /// Puts hosts first on stage; the others follow in their present order.
    ///
    /// An empty list removes the order. Events: `room.updated` when that is a change, and `layout.changed` when a tile changes.
    ///
    /// - Throws: 53106, or 3073 naming an identity that is unknown or repeated.
    mutating func setHostOrder(_ identities: [String], at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        var order: HostOrder?
        if !identities.isEmpty {
            var changed = settings.hostOrder ?? HostOrder()
            try changed.put(identities, beforeOthersOf: participants.filter(\.isHost).map(\.identity))
            order = changed
        }
        guard order != settings.hostOrder else { return }
        settings.hostOrder = order
        arrangeLayout()
        emit(.roomUpdated(view), at: now)
        announceLayout(at: now)
    }
}

extension RoomView {
    /// The participants in join order, in which the places of hosts are taken in their order on stage.
    public var arrangedParticipants: [ParticipantView] {
        guard let order = settings.hostOrder else { return participants }
        var hosts = order.sorted(self.hosts, by: \.identity)[...]
        return participants.map { $0.mode == .sendAndReceive ? hosts.popFirst() ?? $0 : $0 }
    }
}

extension RoomDirectory {
    /// Puts hosts first on a room's stage; the others follow in their present order.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - identities: Identities of hosts, or of former ones that had a place in the order; an empty list removes the
    ///     order.
    /// - Returns: The whole order.
    /// - Throws: 53106, or 3073 naming an identity that is unknown or repeated.
    @discardableResult
    public func setHostOrder(room: String, _ identities: [String]) throws(StageError) -> [String] {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.setHostOrder(identities, at: now)
                return room.settings.hostOrder?.identities ?? []
            }
        }
    }
}
