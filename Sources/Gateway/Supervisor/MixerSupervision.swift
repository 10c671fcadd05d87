import Media

/// Decides when a room's mixer process starts, starts again, and stops.
///
/// Events in, one action out; whoever holds this carries the action out. A mixer is wanted while the room has a host,
/// for the idle time after, and for as long as anything else demands the program, which begins and goes on with a slate
/// then. One that dies is started again at once; one that keeps dying, after a growing wait, so that a room that cannot
/// run does not eat the machine. One that hangs is killed, which is a death like any other.
struct MixerSupervision {
    /// What wants a room's program, whoever is on stage.
    enum Demand: Sendable, CaseIterable {
        /// Its livestream is on.
        case livestream
        /// It is recorded, by command.
        case recording
        /// Its playlist was started by command.
        case hls
        /// Somebody is there early, and the room has a slate of its own to see until the first host comes; or the program
        /// was on the air before the gateway restarted.
        case opening
        /// Somebody watches it: it goes on for them, and is not begun, for it may come from elsewhere.
        case viewers
    }

    enum Action: Equatable {
        case none
        /// Start a process that publishes with this epoch.
        case start(epoch: UInt64)
        /// Ask the running process to end.
        case stop
        /// End a process that did not when asked.
        case kill
        /// End a process that hangs, without asking; another one is started when it is gone.
        case replace(MixerLiveness.Hang)
    }

    struct Configuration: Equatable {
        /// Seconds the program goes on without a host.
        var idle = 300.0
        /// A process that ran for this many seconds was healthy: the next failure counts as the first.
        var healthy = 30.0
        /// Seconds a process gets to end by itself.
        var patience = 5.0
        /// The first wait after a second failure, in seconds, and the most any wait grows to.
        var wait = (first: 0.1, most: 10.0)
        /// When a process counts as hung.
        var liveness = MixerLiveness.Configuration()
        /// A room whose process has failed so often in a row is in trouble.
        var trouble = 3

        static func == (left: Configuration, right: Configuration) -> Bool {
            left.idle == right.idle && left.healthy == right.healthy && left.patience == right.patience
                && left.wait == right.wait && left.liveness == right.liveness && left.trouble == right.trouble
        }
    }

    private enum State {
        case stopped
        case running(since: MonotonicTime)
        case waiting(until: MonotonicTime)
        case stopping(since: MonotonicTime)
        /// It hung and was killed, and is not gone yet.
        case replacing(since: MonotonicTime)
    }

    private let configuration: Configuration
    private var state = State.stopped
    private var hasHost = false
    private var demands: Set<Demand> = []
    private var isEnded = false
    /// The room has ended, and its program goes on for a while; a process that dies now is the last one.
    private var isLingering = false
    /// Since when there has been no host, or since the last viewer left; nil where neither was there.
    private var hostless: MonotonicTime?
    private var failures = 0
    private var liveness: MixerLiveness
    /// The epoch of the latest process; each has a higher one than all before it.
    private(set) var epoch: UInt64
    /// Processes started again after they died by themselves.
    private(set) var restarts: UInt64 = 0

    /// - Parameter firstEpoch: Higher than any epoch an earlier gateway process used for the room.
    init(configuration: Configuration, firstEpoch: UInt64) {
        self.configuration = configuration
        liveness = MixerLiveness(configuration: configuration.liveness)
        epoch = firstEpoch
    }

    var isRunning: Bool {
        switch state {
        case .running, .stopping, .replacing: true
        case .stopped, .waiting: false
        }
    }

    /// The room is over and its process is gone: nothing will follow.
    var isFinished: Bool { isEnded && isStopped }

    private var isStopped: Bool {
        if case .stopped = state { true } else { false }
    }

    /// A room begins; what an earlier one of its name left behind goes by itself.
    mutating func roomBegan(now: MonotonicTime) -> Action {
        (hasHost, demands) = (false, [])
        (isEnded, isLingering) = (false, false)
        hostless = nil
        return decide(now: now)
    }

