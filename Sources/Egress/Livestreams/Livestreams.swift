internal import CRTMP
import Glibc
public import Media
public import Stage
import Synchronization

/// Starts, stops and monitors the livestreams of all rooms.
///
/// Commands return at once; their results are reported through `onChange`. One thread serves all rooms and is the only
/// caller of `onChange`, `onWarning` and `onFault`, so the calls are in order. The thread keeps the object alive until
/// `shutdown`.
public final class Livestreams: Sendable, LivestreamControlling {
    /// The maximum number of outputs of a room.
    public static let maximumOutputs = 16

    private struct Agenda: Sendable {
        /// Rooms to update now.
        var rooms: Set<String> = []
        var isShutDown = false
    }

    private struct Register: Sendable {
        var rooms: [String: RoomLivestream] = [:]
        /// What each running livestream was told to do.
        var plans: [String: LivestreamPlan] = [:]
        /// Since when every host of a room has been muted.
        var mutedSince: [String: MonotonicTime] = [:]
    }

    private let feeds: any ProgramFeeding
    private let policy: Mutex<TargetPolicy>
    private let configuration: PushConfiguration
    private let startLimit: Double
    private let maximumLivestreams: Int
    private let clock: any MonotonicClock
    private let onFault: @Sendable (_ room: String, StageError) -> Void
    private let onWarning: @Sendable (_ room: String, LivestreamWarning) -> Void
    private let onChange: @Sendable (_ room: String, LivestreamStatus) -> Void
    private let onPlan: @Sendable (_ room: String, LivestreamPlan?) -> Void
    private let register = Mutex(Register())
    private let agenda = Latch(Agenda())

    /// - Parameters:
    ///   - feeds: The source of the programs.
    ///   - configuration: The configuration of every push.
    ///   - startLimit: Seconds within which the first output must be connected.
    ///   - maximumLivestreams: The maximum number of rooms that are live at a time.
    ///   - onFault: Called when a livestream ends by itself: 4013 when it never started, 5002 when all outputs were
    ///     lost.
    ///   - onWarning: Called when a running livestream has a problem, will have one, or has recovered.
    ///   - onPlan: Called, on any thread and while a lock is held, with what a livestream is to do from now on, so that
    ///     it can go on after a restart; nil once it has ended, but not at shutdown.
    ///   - onChange: Called when the state of a livestream, or the state or last error of an output, has changed.
    public init(
        feeds: any ProgramFeeding,
        policy: TargetPolicy,
        configuration: PushConfiguration = .output,
        startLimit: Double = 30,
        maximumLivestreams: Int = 100,
        clock: any MonotonicClock = SystemClock(),
        onFault: @escaping @Sendable (_ room: String, StageError) -> Void = { _, _ in },
        onWarning: @escaping @Sendable (_ room: String, LivestreamWarning) -> Void = { _, _ in },
        onPlan: @escaping @Sendable (_ room: String, LivestreamPlan?) -> Void = { _, _ in },
        onChange: @escaping @Sendable (_ room: String, LivestreamStatus) -> Void
    ) {
        self.feeds = feeds
        self.policy = Mutex(policy)
        self.configuration = configuration
        self.startLimit = startLimit
        self.maximumLivestreams = maximumLivestreams
        self.clock = clock
        self.onFault = onFault
        self.onWarning = onWarning
        self.onChange = onChange
        self.onPlan = onPlan
        EgressLibraries.initialise()
        // Without a thread commands still work, but no changes are reported.
        _ = WorkerThread(name: "livestreams", stackSize: WorkerThread.smallStack) { self.run() }
    }

    /// Adds a port that this process listens on, which outputs may not target on any address of this machine.
    ///
    /// Called after the listener has bound its port.
    public func refuse(ownPort port: UInt16) {
        policy.withLock { _ = $0.ownPorts.insert(port) }
    }

