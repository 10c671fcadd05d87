import Media

/// Decides when a room's mixer process is started, restarted and stopped.
///
/// Takes events and returns one action. A mixer runs while the room has a host, for the idle time after that, and while
/// anything else demands the program, which shows a slate then. After a failure it is restarted at once; after
/// consecutive failures with a growing backoff. A mixer that hangs is killed, which counts as a failure.
struct MixerSupervision {
    /// A demand for a room's program, with or without hosts.
    enum Demand: Sendable, CaseIterable {
        /// The livestream is on.
        case livestream
        /// The recording was started by an API command.
        case recording
        /// The playlist was started by an API command.
        case hls
        /// Viewers wait for the first host and the room has a starting slate, or the program was on air before the
        /// gateway restarted.
        case opening
        /// Viewers watch the program: it continues for them but is not started, because another publisher may provide
        /// it.
        case viewers
    }

    enum Action: Equatable {
        case none
        /// Start a process with this epoch.
        case start(epoch: UInt64)
        /// Ask the running process to end.
        case stop
        /// Kill a process that did not end.
        case kill
        /// Kill a process that hangs; another one is started after its exit.
        case replace(MixerLiveness.Hang)
    }

    struct Configuration: Equatable {
        /// Seconds for which the program continues without a host.
        var idle = 300.0
        /// Seconds of operation after which the number of consecutive failures is reset.
        var healthy = 30.0
        /// Seconds within which a process must end after a stop.
        var stopTimeout = 5.0
        /// The delays from the second consecutive failure on.
        var backoff = Backoff(initial: 0.1, maximum: 10)
        /// The limits of the hang detection.
        var liveness = MixerLiveness.Configuration()
        /// The number of consecutive failures from which the room counts as failing.
        var failureThreshold = 3
    }

    private enum State {
        case stopped
        case running(since: MonotonicTime)
        case waiting(until: MonotonicTime)
        case stopping(since: MonotonicTime)
        /// The process hung and was killed, and has not exited yet.
        case replacing(since: MonotonicTime)
    }

    private let configuration: Configuration
    private var state = State.stopped
    private var hasHost = false
    private var demands: Set<Demand> = []
    private var isEnded = false
    /// The room has ended, and its program lingers; a process that fails now is not restarted.
    private var isLingering = false
    /// The time at which the last host or viewer left; nil without one.
    private var hostlessSince: MonotonicTime?
    private var failures = 0
    private var liveness: MixerLiveness
    /// The epoch of the latest process; each is higher than all before.
    private(set) var epoch: UInt64
    /// The number of restarts after failures.
    private(set) var restarts: UInt64 = 0

    /// - Parameter firstEpoch: An epoch above that of any earlier gateway process.
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

    /// Whether the room has ended and its process has exited.
    var isFinished: Bool { isEnded && isStopped }

    private var isStopped: Bool {
        if case .stopped = state { true } else { false }
    }

    /// Starts a room, and discards the state of an earlier one of the same name.
    mutating func roomBegan(now: MonotonicTime) -> Action {
        (hasHost, demands) = (false, [])
        (isEnded, isLingering) = (false, false)
        hostlessSince = nil
        return decide(now: now)
    }

    /// Applies the start or the end of a demand.
    mutating func demandChanged(_ demand: Demand, _ isOn: Bool, now: MonotonicTime) -> Action {
        if isOn {
            demands.insert(demand)
        } else if let gone = demands.remove(demand), gone == .viewers || gone == .opening, !hasHost {
            // Viewers may reconnect within the idle time, as hosts may.
            hostlessSince = now
        }
        return decide(now: now)
    }

    /// Applies whether the room has hosts.
    ///
    /// A host after the room's end belongs to a new room of the same name, while the former process is stopping.
    mutating func hostsChanged(_ hasHost: Bool, now: MonotonicTime) -> Action {
        if self.hasHost, !hasHost { hostlessSince = now }
        if hasHost {
            hostlessSince = nil
            isEnded = false
            isLingering = false
        }
        self.hasHost = hasHost
        return decide(now: now)
    }

    /// Applies the end of the room, whose program lingers until `roomEnded`.
    mutating func roomLingers(now: MonotonicTime) -> Action {
        isLingering = true
        hasHost = false
        hostlessSince = nil
        return decide(now: now)
    }

    mutating func roomEnded(now: MonotonicTime) -> Action {
        isEnded = true
        isLingering = false
        (hasHost, demands) = (false, [])
        hostlessSince = nil
        return decide(now: now)
    }

    /// Applies the exit of the process, for any reason.
    ///
    /// - Parameters:
    ///   - chance: A random number from 0 to 1 for the backoff.
    ///   - isCauseGone: Whether the cause of the failure is excluded, so that no backoff is needed.
    mutating func exited(now: MonotonicTime, chance: Double, isCauseGone: Bool = false) -> Action {
        switch state {
        case .running(let since), .replacing(let since):
            let isFirst = isCauseGone || now.seconds(since: since) >= configuration.healthy
            failures = isFirst ? 1 : failures + 1
            restarts += isLingering ? 0 : 1
            state = .waiting(
                until: now.advanced(
                    seconds: failures == 1 ? 0 : configuration.backoff.delay(retry: failures - 2, chance: chance)
                )
            )
        case .stopping, .stopped, .waiting:
            state = .stopped
            failures = 0
        }
        return decide(now: now)
    }

