/// Which layout shows a call: chosen by itself until the user chooses, from then on by the user to the call's end.
public struct LayoutChoice: Sendable, Equatable {
    /// The layout now.
    public private(set) var layout: ParticipantsLayout
    /// Whether the user chose it.
    public private(set) var isManual = false
    private var beforePresentation: ParticipantsLayout?
    private let initial: ParticipantsLayout

    /// Begins with a layout.
    public init(_ layout: ParticipantsLayout = .grid) {
        self.layout = layout
        initial = layout
    }

    /// The user chose a layout.
    public mutating func choose(_ layout: ParticipantsLayout) {
        self.layout = layout
        isManual = true
    }

    /// Whether somebody presents a screen; while so, a grid becomes a spotlight.
    public mutating func setPresenting(_ isPresenting: Bool) {
        if isPresenting, beforePresentation == nil {
            beforePresentation = layout
            if !isManual, layout == .grid { layout = .spotlight }
        } else if !isPresenting, let before = beforePresentation {
            beforePresentation = nil
            if !isManual { layout = before }
        }
    }

    /// The call is over; the next one begins anew.
    public mutating func callEnded() {
        self = LayoutChoice(initial)
    }
}
