import Glibc
public import Media
public import Stage
import Synchronization

/// Every room's livestream: starts, stops and watches the pushes of its program.
///
/// Commands return at once; what becomes of them is told by `onChange`. One thread of its own looks after all rooms:
/// it is the only caller of `onChange` and `onFault`, so what they hear is in order. It keeps the object alive until
/// `shutdown`.
public final class Livestreams: Sendable, LivestreamControlling {
    /// The most outputs one room may have.
    public static let maximumOutputs = 16

    private struct Agenda: Sendable {
        /// Rooms to look at now.
        var rooms: Set<String> = []
        var isShutDown = false
    }

    private let feeds: any ProgramFeeding
    private let policy: Mutex<TargetPolicy>
    private let configuration: PushConfiguration
    private let startLimit: Double
    private let clock: any MonotonicClock
    private let onFault: @Sendable (_ room: String, StageError) -> Void
    private let onChange: @Sendable (_ room: String, LivestreamStatus) -> Void
    private let rooms = Mutex<[String: RoomLivestream]>([:])
    private let agenda = Latch(Agenda())

    /// - Parameters:
    ///   - feeds: Where the programs come from.
    ///   - configuration: For every push.
    ///   - startLimit: Seconds in which the first output must be connected.
    ///   - onFault: A livestream ended by itself: 4013 when it never started, 5002 when all outputs were lost.
    ///   - onChange: A livestream's or an output's state, or an output's last error, has changed.
    public init(
        feeds: any ProgramFeeding,
        policy: TargetPolicy,
        configuration: PushConfiguration = .output,
        startLimit: Double = 30,
        clock: any MonotonicClock = SystemClock(),
        onFault: @escaping @Sendable (_ room: String, StageError) -> Void = { _, _ in },
        onChange: @escaping @Sendable (_ room: String, LivestreamStatus) -> Void
    ) {
        self.feeds = feeds
        self.policy = Mutex(policy)
        self.configuration = configuration
        self.startLimit = startLimit
        self.clock = clock
        self.onFault = onFault
        self.onChange = onChange
        EgressLibraries.initialise()
        // Without a thread commands still work; only news of them are missing.
        _ = spawnThread(named: "livestreams") { self.run() }
    }

    /// Makes a port on which this process listens no target of outputs from now on, on any address of this machine.
    ///
    /// Listeners know their ports only once they listen.
    public func refuse(ownPort port: UInt16) {
        policy.withLock { _ = $0.ownPorts.insert(port) }
    }

    /// Begins to push a room to these targets.
    public func start(room: String, targets: [OutputTarget]) throws(StageError) {
        guard !targets.isEmpty else { throw .outputInvalid("A livestream needs at least one output") }
        guard targets.count <= Self.maximumOutputs else {
            throw .outputInvalid("A livestream has at most \(Self.maximumOutputs) outputs")
        }
        var names: Set<String> = []
        for target in targets where !names.insert(target.name).inserted {
            throw .outputInvalid("Two outputs have the name \(target.name)")
        }
        var pushes: [RTMPPush] = []
        for target in targets { pushes.append(try push(to: target, room: room)) }
        let isStarted = rooms.withLock { rooms in
            // A stopped one is history; a stopping one still holds its targets.
            if let known = rooms[room], known.progress.state != .stopped { return false }
            var livestream = RoomLivestream(
                progress: LivestreamProgress(now: clock.now, startLimit: startLimit)
            )
            for push in pushes {
                livestream.add(push)
                feeds.attach(push, room: room)
                push.start()
            }
            rooms[room] = livestream
            return true
        }
        guard isStarted else { throw .livestreamAlreadyStarted }
        look(at: room)
    }

    /// Takes down every output of a room.
    public func stop(room: String) throws(StageError) {
        let isStopped = rooms.withLock { rooms in
            guard rooms[room]?.progress.isRunning == true else { return false }
            rooms[room].map { takeDown($0, room: room) }
            rooms[room]?.progress.stop()
            return true
        }
        guard isStopped else { throw .livestreamNotRunning }
        look(at: room)
    }

    /// Adds an output to a running livestream.
    public func add(_ target: OutputTarget, room: String) throws(StageError) {
        let push = try push(to: target, room: room)
        let refusal: StageError? = rooms.withLock { rooms in
            guard let livestream = rooms[room], livestream.progress.isRunning else { return .livestreamNotRunning }
            guard !livestream.contains(target.name) else {
                return .outputInvalid("An output has the name \(target.name) already")
            }
            guard livestream.pushes.count < Self.maximumOutputs else {
                return .outputInvalid("A livestream has at most \(Self.maximumOutputs) outputs")
            }
            rooms[room]?.add(push)
            feeds.attach(push, room: room)
            push.start()
            return nil
        }
        if let refusal { throw refusal }
        look(at: room)
    }

    /// Takes one output down.
    public func remove(output name: String, room: String) throws(StageError) {
        let refusal: StageError? = rooms.withLock { rooms in
            guard let livestream = rooms[room], livestream.progress.isRunning, livestream.contains(name) else {
                return .livestreamNotRunning
            }
            guard livestream.pushes.count > 1 else {
                return .outputInvalid("The last output stays; stop the livestream instead", status: 409)
            }
            if let push = rooms[room]?.remove(name) {
                feeds.detach(push, room: room)
                push.stop()
            }
            return nil
        }
        if let refusal { throw refusal }
        look(at: room)
    }

