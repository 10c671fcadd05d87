import Stage

/// One output of a running livestream: its push, and what is watched of what it pushes.
struct LiveOutput: Sendable {
    let push: RTMPPush
    /// The name of the feed that is pushed.
    let feed: String
    var compliance: OutputCompliance

    var name: String { push.status.name }

    /// All that is amiss now.
    var warnings: [LivestreamWarning] {
        let status = push.status
        return complianceWarnings + [status.spareWarning, status.slowWarning].compactMap(\.self)
    }

    /// What is not as the platform asks for, or as that of the address not in use does; none when all is.
    var complianceWarnings: [LivestreamWarning] {
        var found: [LivestreamWarning] = []
        let shortfalls = compliance.inUse.shortfalls
        if !shortfalls.isEmpty { found.append(warning(of: shortfalls, by: compliance.inUse.citation)) }
        let others = compliance.shortfallsOfOther
        if let other = compliance.other, !others.isEmpty {
            let place = compliance.isOtherSpare ? "spare" : "first"
            found.append(warning(of: others, by: other.citation, at: ", at its \(place) address"))
        }
        return found
    }

    /// Takes in which of its addresses has the stream; what is to be told.
    mutating func lookAtPlace() -> LivestreamWarning? {
        let status = push.status
        // An address that is only tried is not where the stream is.
        guard status.state == .connected else { return nil }
        return compliance.moved(toSpare: status.isOnSpare).map { warning(of: $0) }
    }

    /// Takes in a measurement of the feed; what is to be told.
    mutating func measured(_ figures: StreamFigures) -> LivestreamWarning? {
        compliance.measured(figures).map { warning(of: $0) }
    }

    private func warning(of change: ComplianceWatch.Change) -> LivestreamWarning {
        switch change {
        case .fellShort(let shortfalls): warning(of: shortfalls, by: compliance.inUse.citation)
        case .isGood:
            LivestreamWarning(
                .streamSuitable,
                output: name,
                message: "Output \(name) is now as its platform asks for"
            )
        }
    }

    private func warning(
        of shortfalls: [Shortfall],
        by citation: String,
        at place: String = ""
    ) -> LivestreamWarning {
        let found = shortfalls.map(\.message).joined(separator: "; ")
        let source = shortfalls.contains { $0.kind.isOfPlatform } ? " (\(citation))" : ""
        return LivestreamWarning(
            .streamUnsuitable,
            output: name,
            message: "Output \(name)\(place): \(found)\(source)"
        )
    }
}