    /// Starts pushing a room's program to the targets, for as long as `options` allow.
    public func start(room: String, targets: [OutputTarget], options: LivestreamOptions) throws(StageError) {
        try options.validate()
        var planned = targets
        for index in planned.indices {
            var figures = planned[index].figures ?? StreamProperties()
            figures.duration = Double(options.maximumDuration)
            planned[index].figures = figures
        }
        let outputs = try outputs(to: planned, room: room)
        let limits = LivestreamProgress.Limits(
            start: startLimit,
            duration: Double(options.maximumDuration),
            idle: Double(options.minimumIdleTimeout)
        )
        let refusal: StageError? = register.withLock { register in
            // A stopped livestream may be replaced; a stopping one still uses its targets.
            switch register.rooms[room]?.progress.state {
            case .starting, .stopping: return .livestreamInFlight
            case .started: return .livestreamAlreadyStarted
            case .stopped, nil: break
            }
            let live = register.rooms.values.count { $0.progress.state != .stopped }
            guard live < maximumLivestreams else { return .livestreamLimitReached }
            var livestream = RoomLivestream(progress: LivestreamProgress(now: clock.now, limits: limits))
            for output in outputs { begin(output, in: &livestream) }
            register.rooms[room] = livestream
            setPlan(LivestreamPlan(targets, options, startedAt: Self.secondsSince1970), of: room, &register)
            return nil
        }
        if let refusal { throw refusal }
        updateProgress(of: room)
    }

    private func setPlan(_ plan: LivestreamPlan?, of room: String, _ register: inout Register) {
        guard register.plans[room] != plan else { return }
        register.plans[room] = plan
        onPlan(room, plan)
    }

    /// Stops every output of a room.
    public func stop(room: String) throws(StageError) {
        let refusal: StageError? = register.withLock { register in
            if let refusal = Self.refusal(register.rooms[room]) { return refusal }
            register.rooms[room].map { remove($0, room: room) }
            register.rooms[room]?.progress.stop(.command)
            setPlan(nil, of: room, &register)
            return nil
        }
        if let refusal { throw refusal }
        updateProgress(of: room)
    }

    /// Adds outputs to a running livestream: all of them, or none.
    public func add(_ targets: [OutputTarget], room: String) throws(StageError) {
        let outputs = try outputs(to: targets, room: room)
        let refusal: StageError? = register.withLock { register in
            if let refusal = Self.refusal(register.rooms[room]) { return refusal }
            guard var livestream = register.rooms[room] else { return .livestreamNotRunning }
            if let taken = targets.first(where: { livestream.contains($0.name) }) {
                return .outputInvalid("An output has the name \(taken.name) already")
            }
            guard livestream.outputs.count + outputs.count <= Self.maximumOutputs else {
                return .outputInvalid("A livestream has at most \(Self.maximumOutputs) outputs")
            }
            for output in outputs { begin(output, in: &livestream) }
            register.rooms[room] = livestream
            if var plan = register.plans[room] {
                plan.targets += targets
                setPlan(plan, of: room, &register)
            }
            return nil
        }
        if let refusal { throw refusal }
        updateProgress(of: room)
    }

    /// Stops and removes one output; the last one stays and causes a warning.
    public func remove(output name: String, room: String) throws(StageError) {
        let refusal: StageError? = register.withLock { register in
            if let refusal = Self.refusal(register.rooms[room]) { return refusal }
            guard let livestream = register.rooms[room], livestream.contains(name) else { return .livestreamNotRunning }
            guard livestream.outputs.count > 1 else {
                let message = "The last output stays; stop the livestream instead"
                register.rooms[room]?.warn(LivestreamWarning(.lastOutput, output: name, message: message))
                return .lastOutput
            }
            if let push = register.rooms[room]?.remove(name) {
                feeds.detach(push, room: room)
                push.stop()
            }
            if var plan = register.plans[room] {
                plan.targets.removeAll { $0.name == name }
                setPlan(plan, of: room, &register)
            }
            return nil
        }
        updateProgress(of: room)
        if let refusal { throw refusal }
    }