    /// The present state of a room's outputs.
    public func status(room: String) -> LivestreamStatus {
        rooms.withLock { $0[room]?.status } ?? LivestreamStatus()
    }

    /// Takes down and then forgets a room's livestream, if it has one.
    public func roomEnded(_ room: String) {
        rooms.withLock { rooms in
            guard let livestream = rooms[room] else { return }
            takeDown(livestream, room: room)
            rooms[room]?.isEnded = true
            if livestream.progress.isRunning { rooms[room]?.progress.stop() }
        }
        look(at: room)
    }

    /// Takes everything down; returns when all pushes have let go, within about a second.
    ///
    /// For the process's end.
    public func shutdown() {
        let pushes = rooms.withLock { rooms in
            for (room, livestream) in rooms {
                takeDown(livestream, room: room)
                if livestream.progress.isRunning { rooms[room]?.progress.stop() }
            }
            return rooms.values.flatMap { $0.pushes }
        }
        let deadline = MonotonicTime.now().advanced(seconds: configuration.farewell + 0.5)
        for push in pushes { _ = push.waitUntilEnded(deadline: deadline) }
        agenda.update { agenda in
            agenda.rooms = Set(self.rooms.withLock { Array($0.keys) })
            agenda.isShutDown = true
        }
    }

    // MARK: - The thread's part

    private func run() {
        while let rooms = nextRooms() {
            for room in rooms { attend(to: room) }
        }
    }

    /// Waits for something to do; nil when there is nothing left to do ever.
    private func nextRooms() -> Set<String>? {
        let known = rooms.withLock { $0.mapValues { $0.progress.state } }
        let isStopping = known.values.contains(.stopping)
        let isLive = isStopping || known.values.contains(.starting) || known.values.contains(.started)
        // A livestream in motion is looked at without being asked: for its time limit, and to see threads end.
        let deadline = isLive ? MonotonicTime.now().advanced(milliseconds: isStopping ? 50 : 500) : nil
        let due: (rooms: Set<String>, isLast: Bool)? = agenda.wait(until: deadline) { agenda in
            guard !agenda.rooms.isEmpty || agenda.isShutDown else { return nil }
            defer { agenda.rooms = [] }
            return (agenda.rooms, agenda.isShutDown)
        }
        guard let due else { return Set(known.keys) }
        return due.isLast && due.rooms.isEmpty ? nil : due.rooms
    }

    /// Moves a room's livestream on and tells what is new.
    private func attend(to room: String) {
        let now = clock.now
        let (news, fault) = rooms.withLock { rooms -> (LivestreamStatus?, StageError?) in
            guard var livestream = rooms[room] else { return (nil, nil) }
            var fault: StageError?
            if livestream.progress.isRunning {
                let outputs = livestream.pushes.map { $0.status }
                let end = livestream.progress.look(
                    outputs: outputs.map { $0.state },
                    now: now,
                    secondsSince1970: Self.secondsSince1970
                )
                if let end {
                    takeDown(livestream, room: room)
                    fault = Self.error(for: end, outputs: outputs)
                }
            }
            livestream.settle(now: .now())
            let news = livestream.news()
            let isForgotten = livestream.isEnded && livestream.progress.state == .stopped
            rooms[room] = isForgotten ? nil : livestream
            return (news, fault)
        }
        if let news { onChange(room, news) }
        if let fault { onFault(room, fault) }
    }

    private func takeDown(_ livestream: RoomLivestream, room: String) {
        for push in livestream.pushes {
            feeds.detach(push, room: room)
            push.stop()
        }
    }

    private func look(at room: String) {
        agenda.update { _ = $0.rooms.insert(room) }
    }

    private func push(to target: OutputTarget, room: String) throws(StageError) -> RTMPPush {
        guard NameRule.check(target.name) == nil else {
            throw .outputInvalid("An output's name must be 1 to 64 letters, digits, hyphens or underscores")
        }
        let policy = policy.withLock { $0 }
        let address: PushAddress
        do {
            address = try PushAddress(url: target.url, streamKey: target.streamKey)
            try policy.check(address)
        } catch {
            throw .outputInvalid("Output \(target.name): \(error.message)")
        }
        // Told on the push's thread; the agenda's lock is the only one taken there.
        let agenda = agenda
        return RTMPPush(name: target.name, address: address, policy: policy, configuration: configuration) { _ in
            agenda.update { _ = $0.rooms.insert(room) }
        }
    }

    private static func error(for fault: LivestreamProgress.Fault, outputs: [OutputStatus]) -> StageError {
        let reasons = outputs.map { "\($0.name): \($0.lastError ?? "no answer")" }.joined(separator: "; ")
        return switch fault {
        case .neverStarted: .livestreamNotStarted(reasons)
        case .lost: .livestreamLost(reasons)
        }
    }

    private static var secondsSince1970: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
