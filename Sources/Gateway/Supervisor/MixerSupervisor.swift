import Foundation
import Logging
import Media
import ServiceLifecycle
import Stage
import Synchronization

/// Runs one mixer process per live room.
///
/// Stage events and process exits are queued from any thread. One task handles them, so that a slow process start does
/// not block their sources.
final class MixerSupervisor: Service {
    /// Starts a mixer for a room and epoch.
    typealias Launch =
        @Sendable (
            _ room: String, _ epoch: UInt64, _ onExit: @escaping @Sendable (Int32, Bool) -> Void
        ) async throws -> RunningMixer

    private enum Event: Sendable {
        case began(room: String)
        case demand(room: String, MixerSupervision.Demand, isOn: Bool)
        case hosts(room: String, hasHost: Bool)
        case lingers(room: String)
        case ended(room: String)
        case exited(room: String, status: Int32, wasSignalled: Bool)
        case tick
    }

    private struct Room {
        var supervision: MixerSupervision
        var quarantine = HostQuarantine()
        var process: RunningMixer?
    }

    private let configuration: MixerSupervision.Configuration
    private let launch: Launch
    private let packets: (@Sendable (String) -> UInt64)?
    private let isInProgress: @Sendable (String) -> Bool
    private let firstEpoch: @Sendable (String) -> UInt64
    private let onExit: @Sendable (String) -> Void
    private let onQuarantine: @Sendable (String, HostQuarantine.Penalty) -> Void
    private let logger: Logger
    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    /// The restarts by room.
    private let restarts = Mutex<[String: UInt64]>([:])
    /// The number of mixer reports by room, for rooms with a mixer.
    private let reports = Mutex<[String: UInt64]>([:])
    /// The rooms whose mixer fails repeatedly, sorted.
    private let failing = Mutex<[String]>([])
    /// The ids of the running processes by room.
    private let identifiers = Mutex<[String: Int32]>([:])

    /// - Parameters:
    ///   - isInProgress: Returns whether a room of this name is in progress.
    ///   - firstEpoch: Returns an epoch that is higher than those of all earlier mixers of a room; by default the seconds
    ///     since 1970, which exceed the epochs of earlier gateway processes as long as no mixer was restarted more than
    ///     once per second on average.
    ///   - packets: Returns the number of packets of a room's program; nil turns the hang detection off.
    ///   - onExit: Called with the room after its mixer's exit, before a restart.
    ///   - onQuarantine: Called with the room and its refused host, before a restart.
    init(
        configuration: MixerSupervision.Configuration,
        logger: Logger,
        isInProgress: @escaping @Sendable (_ room: String) -> Bool = { _ in true },
        firstEpoch: @escaping @Sendable (_ room: String) -> UInt64 = { _ in
            UInt64(max(0, Date().timeIntervalSince1970))
        },
        packets: (@Sendable (_ room: String) -> UInt64)? = nil,
        onExit: @escaping @Sendable (_ room: String) -> Void = { _ in },
        onQuarantine: @escaping @Sendable (_ room: String, HostQuarantine.Penalty) -> Void = { _, _ in },
        launch: @escaping Launch
    ) {
        self.isInProgress = isInProgress
        self.firstEpoch = firstEpoch
        self.packets = packets
        self.onExit = onExit
        self.onQuarantine = onQuarantine
        self.configuration = configuration
        self.logger = logger
        self.launch = launch
        // Events are few and none may be lost; the limits on rooms bound their number.
        (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingOldest(65_536))
    }

    /// Queues an event of the stage.
    ///
    /// Any thread.
    func observe(_ event: StageEvent, hasHost: Bool) {
        switch event.payload {
        case .roomEnded:
            continuation.yield(.lingers(room: event.roomName))
        case .roomCreated:
            continuation.yield(.began(room: event.roomName))
            fallthrough
        default:
            continuation.yield(.hosts(room: event.roomName, hasHost: hasHost))
        }
    }

