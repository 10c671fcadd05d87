import Stage

/// Whether an output's stream suits its platform, told when that changes and lasts: rules alone.
struct ComplianceWatch: Sendable {
    /// Measurements in a row that must agree before a thing counts as amiss, or as mended.
    static let patience = 2

    /// What a measurement led to.
    enum Change: Sendable, Equatable {
        /// These have come to be amiss.
        case fellShort([Shortfall])
        /// Nothing is amiss any more.
        case isGood
    }

    private let rules: PlatformRules
    private let isSecure: Bool
    /// The stream as it is meant to be.
    private let plan: StreamFigures
    /// The part of its pictures that a stream may lack before that is told.
    private static let lack = 0.1
    /// What is amiss, as it was last found.
    private var amiss: [Shortfall.Kind: Shortfall] = [:]
    /// How many measurements in a row said otherwise than `amiss` does.
    private var doubts: [Shortfall.Kind: Int] = [:]

    /// - Parameter figures: The stream as it is meant to be; nil when that is not known.
    init(rules: PlatformRules, isSecure: Bool, figures: StreamFigures?) {
        self.rules = rules
        self.isSecure = isSecure
        plan = figures ?? StreamFigures()
        for shortfall in rules.shortfalls(of: plan, isSecure: isSecure) {
            amiss[shortfall.kind] = shortfall
        }
    }

    /// Watches what is pushed to an address, for the platform that it belongs to.
    init(address: PushAddress, figures: StreamFigures?) {
        let rules = PlatformRules.rules(for: Platform(host: address.host))
        self.init(rules: rules, isSecure: address.scheme == .rtmps, figures: figures)
    }

    /// Where it stands what the platform asks for, and when that was read.
    var citation: String { rules.citation }

    /// What is amiss now.
    var shortfalls: [Shortfall] { Shortfall.Kind.allCases.compactMap { amiss[$0] } }

    /// Takes in one measurement of the stream.
    mutating func measured(_ figures: StreamFigures) -> Change? {
        let wasGood = amiss.isEmpty
        var fell: [Shortfall] = []
        let found = Dictionary(shortfalls(of: figures).map { ($0.kind, $0) }, uniquingKeysWith: { $1 })
        for kind in Shortfall.Kind.allCases {
            guard (found[kind] == nil) != (amiss[kind] == nil) else {
                doubts[kind] = nil
                amiss[kind] = found[kind]
                continue
            }
            let count = (doubts[kind] ?? 0) + 1
            doubts[kind] = count < Self.patience ? count : nil
            guard count >= Self.patience else { continue }
            amiss[kind] = found[kind]
            if let shortfall = found[kind] { fell.append(shortfall) }
        }
        if !fell.isEmpty { return .fellShort(fell) }
        return amiss.isEmpty && !wasGood ? .isGood : nil
    }

    /// What the platform does not want so, and what is less than it was meant to be.
    private func shortfalls(of measured: StreamFigures) -> [Shortfall] {
        var figures = measured
        figures.duration = plan.duration
        var found = rules.shortfalls(of: figures, isSecure: isSecure)
        if let rate = measured.frameRate, let planned = plan.frameRate, rate < planned * (1 - Self.lack) {
            let seen = (rate * 10).rounded() / 10
            found.append(
                Shortfall(.frameRate, "the video has \(seen) pictures a second in place of \(Int(planned.rounded()))")
            )
        }
        return found
    }
}
