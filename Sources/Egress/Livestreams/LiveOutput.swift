import Stage

/// One output of a running livestream: its push, and what is watched of what it pushes.
struct LiveOutput: Sendable {
    let push: RTMPPush
    /// The name of the feed that is pushed.
    let feed: String
    var watch: ComplianceWatch

    var name: String { push.status.name }

    /// All that is amiss now.
    var warnings: [LivestreamWarning] {
        let status = push.status
        return [warning, status.spareWarning, status.slowWarning].compactMap(\.self)
    }

    /// What is not as the platform asks for; nil when all is.
    var warning: LivestreamWarning? {
        watch.shortfalls.isEmpty ? nil : warning(of: watch.shortfalls)
    }

    /// Takes in a measurement of the feed; what is to be told.
    mutating func measured(_ figures: StreamFigures) -> LivestreamWarning? {
        switch watch.measured(figures) {
        case .fellShort(let shortfalls): warning(of: shortfalls)
        case .isGood:
            LivestreamWarning(
                .streamSuitable,
                output: name,
                message: "Output \(name) is now as its platform asks for"
            )
        case nil: nil
        }
    }

    private func warning(of shortfalls: [Shortfall]) -> LivestreamWarning {
        LivestreamWarning(
            .streamUnsuitable,
            output: name,
            message: "Output \(name): " + shortfalls.map(\.message).joined(separator: "; ")
        )
    }
}