    /// Retries the connection of an output now.
    public func retry(output name: String, room: String) throws(StageError) {
        let refusal: StageError? = register.withLock { register in
            if let refusal = Self.refusal(register.rooms[room]) { return refusal }
            guard let output = register.rooms[room]?.outputs.first(where: { $0.name == name }) else {
                return .livestreamNotRunning
            }
            output.push.retry()
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Reports whether every host of a room has mic and camera off, or there is no host; called on every change.
    ///
    /// A livestream that is muted for its idle timeout stops. Rooms without a report are never idle.
    public func hostsMuted(room: String, _ areMuted: Bool) {
        register.withLock { register in
            if !areMuted {
                register.mutedSince[room] = nil
            } else if register.mutedSince[room] == nil {
                register.mutedSince[room] = clock.now
            }
        }
        updateProgress(of: room)
    }

    /// Returns the current state of a room's outputs.
    public func status(room: String) -> LivestreamStatus {
        register.withLock { $0.rooms[room]?.status } ?? LivestreamStatus()
    }

    /// Stops and then removes a room's livestream, if it has one.
    public func roomEnded(_ room: String) {
        register.withLock { register in
            register.mutedSince[room] = nil
            guard let livestream = register.rooms[room] else { return }
            remove(livestream, room: room)
            register.rooms[room]?.isEnded = true
            register.rooms[room]?.progress.stop(.roomEnded)
            setPlan(nil, of: room, &register)
        }
        updateProgress(of: room)
    }

    /// Stops everything and waits for the pushes to close their connections, for about a second at most.
    ///
    /// Called when the process shuts down.
    public func shutdown() {
        let pushes = register.withLock { register in
            for (room, livestream) in register.rooms {
                remove(livestream, room: room)
                register.rooms[room]?.progress.stop(.command)
            }
            return register.rooms.values.flatMap { $0.outputs.map(\.push) }
        }
        let deadline = MonotonicTime.now().advanced(seconds: configuration.farewell + 0.5)
        for push in pushes { _ = push.waitUntilEnded(deadline: deadline) }
        agenda.update { agenda in
            agenda.rooms = self.register.withLock { Set($0.rooms.keys) }
            agenda.isShutDown = true
        }
    }

    // MARK: - The thread's part

    private func run() {
        while let rooms = nextRooms() {
            for room in rooms { update(to: room) }
        }
    }

    /// Waits for rooms to update; returns nil after the last one.
    private func nextRooms() -> Set<String>? {
        let known = register.withLock { $0.rooms.mapValues { $0.progress.state } }
        let isStopping = known.values.contains(.stopping)
        let isLive = isStopping || known.values.contains(.starting) || known.values.contains(.started)
        // A running livestream is polled for its time limits and the end of its threads.
        let deadline = isLive ? MonotonicTime.now().advanced(milliseconds: isStopping ? 50 : 500) : nil
        let due: (rooms: Set<String>, isLast: Bool)? = agenda.wait(until: deadline) { agenda in
            guard !agenda.rooms.isEmpty || agenda.isShutDown else { return nil }
            defer { agenda.rooms = [] }
            return (agenda.rooms, agenda.isShutDown)
        }
        guard let due else { return Set(known.keys) }
        return due.isLast && due.rooms.isEmpty ? nil : due.rooms
    }

    /// The results of a room's update.
    private struct Findings {
        /// In order of occurrence.
        var statuses: [LivestreamStatus] = []
        var warnings: [LivestreamWarning] = []
        var fault: StageError?
    }

    /// Updates a room's livestream and reports the changes.
    private func update(to room: String) {
        let now = clock.now
        let found = register.withLock { register -> Findings in
            guard var livestream = register.rooms[room] else { return Findings() }
            livestream.updateCompliance()
            var found = Findings(warnings: livestream.drainWarnings())
            let outputs = livestream.outputs.map { $0.push.status }
            let findings = livestream.progress.update(
                outputs: outputs,
                mutedSince: register.mutedSince[room],
                now: now,
                secondsSince1970: Self.secondsSince1970
            )
            for finding in findings {
                switch finding {
                case .warn(let warning): found.warnings.append(warning)
                case .end(let reason):
                    remove(livestream, room: room)
                    setPlan(nil, of: room, &register)
                    found.fault = Self.error(for: reason, outputs: outputs)
                }
            }
            // Reports the stopping state even when nothing is left to wait for.
            let before = livestream.news()
            livestream.settle(now: .now())
            found.statuses = [before, livestream.news()].compactMap(\.self)
            let isForgotten = livestream.isEnded && livestream.progress.state == .stopped
            register.rooms[room] = isForgotten ? nil : livestream
            return found
        }
        for status in found.statuses { onChange(room, status) }
        for warning in found.warnings { onWarning(room, warning) }
        if let fault = found.fault { onFault(room, fault) }
    }

    private func remove(_ livestream: RoomLivestream, room: String) {
        for gauge in livestream.gauges.values { feeds.detach(gauge, room: room) }
        for output in livestream.outputs {
            feeds.detach(output.push, room: room)
            output.push.stop()
        }
    }

    /// Attaches an output to its feed and starts it.
    private func begin(_ output: LiveOutput, in livestream: inout RoomLivestream) {
        if let gauge = livestream.add(output) { feeds.attach(gauge, room: output.feed) }
        feeds.attach(output.push, room: output.feed)
        output.push.start()
    }

    private func updateProgress(of room: String) {
        agenda.update { _ = $0.rooms.insert(room) }
    }

    /// Makes outputs that are not started, after validating all targets.
    private func outputs(to targets: [OutputTarget], room: String) throws(StageError) -> [LiveOutput] {
        guard !targets.isEmpty else { throw .outputInvalid("A livestream needs at least one output") }
        guard targets.count <= Self.maximumOutputs else {
            throw .outputInvalid("A livestream has at most \(Self.maximumOutputs) outputs")
        }
        var names: Set<String> = []
        for target in targets where !names.insert(target.name).inserted {
            throw .outputInvalid("Two outputs have the name \(target.name)")
        }
        var outputs: [LiveOutput] = []
        for target in targets { outputs.append(try output(to: target, room: room)) }
        return outputs
    }

    /// Checks outputs that are to be started later.
    ///
    /// - Throws: 4015.
    public func check(_ targets: [OutputTarget]) throws(StageError) {
        guard targets.count <= Self.maximumOutputs else {
            throw .outputInvalid("A livestream has at most \(Self.maximumOutputs) outputs")
        }
        for target in targets { _ = try addresses(of: target) }
    }

    /// Returns the addresses of an output, and what it may connect to.
    private func addresses(
        of target: OutputTarget
    ) throws(StageError) -> (main: PushAddress, spare: PushAddress?, policy: TargetPolicy) {
        guard NameRule.check(target.name) == nil else {
            throw .outputInvalid("An output's name must be 1 to 64 letters, digits, hyphens or underscores")
        }
        let general = policy.withLock { $0 }
        let policy = target.mustBePublic ? general.withoutPrivateAddresses : general
        do {
            let address = try PushAddress(url: target.url, streamKey: target.streamKey)
            try policy.check(address)
            guard let url = target.backupURL else { return (address, nil, policy) }
            let spare = try PushAddress(url: url, streamKey: target.backupStreamKey ?? target.streamKey)
            try policy.check(spare)
            return (address, spare, policy)
        } catch {
            throw .outputInvalid("Output \(target.name): \(error.message)")
        }
    }

    private func output(to target: OutputTarget, room: String) throws(StageError) -> LiveOutput {
        let (address, spare, policy) = try addresses(of: target)
        // Called on a thread of the push, which takes no other lock than the agenda's.
        let agenda = agenda
        let push = RTMPPush(
            name: target.name,
            address: address,
            spare: spare,
            policy: policy,
            configuration: configuration
        ) { _ in
            agenda.update { _ = $0.rooms.insert(room) }
        }
        let compliance = OutputCompliance(
            main: ComplianceMonitor(address: address, figures: target.figures),
            spare: spare.map { ComplianceMonitor(address: $0, figures: target.figures) }
        )
        return LiveOutput(push: push, feed: target.feed(of: room), compliance: compliance)
    }

    /// Returns why a room's livestream accepts no command now; nil when it does.
    private static func refusal(_ livestream: RoomLivestream?) -> StageError? {
        switch livestream?.progress.state {
        case .starting, .started: nil
        case .stopping: .livestreamInFlight
        case .stopped, nil: .livestreamNotRunning
        }
    }

    /// Returns the fault for the end of a livestream; nil for a regular end.
    private static func error(for reason: LivestreamEndReason, outputs: [OutputStatus]) -> StageError? {
        let reasons = outputs.map { "\($0.name): \($0.lastError ?? "no answer")" }.joined(separator: "; ")
        return switch reason {
        case .notStarted: .livestreamNotStarted(reasons)
        case .lost: .livestreamLost(reasons)
        case .command, .maximumDuration, .idle, .roomEnded: nil
        }
    }

    private static var secondsSince1970: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