    /// Something demands the program, or does so no longer.
    mutating func demandChanged(_ demand: Demand, _ isOn: Bool, now: MonotonicTime) -> Action {
        if isOn {
            demands.insert(demand)
        } else if let gone = demands.remove(demand), gone == .viewers || gone == .opening, !hasHost {
            // Who stopped or lost a connection may be back, as a host may.
            hostless = now
        }
        return decide(now: now)
    }

    /// The room has hosts, or has none any more.
    ///
    /// A host after the room's end is one of a new room that took the name over while the old one's process goes.
    mutating func hostsChanged(_ hasHost: Bool, now: MonotonicTime) -> Action {
        if self.hasHost, !hasHost { hostless = now }
        if hasHost {
            hostless = nil
            isEnded = false
            isLingering = false
        }
        self.hasHost = hasHost
        return decide(now: now)
    }

    /// The room has ended, and shows so until `roomEnded`.
    mutating func roomLingers(now: MonotonicTime) -> Action {
        isLingering = true
        hasHost = false
        hostless = nil
        return decide(now: now)
    }

    mutating func roomEnded(now: MonotonicTime) -> Action {
        isEnded = true
        isLingering = false
        (hasHost, demands) = (false, [])
        hostless = nil
        return decide(now: now)
    }

    /// The process is gone, whoever ended it.
    ///
    /// - Parameters:
    ///   - jitter: From 0 to 1, of the wait before the next one.
    ///   - isCauseGone: What ended it is kept out from now on, so that the next one has nothing to wait for.
    mutating func exited(now: MonotonicTime, jitter: Double, isCauseGone: Bool = false) -> Action {
        switch state {
        case .running(let since), .replacing(let since):
            let isFirst = isCauseGone || now.seconds(since: since) >= configuration.healthy
            failures = isFirst ? 1 : failures + 1
            restarts += isLingering ? 0 : 1
            state = .waiting(until: now.advanced(seconds: failures == 1 ? 0 : wait(jitter: jitter)))
        case .stopping, .stopped, .waiting:
            state = .stopped
            failures = 0
        }
        return decide(now: now)
    }

    /// Time passes.
    ///
    /// - Parameter signs: What has come from the room's mixers so far; nil where nobody counts it.
    mutating func tick(_ signs: MixerLiveness.Signs? = nil, now: MonotonicTime) -> Action {
        if let signs, case .running(let since) = state, let hang = liveness.look(signs, now: now) {
            // Of the same age as before: whether it was healthy is told by how long it ran.
            state = .replacing(since: since)
            return .replace(hang)
        }
        return decide(now: now)
    }

    /// Whether the room's process failed several times in a row and has not been healthy since.
    func isInTrouble(now: MonotonicTime) -> Bool {
        guard failures >= configuration.trouble, !isEnded else { return false }
        if case .running(let since) = state { return now.seconds(since: since) < configuration.healthy }
        return true
    }

    private func wait(jitter: Double) -> Double {
        let wait = configuration.wait
        var length = wait.first
        for _ in 2..<max(failures, 2) where length < wait.most { length *= 2 }
        return min(length, wait.most) * (0.8 + 0.4 * jitter)
    }

    private func isWanted(now: MonotonicTime) -> Bool {
        guard !isEnded else { return false }
        // Nobody could tell a new process what to show.
        if isLingering { return isRunning }
        if hasHost || demands.contains(where: { $0 != .viewers }) { return true }
        if !demands.isEmpty, !isStopped { return true }
        guard let hostless else { return false }
        return now.seconds(since: hostless) < configuration.idle
    }

    private mutating func decide(now: MonotonicTime) -> Action {
        switch (state, isWanted(now: now)) {
        case (.stopped, true):
            return start(now: now)
        case (.waiting(let until), true) where until <= now:
            return start(now: now)
        case (.waiting, false):
            state = .stopped
            return .none
        case (.running, false):
            state = .stopping(since: now)
            return .stop
        case (.stopping(let since), _) where now.seconds(since: since) >= configuration.patience:
            state = .stopping(since: now)
            return .kill
        case (.stopped, false), (.waiting, true), (.running, true), (.stopping, _), (.replacing, _):
            return .none
        }
    }

    private mutating func start(now: MonotonicTime) -> Action {
        epoch += 1
        state = .running(since: now)
        liveness.processStarted(now: now)
        return .start(epoch: epoch)
    }
}