    /// Applies the passage of time.
    ///
    /// - Parameter counters: The totals of the room's mixers; nil without hang detection.
    mutating func tick(_ counters: MixerLiveness.Counters? = nil, now: MonotonicTime) -> Action {
        if let counters, case .running(let since) = state, let hang = liveness.update(counters, now: now) {
            // The start time is kept, because a healthy run is determined by its length.
            state = .replacing(since: since)
            return .replace(hang)
        }
        return decide(now: now)
    }

    /// Returns whether the process has failed repeatedly, without a healthy run since.
    func isFailing(now: MonotonicTime) -> Bool {
        guard failures >= configuration.failureThreshold, !isEnded else { return false }
        if case .running(let since) = state { return now.seconds(since: since) < configuration.healthy }
        return true
    }

    private func shouldRun(now: MonotonicTime) -> Bool {
        guard !isEnded else { return false }
        // A new process could not learn what to show.
        if isLingering { return isRunning }
        if hasHost || demands.contains(where: { $0 != .viewers }) { return true }
        if !demands.isEmpty, !isStopped { return true }
        guard let hostlessSince else { return false }
        return now.seconds(since: hostlessSince) < configuration.idle
    }

    private mutating func decide(now: MonotonicTime) -> Action {
        switch (state, shouldRun(now: now)) {
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
        case (.stopping(let since), _) where now.seconds(since: since) >= configuration.stopTimeout:
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

/// Detects from its reports and packets whether a room's mixer hangs.
///
/// A mixer hangs if it publishes nothing for five seconds, or nothing within twenty seconds of its start. Each
/// consecutive hang doubles both times, up to eightfold, so that a mixer that lacks processor time is not killed in a
/// loop. Time in which the gateway itself was suspended does not count.
struct MixerLiveness {
    /// The totals that the gateway has received from the mixers of a room.
    struct Counters: Equatable, Sendable {
        /// The number of reports by HTTP.
        var reports: UInt64 = 0
        /// The number of the program's packets.
        var packets: UInt64 = 0
    }

    /// The kind of a hang; the raw value is a description for the log.
    enum Hang: String, Sendable {
        case neverPublished = "it has not published the program since it was started"
        case silent = "it neither reports nor publishes"
        case publishesNothing = "it reports but publishes nothing"
    }

    struct Configuration: Equatable {
        /// Seconds without a packet after which a mixer that has published hangs.
        var silence = 5.0
        /// Seconds from a mixer's start within which the first packet must arrive.
        var startup = 20.0
        /// The most doublings of both times.
        var maximumDoublings = 3
        /// Seconds of operation after which the number of consecutive hangs is reset.
        var healthy = 60.0
        /// Seconds between two checks above which the gateway itself was suspended.
        var pause = 1.0
    }

    private let configuration: Configuration
    /// The totals at the last check; nil before the first check of a process.
    private var previous: Counters?
    private var started: MonotonicTime?
    private var lastReport: MonotonicTime?
    private var lastPacket: MonotonicTime?
    private var lastCheck: MonotonicTime?
    /// The number of consecutive hangs.
    private var hangs = 0

    init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// Starts the observation of a new process.
    mutating func processStarted(now: MonotonicTime) {
        started = now
        lastReport = nil
        lastPacket = nil
        lastCheck = now
        previous = nil
    }

    /// Applies the present totals; called several times per second while the process runs.
    ///
    /// - Returns: The kind of the hang, once per hang; nil if there is none.
    mutating func update(_ counters: Counters, now: MonotonicTime) -> Hang? {
        excludeSuspension(now: now)
        // Arrivals before the first check may be of the former process.
        let before = previous ?? counters
        previous = counters
        if counters.reports != before.reports { lastReport = now }
        if counters.packets != before.packets { lastPacket = now }
        guard let started else { return nil }
        if now.seconds(since: started) >= configuration.healthy { hangs = 0 }
        let factor = Double(1 << min(hangs, configuration.maximumDoublings))
        let limit = (lastPacket == nil ? configuration.startup : configuration.silence) * factor
        guard now.seconds(since: lastPacket ?? started) >= limit else { return nil }
        hangs += 1
        self.started = nil
        guard lastPacket != nil else { return .neverPublished }
        let reports = lastReport.map { now.seconds(since: $0) < configuration.silence / 2 } ?? false
        return reports ? .publishesNothing : .silent
    }

    /// Excludes a suspension of the gateway, in which nothing could be received either.
    private mutating func excludeSuspension(now: MonotonicTime) {
        defer { lastCheck = now }
        guard let lastCheck else { return }
        let pause = now.seconds(since: lastCheck)
        guard pause > configuration.pause else { return }
        started = started?.advanced(seconds: pause)
        lastReport = lastReport?.advanced(seconds: pause)
        lastPacket = lastPacket?.advanced(seconds: pause)
    }
}
