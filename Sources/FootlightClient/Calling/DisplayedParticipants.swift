public import GatewayModel
public import Stage

/// Who is shown in a call, and in which order.
public struct DisplayedParticipants: Sendable, Equatable {
    /// Those on stage who have a place in the layout, in order.
    public let participants: [ParticipantResource]
    /// Whether the local picture floats above the others instead.
    public let isLocalFloating: Bool

    /// Puts a call's hosts in order.
    ///
    /// - Parameters:
    ///   - all: Everybody in the room; only hosts are shown. Who is the same to all rules keeps the order.
    ///   - local: The identity of whose app this is.
    ///   - layout: A small grid without a screen of somebody else leaves the local participant out.
    ///   - comparators: The rules of the order.
    ///   - visible: Sids of those who are visible now.
    public init(
        _ all: [ParticipantResource],
        local: String,
        layout: ParticipantsLayout,
        comparators: [ParticipantComparator] = ParticipantComparator.defaultComparators,
        visible: Set<String> = []
    ) {
        let hosts = all.filter(\.isHost)
        let isShared = hosts.contains { $0.identity != local && $0.isOn(.screen) }
        let isSmall = layout == .grid && hosts.count <= 3 && !isShared
        isLocalFloating = isSmall && hosts.contains { $0.identity == local }
        let shown = isSmall ? hosts.filter { $0.identity != local } : hosts
        participants = shown.map {
            Ranked(participant: $0, order: ParticipantOrder($0, showTrack: visible.contains($0.sid)))
        }
        .sorted(using: comparators)
        .map(\.participant)
    }

    private struct Ranked: RankedParticipant {
        let participant: ParticipantResource
        let order: ParticipantOrder
    }
}
