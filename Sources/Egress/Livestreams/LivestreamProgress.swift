import Media
import Stage

/// The state machine of a room's livestream, driven by the states of its outputs; without I/O.
///
///     starting ── first output connected ──▶ started ── stop ──▶ stopping ── all ended ──▶ stopped
///        └── none in time, or all refused ──▶ stopping └── all failed, idle or long enough ──▶ stopping
struct LivestreamProgress: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        case starting(since: MonotonicTime)
        case started(since: MonotonicTime)
        case stopping
        case stopped
    }

    /// The limits after which a livestream ends by itself, in seconds.
    struct Limits: Sendable, Equatable {
        /// Until the first output must be connected.
        var start = 30.0
        /// From the first connected output.
        var duration = 10_800.0
        /// With every host muted.
        var idle = 300.0
    }

    /// The result of an update.
    enum Finding: Sendable, Equatable {
        case warn(LivestreamWarning)
        /// The livestream ends, and every output must stop.
        case end(LivestreamEndReason)
    }

    private(set) var phase: Phase
    /// Seconds since 1970.
    private(set) var startedAt: Double?
    private(set) var endReason: LivestreamEndReason?
    let limits: Limits

    /// The state of each output at the last update.
    private var known: [String: OutputStatus.State] = [:]
    /// Whether each output used its backup address when it was last connected.
    private var onBackup: [String: Bool] = [:]
    /// The outputs whose backup address was unreachable at the last update.
    private var withoutSpare: Set<String> = []
    /// The outputs whose target was too slow at the last update.
    private var slow: Set<String> = []
    private var isDurationWarned = false
    /// The start of the silence that the idle warning was about.
    private var warnedIdleSince: MonotonicTime?

    init(now: MonotonicTime, limits: Limits = Limits()) {
        phase = .starting(since: now)
        self.limits = limits
    }

    var state: LivestreamStatus.State {
        switch phase {
        case .starting: .starting
        case .started: .started
        case .stopping: .stopping
        case .stopped: .stopped
        }
    }

    var isRunning: Bool { state == .starting || state == .started }

    /// Updates the state from the outputs and the time.
    ///
    /// - Parameter mutedSince: Since when every host has mic and camera off; nil while one has not.
    mutating func update(
        outputs: [OutputStatus],
        mutedSince: MonotonicTime?,
        now: MonotonicTime,
        secondsSince1970: @autoclosure () -> Double
    ) -> [Finding] {
        guard isRunning else { return [] }
        let allFailed = outputs.allSatisfy { $0.state == .failed }
        var findings: [Finding] = []
        if !allFailed {
            findings +=
                stateWarnings(outputs) + addressWarnings(outputs) + backupWarnings(outputs) + speedWarnings(outputs)
        }
        known = Dictionary(outputs.map { ($0.name, $0.state) }) { $1 }

        if case .starting(let since) = phase {
            if outputs.contains(where: { $0.state == .connected }) {
                phase = .started(since: now)
                startedAt = secondsSince1970()
            } else if allFailed || now.seconds(since: since) >= limits.start {
                findings.append(end(.notStarted))
            }
        }
        if case .started(let since) = phase {
            if allFailed {
                findings.append(end(.lost))
            } else {
                findings += limitFindings(since: since, mutedSince: mutedSince, now: now)
            }
        }
        return findings
    }

    mutating func stop(_ reason: LivestreamEndReason) {
        if isRunning { _ = end(reason) }
    }

    /// Records that every output has ended.
    mutating func ended() {
        phase = .stopped
    }

    private mutating func end(_ reason: LivestreamEndReason) -> Finding {
        phase = .stopping
        endReason = reason
        return .end(reason)
    }

    /// Warns of outputs that lost their target or failed.
    private func stateWarnings(_ outputs: [OutputStatus]) -> [Finding] {
        outputs.compactMap { output in
            let before = known[output.name]
            let why = output.lastError.map { ": \($0)" } ?? ""
            switch output.state {
            case .interrupted where before == .connected:
                let message = "Output \(output.name) lost its target and tries again\(why)"
                return .warn(LivestreamWarning(.outputInterrupted, output: output.name, message: message))
            case .failed where before != .failed:
                let message = "Output \(output.name) is dropped\(why)"
                return .warn(LivestreamWarning(.outputFailed, output: output.name, message: message))
            default:
                return nil
            }
        }
    }

    /// Warns of outputs that changed to the other of their addresses.
    private mutating func addressWarnings(_ outputs: [OutputStatus]) -> [Finding] {
        onBackup = onBackup.filter { place in outputs.contains { $0.name == place.key } }
        return outputs.compactMap { output in
            guard output.state == .connected, output.backupURL != nil else { return nil }
            let wasOnSpare = onBackup.updateValue(output.usesBackup, forKey: output.name) ?? false
            guard wasOnSpare != output.usesBackup else { return nil }
            let place = output.usesBackup ? "is taken by its spare address" : "is back at its first address"
            return .warn(
                LivestreamWarning(
                    output.usesBackup ? .outputOnBackup : .outputOnMain,
                    output: output.name,
                    message: "Output \(output.name) \(place)"
                )
            )
        }
    }

    /// Warns of backup addresses that became unreachable or reachable before they are needed.
    private mutating func backupWarnings(_ outputs: [OutputStatus]) -> [Finding] {
        withoutSpare.formIntersection(outputs.map(\.name))
        return outputs.compactMap { output in
            if let warning = output.spareWarning {
                return withoutSpare.insert(output.name).inserted ? .warn(warning) : nil
            }
            // A backup in use is reported as such.
            guard withoutSpare.remove(output.name) != nil, !output.usesBackup else { return nil }
            let message = "The spare address of output \(output.name) can be reached"
            return .warn(LivestreamWarning(.backupReachable, output: output.name, message: message))
        }
    }

    /// Warns of outputs whose targets became too slow, or keep up again.
    private mutating func speedWarnings(_ outputs: [OutputStatus]) -> [Finding] {
        // A removed output leaves no state to a new one of the same name.
        slow.formIntersection(outputs.map(\.name))
        return outputs.compactMap { output in
            guard output.state == .connected else { return nil }
            if let warning = output.slowWarning {
                return slow.insert(output.name).inserted ? .warn(warning) : nil
            }
            guard slow.remove(output.name) != nil else { return nil }
            let message = "The target of output \(output.name) keeps up with the program"
            return .warn(LivestreamWarning(.outputKeepsUp, output: output.name, message: message))
        }
    }

    private mutating func limitFindings(
        since start: MonotonicTime,
        mutedSince: MonotonicTime?,
        now: MonotonicTime
    ) -> [Finding] {
        let duration = now.seconds(since: start)
        if duration >= limits.duration { return [end(.maximumDuration)] }
        var findings: [Finding] = []
        if !isDurationWarned, duration >= limits.duration - Self.notice(limits.duration) {
            isDurationWarned = true
            let left = Int((limits.duration - duration).rounded(.up))
            let message = "The livestream nears its longest duration and stops in \(left) s"
            findings.append(.warn(LivestreamWarning(.maximumDurationSoon, message: message, secondsLeft: left)))
        }
        guard let mutedSince else {
            warnedIdleSince = nil
            return findings
        }
        // Silence before the start does not count.
        let idleSince = max(mutedSince, start)
        let idle = now.seconds(since: idleSince)
        if idle >= limits.idle { return findings + [end(.idle)] }
        if warnedIdleSince != idleSince, idle >= limits.idle - Self.notice(limits.idle) {
            warnedIdleSince = idleSince
            let left = Int((limits.idle - idle).rounded(.up))
            let message = "Every host is muted; the livestream stops in \(left) s"
            findings.append(.warn(LivestreamWarning(.idleSoon, message: message, secondsLeft: left)))
        }
        return findings
    }

    /// Returns the seconds of warning before a limit: a minute, or half of a short limit.
    private static func notice(_ limit: Double) -> Double { min(60, limit / 2) }
}

extension OutputStatus {
    /// The warning that the target is too slow; nil when it keeps up or is not connected.
    var slowWarning: LivestreamWarning? {
        guard isSlow, state == .connected else { return nil }
        return LivestreamWarning(
            .outputSlow,
            output: name,
            message: "The target of output \(name) is too slow for the program, and frames are dropped"
        )
    }

    /// The warning that an unused backup address is unreachable; nil when it is reachable or in use.
    var spareWarning: LivestreamWarning? {
        guard let backupFault, !usesBackup else { return nil }
        return LivestreamWarning(
            .backupUnreachable,
            output: name,
            message: "The spare address of output \(name) cannot be reached: \(backupFault.message)"
        )
    }
}
