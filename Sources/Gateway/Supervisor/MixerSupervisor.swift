import Foundation
import Logging
import Media
import ServiceLifecycle
import Stage
import Synchronization

/// Keeps one mixer process per live room, as a service.
///
/// Events of the stage and ends of processes come in from any thread and are only noted; one task acts on them, so a
/// slow start of a process never holds up whoever reported.
final class MixerSupervisor: Service {
    /// Starts a mixer for a room and epoch.
    typealias Launch =
        @Sendable (
            _ room: String, _ epoch: UInt64, _ onExit: @escaping @Sendable (Int32, Bool) -> Void
        ) async throws -> MixerProcess

    private enum Note: Sendable {
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
        var process: MixerProcess?
    }

    private let configuration: MixerSupervision.Configuration
    private let launch: Launch
    private let packets: (@Sendable (String) -> UInt64)?
    private let isInProgress: @Sendable (String) -> Bool
    private let onExit: @Sendable (String) -> Void
    private let onSentence: @Sendable (String, HostQuarantine.Sentence) -> Void
    private let logger: Logger
    private let notes: AsyncStream<Note>
    private let continuation: AsyncStream<Note>.Continuation
    /// Restarts per room, for reports.
    private let restarts = Mutex<[String: UInt64]>([:])
    /// Reports of mixers by room, for rooms that have a mixer.
    private let reports = Mutex<[String: UInt64]>([:])
    /// Rooms whose mixer fails again and again, in order of their names.
    private let troubled = Mutex<[String]>([])

    /// - Parameters:
    ///   - isInProgress: Whether there is a room of that name that has not ended.
    ///   - packets: How many packets of a room's program have come so far; nil where nobody counts them, and mixers that
    ///     hang are not found.
    ///   - onExit: Told the room whose mixer is gone, before another one is started.
    ///   - onSentence: Told the host of a room that is to be kept out, likewise.
    init(
        configuration: MixerSupervision.Configuration,
        logger: Logger,
        isInProgress: @escaping @Sendable (_ room: String) -> Bool = { _ in true },
        packets: (@Sendable (_ room: String) -> UInt64)? = nil,
        onExit: @escaping @Sendable (_ room: String) -> Void = { _ in },
        onSentence: @escaping @Sendable (_ room: String, HostQuarantine.Sentence) -> Void = { _, _ in },
        launch: @escaping Launch
    ) {
        self.isInProgress = isInProgress
        self.packets = packets
        self.onExit = onExit
        self.onSentence = onSentence
        self.configuration = configuration
        self.logger = logger
        self.launch = launch
        // Notes are few (joins, leaves, ends) and each matters; their number is bounded by the rooms' own limits.
        (notes, continuation) = AsyncStream.makeStream(of: Note.self, bufferingPolicy: .bufferingOldest(65_536))
    }

    /// Notes an event of the stage.
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

    /// Notes that something demands a room's program, or does so no longer: with that there is one, whoever is on stage.
    ///
    /// Any thread.
    func demandChanged(room: String, _ demand: MixerSupervision.Demand, isOn: Bool) {
        continuation.yield(.demand(room: room, demand, isOn: isOn))
    }

    /// Notes that a room, which has ended before, needs no program any more.
    ///
    /// Any thread.
    func programEnded(room: String) {
        continuation.yield(.ended(room: room))
    }

    /// Notes that the mixer of a room has reported.
    ///
    /// Any thread; costs a lock.
    func reported(room: String) {
        reports.withLock { reports in reports[room]? += 1 }
    }

    /// Rooms whose mixer fails again and again, in order of their names.
    var troubledRooms: [String] { troubled.withLock { $0 } }

    /// Rooms whose mixer was started again, and how often.
    var restartCounts: [String: UInt64] { restarts.withLock { $0 } }

