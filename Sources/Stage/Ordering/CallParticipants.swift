/// Everybody in a call, and who of the others is shown where.
public struct CallParticipants: Sendable, Equatable {
    /// The participant whose view it is.
    public let local: CallParticipant
    /// Everybody else by id.
    public let remote: [CallParticipant.ID: CallParticipant]
    /// Those of the others who are shown, by place; never the local one.
    ///
    /// A place may be empty.
    public let places: [Int: CallParticipant]

    /// Those of the others who are shown, in the order of their places.
    public var visible: [CallParticipant] { places.sorted { $0.key < $1.key }.map(\.value) }
    /// Everybody who is shown: the local one first, always.
    public var shown: [CallParticipant] { [local] + visible }
    /// Everybody, the local one included.
    public var count: Int { 1 + remote.count }

    /// Makes a view from its parts, with the visible ones in the first places.
    public init(
        local: CallParticipant,
        remote: [CallParticipant.ID: CallParticipant] = [:],
        visible: [CallParticipant] = []
    ) {
        let places = Dictionary(uniqueKeysWithValues: visible.enumerated().map { ($0.offset, $0.element) })
        self.init(local: local, remote: remote, places: places)
    }

    /// Makes a view from its parts.
    public init(
        local: CallParticipant,
        remote: [CallParticipant.ID: CallParticipant],
        places: [Int: CallParticipant]
    ) {
        self.local = local
        self.remote = remote
        self.places = places
    }

    /// The newer view `other`, with those who are visible in both left in their places here as far as these still exist.
    ///
    /// The other places go to the rest in the order of `other`. Every value is that of `other`.
    public func stabilize(_ other: CallParticipants) -> CallParticipants {
        let newer = Dictionary(other.visible.map { ($0.id, $0) }) { first, _ in first }
        var stable = places.compactMapValues { newer[$0.id] }.filter { other.places[$0.key] != nil }
        let placed = Set(stable.values.map(\.id))
        var rest = other.visible.filter { !placed.contains($0.id) }.makeIterator()
        for place in other.places.keys.sorted() where stable[place] == nil { stable[place] = rest.next() }
        return CallParticipants(local: other.local, remote: other.remote, places: stable)
    }
}
