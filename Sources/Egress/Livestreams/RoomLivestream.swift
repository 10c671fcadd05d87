import Media
import Stage

/// The livestream of one room: its outputs and their common state.
struct RoomLivestream: Sendable {
    var progress: LivestreamProgress
    /// In the order they were added.
    private(set) var outputs: [LiveOutput] = []
    /// The meter of each pushed feed.
    private(set) var gauges: [String: FeedMeter] = [:]
    /// Outputs removed from a running livestream whose threads have not ended yet.
    private var leaving: [RTMPPush] = []
    /// Whether the room has ended, so that the livestream is removed once it has stopped.
    var isEnded = false
    /// The last reported status.
    var announced: LivestreamStatus?
    /// Warnings from callers' threads, not reported yet.
    private var warnings: [LivestreamWarning] = []

    init(progress: LivestreamProgress) {
        self.progress = progress
    }

    var status: LivestreamStatus {
        LivestreamStatus(
            state: progress.state,
            startedAt: progress.startedAt,
            outputs: outputs.map { $0.push.status },
            endReason: progress.endReason,
            warnings: progress.isRunning ? outputs.flatMap(\.warnings) : []
        )
    }

    func contains(_ name: String) -> Bool {
        outputs.contains { $0.name == name }
    }

    /// Adds an output; returns the meter to attach to its feed, if the feed has none yet.
    mutating func add(_ output: LiveOutput) -> FeedMeter? {
        outputs.append(output)
        for warning in output.complianceWarnings { warn(warning) }
        guard gauges[output.feed] == nil else { return nil }
        let gauge = FeedMeter()
        gauges[output.feed] = gauge
        return gauge
    }

    /// Checks the measurements of the feeds against the requirements of the outputs' platforms.
    mutating func updateCompliance() {
        for index in outputs.indices {
            if let warning = outputs[index].updateAddressInUse() { warn(warning) }
        }
        for (feed, gauge) in gauges {
            guard let figures = gauge.removeFigures() else { continue }
            for index in outputs.indices where outputs[index].feed == feed {
                if let warning = outputs[index].measured(figures) { warn(warning) }
            }
        }
    }

    mutating func remove(_ name: String) -> RTMPPush? {
        guard let index = outputs.firstIndex(where: { $0.name == name }) else { return nil }
        let push = outputs.remove(at: index).push
        leaving.append(push)
        return push
    }

    /// Adds a warning for the reporting thread, unless it is already pending.
    mutating func warn(_ warning: LivestreamWarning) {
        if !warnings.contains(warning) { warnings.append(warning) }
    }

    mutating func drainWarnings() -> [LivestreamWarning] {
        defer { warnings = [] }
        return warnings
    }

    /// Removes pushes whose threads have ended; changes from stopping to stopped when all have.
    mutating func settle(now: MonotonicTime) {
        leaving.removeAll { $0.waitUntilEnded(deadline: now) }
        guard progress.state == .stopping, leaving.isEmpty else { return }
        if outputs.allSatisfy({ $0.push.waitUntilEnded(deadline: now) }) { progress.ended() }
    }

    /// Returns the status when its state, or an output's state or error, differs from the last reported one.
    mutating func news() -> LivestreamStatus? {
        let status = status
        defer { announced = status }
        guard let announced else { return status }
        let isSame =
            announced.state == status.state
            && announced.outputs.elementsEqual(status.outputs) {
                $0.name == $1.name && $0.state == $1.state && $0.lastFault == $1.lastFault
                    && $0.usesBackup == $1.usesBackup
            }
        return isSame ? nil : status
    }
}

/// One output of a running livestream: its push and its compliance with the platform.
struct LiveOutput: Sendable {
    let push: RTMPPush
    /// The name of the pushed feed.
    let feed: String
    var compliance: OutputCompliance

    var name: String { push.status.name }

    /// All current warnings.
    var warnings: [LivestreamWarning] {
        let status = push.status
        return complianceWarnings + [status.spareWarning, status.slowWarning].compactMap(\.self)
    }

    /// The current warnings about the platforms of the address in use and of the other one.
    var complianceWarnings: [LivestreamWarning] {
        var found: [LivestreamWarning] = []
        let issues = compliance.inUse.issues
        if !issues.isEmpty { found.append(warning(of: issues, by: compliance.inUse.citation)) }
        let others = compliance.issuesAtOtherAddress
        if let other = compliance.other, !others.isEmpty {
            let place = compliance.isOtherSpare ? "spare" : "first"
            found.append(warning(of: others, by: other.citation, at: ", at its \(place) address"))
        }
        return found
    }

    /// Updates the address in use; returns the warning to report, if any.
    mutating func updateAddressInUse() -> LivestreamWarning? {
        let status = push.status
        // An address that is only being tried does not have the stream.
        guard status.state == .connected else { return nil }
        return compliance.moved(toSpare: status.usesBackup).map { warning(of: $0) }
    }

    /// Applies a measurement of the feed; returns the warning to report, if any.
    mutating func measured(_ figures: StreamProperties) -> LivestreamWarning? {
        compliance.measured(figures).map { warning(of: $0) }
    }

    private func warning(of change: ComplianceMonitor.Change) -> LivestreamWarning {
        switch change {
        case .fellShort(let issues): warning(of: issues, by: compliance.inUse.citation)
        case .isGood:
            LivestreamWarning(
                .streamSuitable,
                output: name,
                message: "Output \(name) is now as its platform asks for"
            )
        }
    }

    private func warning(
        of issues: [ComplianceIssue],
        by citation: String,
        at place: String = ""
    ) -> LivestreamWarning {
        let found = issues.map(\.message).joined(separator: "; ")
        let source = issues.contains { $0.kind.isOfPlatform } ? " (\(citation))" : ""
        return LivestreamWarning(
            .streamUnsuitable,
            output: name,
            message: "Output \(name)\(place): \(found)\(source)"
        )
    }
}
