import Stage

/// Whether an output's stream suits the platforms of both of its addresses: rules alone.
///
/// The two may be of different platforms, or one of them without TLS. What is amiss at the address in use is told when
/// it comes about; of the other one it is told before the stream begins, and again when that address is in use.
struct OutputCompliance: Sendable {
    private var main: ComplianceWatch
    /// nil without a spare address.
    private var spare: ComplianceWatch?
    private var isOnSpare = false

    init(main: ComplianceWatch, spare: ComplianceWatch? = nil) {
        self.main = main
        self.spare = spare
    }

    /// Of the address in use.
    var inUse: ComplianceWatch { isOnSpare ? spare ?? main : main }

    /// Of the other one; nil without a spare address.
    var other: ComplianceWatch? { isOnSpare ? main : spare }

    /// The other address is the spare one.
    var isOtherSpare: Bool { !isOnSpare }

    /// What is amiss at the other address and not at the one in use.
    var shortfallsOfOther: [Shortfall] {
        let known = inUse.shortfalls
        return other?.shortfalls.filter { !known.contains($0) } ?? []
    }

    /// Takes in which address has the stream; what comes to be amiss, or is no more, by that alone.
    mutating func moved(toSpare isOnSpare: Bool) -> ComplianceWatch.Change? {
        guard spare != nil, isOnSpare != self.isOnSpare else { return nil }
        let before = inUse.shortfalls
        self.isOnSpare = isOnSpare
        let after = inUse.shortfalls
        guard after != before else { return nil }
        return after.isEmpty ? .isGood : .fellShort(after)
    }

    /// Takes in one measurement of the stream.
    mutating func measured(_ figures: StreamFigures) -> ComplianceWatch.Change? {
        // Both addresses get the same stream, so that what is known of the other one is known when it is needed.
        let ofMain = main.measured(figures)
        let ofSpare = spare?.measured(figures)
        return isOnSpare ? ofSpare : ofMain
    }
}