    /// Queues the start or the end of a demand for a room's program.
    ///
    /// Any thread.
    func demandChanged(room: String, _ demand: MixerSupervision.Demand, isOn: Bool) {
        continuation.yield(.demand(room: room, demand, isOn: isOn))
    }

    /// Queues the end of a room's program.
    ///
    /// Any thread.
    func programEnded(room: String) {
        continuation.yield(.ended(room: room))
    }

    /// Counts a report of a room's mixer.
    ///
    /// Any thread; takes one lock.
    func reported(room: String) {
        reports.withLock { reports in reports[room]? += 1 }
    }

    /// The rooms whose mixer fails repeatedly, sorted.
    var failingRooms: [String] { failing.withLock { $0 } }

    /// The ids of the running processes by room.
    var processes: [String: Int32] { identifiers.withLock { $0 } }

    /// The number of restarts by room.
    var restartCounts: [String: UInt64] { restarts.withLock { $0 } }

    func run() async throws {
        var rooms: [String: Room] = [:]
        var ticker: Task<Void, any Error>?
        await withGracefulShutdownHandler {
            for await event in events {
                await handle(event, rooms: &rooms)
                // Without rooms no timer runs, so that an idle gateway sleeps.
                if rooms.isEmpty {
                    ticker?.cancel()
                    ticker = nil
                } else if ticker == nil {
                    ticker = makeTicker()
                }
            }
        } onGracefulShutdown: {
            self.continuation.finish()
        }
        ticker?.cancel()
        await shutDown(rooms)
    }

