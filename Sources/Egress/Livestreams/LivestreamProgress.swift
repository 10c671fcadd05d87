import Media
import Stage

/// The state a room's outputs make together; rules only.
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

    /// When a livestream ends by itself; all in seconds.
    struct Limits: Sendable, Equatable {
        /// Until the first output must be connected.
        var start = 30.0
        /// From the first connected output on.
        var duration = 10_800.0
        /// With every host muted.
        var idle = 300.0
    }

    /// What a look at the outputs led to.
    enum Finding: Sendable, Equatable {
        case warn(LivestreamWarning)
        /// Everything must be taken down.
        case end(LivestreamEndReason)
    }

    private(set) var phase: Phase
    /// Seconds since 1970.
    private(set) var startedAt: Double?
    private(set) var endReason: LivestreamEndReason?
    let limits: Limits

    /// What each output was doing at the last look.
    private var known: [String: OutputStatus.State] = [:]
    /// Which outputs were at their spare address when they were last connected.
    private var onSpare: [String: Bool] = [:]
    /// Which outputs' spare addresses could not be reached when they were last looked at.
    private var withoutSpare: Set<String> = []
    /// Which outputs' targets were too slow at the last look.
    private var slow: Set<String> = []
    private var isDurationWarned = false
    /// Since when the silence lasts that was warned of.
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

    /// Looks at the outputs and the time.
    ///
    /// - Parameter mutedSince: Since when there is nothing to hear or see of any host; nil while there is.
    mutating func look(
        outputs: [OutputStatus],
        mutedSince: MonotonicTime?,
        now: MonotonicTime,
        secondsSince1970: @autoclosure () -> Double
    ) -> [Finding] {
        guard isRunning else { return [] }
        let allFailed = outputs.allSatisfy { $0.state == .failed }
        var findings: [Finding] = []
        if !allFailed {
            findings += lookAtEach(outputs) + lookAtPlaces(outputs) + lookAtSpares(outputs) + lookAtSpeed(outputs)
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
                findings += lookAtTime(since: since, mutedSince: mutedSince, now: now)
            }
        }
        return findings
    }

    mutating func stop(_ reason: LivestreamEndReason) {
        if isRunning { _ = end(reason) }
    }

    /// Every output has let go.
    mutating func ended() {
        phase = .stopped
    }

    private mutating func end(_ reason: LivestreamEndReason) -> Finding {
        phase = .stopping
        endReason = reason
        return .end(reason)
    }

    /// Outputs that stopped taking the program while others still do.
    private func lookAtEach(_ outputs: [OutputStatus]) -> [Finding] {
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

    /// Outputs that went over to the other one of their addresses.
    private mutating func lookAtPlaces(_ outputs: [OutputStatus]) -> [Finding] {
        onSpare = onSpare.filter { place in outputs.contains { $0.name == place.key } }
        return outputs.compactMap { output in
            guard output.state == .connected, output.spareURL != nil else { return nil }
            let wasOnSpare = onSpare.updateValue(output.isOnSpare, forKey: output.name) ?? false
            guard wasOnSpare != output.isOnSpare else { return nil }
            let place = output.isOnSpare ? "is taken by its spare address" : "is back at its first address"
            return .warn(
                LivestreamWarning(
                    output.isOnSpare ? .outputOnSpare : .outputOnMain,
                    output: output.name,
                    message: "Output \(output.name) \(place)"
                )
            )
        }
    }

    /// Outputs whose spare address went out of reach before it was needed, or came back.
    private mutating func lookAtSpares(_ outputs: [OutputStatus]) -> [Finding] {
        withoutSpare.formIntersection(outputs.map(\.name))
        return outputs.compactMap { output in
            if let warning = output.spareWarning {
                return withoutSpare.insert(output.name).inserted ? .warn(warning) : nil
            }
            // One that is in use by now is told of as such.
            guard withoutSpare.remove(output.name) != nil, !output.isOnSpare else { return nil }
            let message = "The spare address of output \(output.name) can be reached"
            return .warn(LivestreamWarning(.spareReachable, output: output.name, message: message))
        }
    }

    /// Outputs whose targets came to be too slow, or keep up again.
    private mutating func lookAtSpeed(_ outputs: [OutputStatus]) -> [Finding] {
        // An output that is gone leaves nothing to one that comes by its name.
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

    private mutating func lookAtTime(
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
        // Silence before the start is not held against a livestream.
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

    /// Seconds of warning before a limit: a minute, or half of a short one.
    private static func notice(_ limit: Double) -> Double { min(60, limit / 2) }
}

extension OutputStatus {
    /// That the target is too slow; nil when it keeps up, and while there is no connection.
    var slowWarning: LivestreamWarning? {
        guard isSlow, state == .connected else { return nil }
        return LivestreamWarning(
            .outputSlow,
            output: name,
            message: "The target of output \(name) is too slow for the program, and pictures are dropped"
        )
    }

    /// What is amiss with a spare address that nobody needs yet; nil when nothing is.
    var spareWarning: LivestreamWarning? {
        guard let spareFault, !isOnSpare else { return nil }
        return LivestreamWarning(
            .spareUnreachable,
            output: name,
            message: "The spare address of output \(name) cannot be reached: \(spareFault.message)"
        )
    }
}