    func run() async throws {
        var rooms: [String: Room] = [:]
        var ticker: Task<Void, any Error>?
        await withGracefulShutdownHandler {
            for await note in notes {
                await take(note, rooms: &rooms)
                // Time matters to rooms that have a mixer or had one; a gateway without such sleeps.
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

    private func take(_ note: Note, rooms: inout [String: Room]) async {
        let now = MonotonicTime.now()
        switch note {
        case .hosts(let name, let hasHost):
            await change(name, in: &rooms, madeFor: hasHost) { $0.hostsChanged(hasHost, now: now) }
        case .began(let name):
            await change(name, in: &rooms) { $0.roomBegan(now: now) }
        case .demand(let name, let demand, let isOn):
            // One that comes after the room's end must not bring its program back.
            let isNew = isOn && rooms[name] == nil && isInProgress(name)
            await change(name, in: &rooms, madeFor: isNew) { $0.demandChanged(demand, isOn, now: now) }
        case .lingers(let name):
            await change(name, in: &rooms) { $0.roomLingers(now: now) }
        case .ended(let name):
            guard var room = rooms[name] else { return }
            let action = room.supervision.roomEnded(now: now)
            await carryOut(action, name: name, room: &room)
            keep(room, name: name, in: &rooms)
        case .exited(let name, let status, let wasSignalled):
            guard var room = rooms[name] else { return }
            let suspects = Set(room.process?.takeMarks().map(FollowedRoom.Input.participantSID(ofInput:)) ?? [])
            logger.log(
                level: status == 0 ? .info : .warning,
                "mixer ended",
                metadata: [
                    "room": "\(name)", "status": "\(status)", "signalled": "\(wasSignalled)",
                    "decoding": "\(suspects.sorted().joined(separator: " "))",
                ]
            )
            room.process = nil
            onExit(name)
            var sentences: [HostQuarantine.Sentence] = []
            if status != 0 {
                sentences = room.quarantine.died(decoding: suspects, now: now)
                for sentence in sentences {
                    logger.error(
                        "a host's media ends the mixer and is kept out",
                        metadata: [
                            "room": "\(name)", "participant": "\(sentence.participantSID)",
                            "seconds": "\(Int(sentence.seconds))",
                        ]
                    )
                    onSentence(name, sentence)
                }
            }
            let action = room.supervision.exited(
                now: now,
                jitter: .random(in: 0...1),
                isCauseGone: !sentences.isEmpty
            )
            await carryOut(action, name: name, room: &room)
            keep(room, name: name, in: &rooms)
        case .tick:
            for name in rooms.keys {
                guard var room = rooms[name] else { continue }
                let action = room.supervision.tick(signs(of: name), now: now)
                // The tick itself changes what the room knows of its mixer.
                await carryOut(action, name: name, room: &room)
                rooms[name] = room
            }
            let inTrouble = rooms.filter { $0.value.supervision.isInTrouble(now: now) }.keys.sorted()
            troubled.withLock { $0 = inTrouble }
        }
    }

    private func signs(of room: String) -> MixerLiveness.Signs? {
        guard let packets else { return nil }
        return MixerLiveness.Signs(reports: reports.withLock { $0[room] ?? 0 }, packets: packets(room))
    }

    /// Does what a change asks of a room's mixer.
    ///
    /// - Parameters:
    ///   - isWanted: A room that is not known yet is made for it.
    ///   - decide: Says what that is.
    private func change(
        _ name: String,
        in rooms: inout [String: Room],
        madeFor isWanted: Bool = false,
        _ decide: (inout MixerSupervision) -> MixerSupervision.Action
    ) async {
        guard var room = rooms[name] ?? (isWanted ? makeRoom() : nil) else { return }
        let action = decide(&room.supervision)
        await carryOut(action, name: name, room: &room)
        rooms[name] = room
    }

    /// Puts a room back after a change, or forgets it with its figures when nothing will follow.
    private func keep(_ room: Room, name: String, in rooms: inout [String: Room]) {
        let isFinished = room.supervision.isFinished
        rooms[name] = isFinished ? nil : room
        let count = room.supervision.restarts
        restarts.withLock { $0[name] = isFinished || count == 0 ? nil : count }
        if isFinished {
            _ = reports.withLock { $0.removeValue(forKey: name) }
            troubled.withLock { rooms in rooms.removeAll { $0 == name } }
        }
    }

    private func makeRoom() -> Room {
        // Seconds since 1970 are higher than what any earlier process of this gateway began with, as long as no room
        // restarted its mixer more than once a second on average.
        let epoch = UInt64(max(0, Date().timeIntervalSince1970))
        return Room(supervision: MixerSupervision(configuration: configuration, firstEpoch: epoch))
    }

    private func carryOut(_ action: MixerSupervision.Action, name: String, room: inout Room) async {
        switch action {
        case .none:
            return
        case .stop:
            room.process?.end()
            logger.info("mixer stops", metadata: ["room": "\(name)"])
        case .kill:
            room.process?.kill()
            logger.warning("mixer did not end when asked", metadata: ["room": "\(name)"])
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
                logger.info(
                    "mixer started",
                    metadata: ["room": "\(name)", "epoch": "\(epoch)", "pid": "\(process.identifier)"]
                )
            } catch {
                logger.error("mixer cannot be started", metadata: ["room": "\(name)", "error": "\(error)"])
                // Counts as a process that died at once, so that the wait before the next try grows.
                continuation.yield(.exited(room: name, status: -1, wasSignalled: false))
            }
        }
    }

    /// Whose media a process is decoding at this moment.
    private func decoding(_ process: MixerProcess) -> String {
        Set(process.marks.map(FollowedRoom.Input.participantSID(ofInput:))).sorted().joined(separator: " ")
    }

    /// Ends every mixer and waits a moment for them to go.
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
