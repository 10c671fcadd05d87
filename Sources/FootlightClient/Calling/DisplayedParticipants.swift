public import FootlightModel
public import Stage

/// The participants that a call displays, in order.
public struct DisplayedParticipants: Sendable, Equatable {
    /// The hosts in the layout, in order.
    public let participants: [ParticipantResource]
    /// Whether the local video floats above the others instead.
    public let isLocalFloating: Bool

    /// Sorts a call's hosts.
    ///
    /// - Parameters:
    ///   - all: The participants; only hosts are displayed. Participants that compare equal keep their order.
    ///   - local: The identity of the local participant.
    ///   - layout: A small grid omits the local participant, unless another participant shares a screen.
    ///   - comparators: The sort rules.
    ///   - visible: The sids of the visible participants.
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

/// How participants are laid out.
public enum ParticipantsLayout: Sendable, Hashable, CaseIterable {
    case grid
    case spotlight
    case fullScreen
}

/// The layout of a call: chosen automatically until the user chooses one, which is kept until the end of the call.
public struct LayoutChoice: Sendable, Equatable {
    /// The current layout.
    public private(set) var layout: ParticipantsLayout
    /// Whether the user chose it.
    public private(set) var isManual = false
    private var beforePresentation: ParticipantsLayout?
    private let initial: ParticipantsLayout

    /// Creates a choice with an initial layout.
    public init(_ layout: ParticipantsLayout = .grid) {
        self.layout = layout
        initial = layout
    }

    /// Sets a layout that the user chose.
    public mutating func choose(_ layout: ParticipantsLayout) {
        self.layout = layout
        isManual = true
    }

    /// Sets whether another participant shares a screen, which turns a grid into a spotlight.
    public mutating func setPresenting(_ isPresenting: Bool) {
        if isPresenting, beforePresentation == nil {
            beforePresentation = layout
            if !isManual, layout == .grid { layout = .spotlight }
        } else if !isPresenting, let before = beforePresentation {
            beforePresentation = nil
            if !isManual { layout = before }
        }
    }

    /// Resets the choice at the end of a call.
    public mutating func callEnded() {
        self = LayoutChoice(initial)
    }
}