    private func makeTicker() -> Task<Void, any Error> {
        Task { [continuation] in
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(50))
                continuation.yield(.tick)
            }
        }
    }

    private func handle(_ event: Event, rooms: inout [String: Room]) async {
        let now = MonotonicTime.now()
        switch event {
        case .hosts(let name, let hasHost):
            await change(name, in: &rooms, creatingIf: hasHost) { $0.hostsChanged(hasHost, now: now) }
        case .began(let name):
            await change(name, in: &rooms) { $0.roomBegan(now: now) }
        case .demand(let name, let demand, let isOn):
            // A demand after the room's end must not restart its program.
            let shouldCreate = isOn && rooms[name] == nil && isInProgress(name)
            await change(name, in: &rooms, creatingIf: shouldCreate) { $0.demandChanged(demand, isOn, now: now) }
        case .lingers(let name):
            await change(name, in: &rooms) { $0.roomLingers(now: now) }
        case .ended(let name):
            guard var room = rooms[name] else { return }
            let action = room.supervision.roomEnded(now: now)
            await perform(action, name: name, room: &room)
            store(room, name: name, in: &rooms)
        case .exited(let name, let status, let wasSignalled):
            guard var room = rooms[name] else { return }
            let suspects = room.process?.removeMarkers() ?? []
            logger.log(
                level: status == 0 ? .info : .warning,
                "mixer ended",
                metadata: [
                    "room": "\(name)", "status": "\(status)", "signalled": "\(wasSignalled)",
                    "decoding": "\(suspects.sorted().joined(separator: " "))",
                ]
            )
            room.process = nil
            _ = identifiers.withLock { $0.removeValue(forKey: name) }
            onExit(name)
            var penalties: [HostQuarantine.Penalty] = []
            if status != 0 {
                penalties = room.quarantine.mixerCrashed(decoding: suspects, now: now)
                for penalty in penalties {
                    logger.error(
                        "host quarantined: its media crashes the mixer",
                        metadata: [
                            "room": "\(name)", "participant": "\(penalty.participantSID)",
                            "seconds": "\(Int(penalty.seconds))",
                        ]
                    )
                    onQuarantine(name, penalty)
                }
            }
            let action = room.supervision.exited(
                now: now,
                chance: .random(in: 0...1),
                isCauseGone: !penalties.isEmpty
            )
            await perform(action, name: name, room: &room)
            store(room, name: name, in: &rooms)
        case .tick:
            for name in rooms.keys {
                guard var room = rooms[name] else { continue }
                let action = room.supervision.tick(counters(of: name), now: now)
                // A tick changes the room's state even without an action.
                await perform(action, name: name, room: &room)
                rooms[name] = room
            }
            let failingNow = rooms.filter { $0.value.supervision.isFailing(now: now) }.keys.sorted()
            failing.withLock { $0 = failingNow }
        }
    }

    private func counters(of room: String) -> MixerLiveness.Counters? {
        guard let packets else { return nil }
        return MixerLiveness.Counters(reports: reports.withLock { $0[room] ?? 0 }, packets: packets(room))
    }

    /// Changes the supervision of a room, and performs the resulting action.
    ///
    /// - Parameters:
    ///   - isWanted: Whether to create an unknown room.
    ///   - decide: Changes the supervision and returns the action.
    private func change(
        _ name: String,
        in rooms: inout [String: Room],
        creatingIf isWanted: Bool = false,
        _ decide: (inout MixerSupervision) -> MixerSupervision.Action
    ) async {
        guard var room = rooms[name] ?? (isWanted ? makeRoom(name) : nil) else { return }
        let action = decide(&room.supervision)
        await perform(action, name: name, room: &room)
        rooms[name] = room
    }

    /// Stores a room after a change, or removes it with its counters when it is finished.
    private func store(_ room: Room, name: String, in rooms: inout [String: Room]) {
        let isFinished = room.supervision.isFinished
        rooms[name] = isFinished ? nil : room
        let count = room.supervision.restarts
        restarts.withLock { $0[name] = isFinished || count == 0 ? nil : count }
        if isFinished {
            _ = reports.withLock { $0.removeValue(forKey: name) }
            failing.withLock { rooms in rooms.removeAll { $0 == name } }
        }
    }

    private func makeRoom(_ name: String) -> Room {
        Room(supervision: MixerSupervision(configuration: configuration, firstEpoch: firstEpoch(name)))
    }

    private func perform(_ action: MixerSupervision.Action, name: String, room: inout Room) async {
        switch action {
        case .none:
            return
        case .stop:
            room.process?.end()
            logger.info("mixer stopping", metadata: ["room": "\(name)"])
        case .kill:
            room.process?.kill()
            logger.warning("mixer did not end in time", metadata: ["room": "\(name)"])
        case .replace(let hang):
            logger.error(
                "mixer hangs and is replaced",
                metadata: [
                    "room": "\(name)", "pid": "\(room.process?.identifier ?? 0)", "reason": "\(hang.rawValue)",
                    "decoding": "\(room.process.map(decoding) ?? "")",
                ]
            )
            room.process?.kill()
        case .start(let epoch):
            reports.withLock { $0[name] = $0[name] ?? 0 }
            do {
                let process = try await launch(name, epoch) { [continuation] status, wasSignalled in
                    continuation.yield(.exited(room: name, status: status, wasSignalled: wasSignalled))
                }
                room.process = process
                identifiers.withLock { $0[name] = process.identifier }
                logger.info(
                    "mixer started",
                    metadata: ["room": "\(name)", "epoch": "\(epoch)", "pid": "\(process.identifier)"]
                )
            } catch {
                logger.error("mixer cannot be started", metadata: ["room": "\(name)", "error": "\(error)"])
                // Counts as an immediate failure, so that the backoff grows.
                continuation.yield(.exited(room: name, status: -1, wasSignalled: false))
            }
        }
    }

    /// Returns the participants whose media a process is decoding.
    private func decoding(_ process: RunningMixer) -> String {
        process.decodedParticipants.sorted().joined(separator: " ")
    }

    /// Ends every mixer, and kills those that have not exited within two seconds.
    private func shutDown(_ rooms: [String: Room]) async {
        let processes = rooms.values.compactMap(\.process)
        for process in processes { process.end() }
        let deadline = MonotonicTime.now().advanced(seconds: 2)
        while processes.contains(where: \.isRunning), .now() < deadline {
            try? await Task.sleep(for: .milliseconds(20))
        }
        for process in processes { process.kill() }
    }
}
