/// Everybody in a call, and who of the others is shown where.
public struct CallParticipants: Sendable, Equatable {
    /// The participant whose view it is.
    public let local: CallParticipant
    /// Everybody else by id.
    public let remote: [CallParticipant.ID: CallParticipant]
    /// Those of the others who are shown, by place; never the local one.
    public let visible: [CallParticipant]

    /// Everybody, the local one included.
    public var count: Int { 1 + remote.count }

    /// Makes a view from its parts.
    public init(
        local: CallParticipant,
        remote: [CallParticipant.ID: CallParticipant] = [:],
        visible: [CallParticipant] = []
    ) {
        self.local = local
        self.remote = remote
        self.visible = visible
    }

    /// The newer view `other`, with those who are visible in both left in their places here as far as these still exist.
    ///
    /// The other places go to the rest in the order of `other`. Every value is that of `other`.
    public func stabilize(_ other: CallParticipants) -> CallParticipants {
        let newer = Dictionary(other.visible.map { ($0.id, $0) }) { first, _ in first }
        let places = StablePlaces.arrange(previous: visible.map(\.id), next: other.visible.map(\.id))
        return CallParticipants(local: other.local, remote: other.remote, visible: places.compactMap { newer[$0] })
    }
}
