import Foundation
public import Media
import NIOCore
public import Stage
import Synchronization

/// Starts and stops the HLS output of rooms, automatically with the program and by command.
///
/// State changes are decided under a lock and performed in the same order on the owner loop of the room's feed, so
/// callbacks are in order too.
public final class HLSController: HLSControlling {
    private struct Room {
        let feed: Feed
        let monitor: ProgramFlowMonitor
        let renditions: [(name: String, feed: Feed)]
        var progress = HLSStateMachine()
        var programs: HLSRenditions?

        func attach() {
            guard let programs else { return }
            feed.attach(programs.program)
            for rendition in renditions {
                if let program = programs.rendition(rendition.name) { rendition.feed.attach(program) }
            }
        }

        func detach() {
            guard let programs else { return }
            feed.detach(programs.program)
            for rendition in renditions {
                if let program = programs.rendition(rendition.name) { rendition.feed.detach(program) }
            }
        }
    }

    private let directory: HLSDirectory
    private let clock: any MonotonicClock
    private let onChange: @Sendable (_ room: String, HLSStatus) -> Void
    private let onDemand: @Sendable (_ room: String, _ isRequested: Bool) -> Void
    private let onFault: @Sendable (_ room: String, StageError) -> Void
    private let rooms = Mutex<[String: Room]>([:])

    /// - Parameters:
    ///   - directory: The programs that players request.
    ///   - onFault: Called when HLS could not start (4016) or stop (4017), or failed while running (5003).
    ///   - onDemand: Called under a lock when a start or stop command changes whether a program is required.
    ///   - onChange: Called when the state of a room's HLS has changed.
    public init(
        directory: HLSDirectory,
        clock: any MonotonicClock = SystemClock(),
        onFault: @escaping @Sendable (_ room: String, StageError) -> Void = { _, _ in },
        onDemand: @escaping @Sendable (_ room: String, _ isRequested: Bool) -> Void = { _, _ in },
        onChange: @escaping @Sendable (_ room: String, HLSStatus) -> Void
    ) {
        self.directory = directory
        self.clock = clock
        self.onFault = onFault
        self.onDemand = onDemand
        self.onChange = onChange
    }

    // MARK: Rooms

    /// Follows the program of a new room.
    ///
    /// - Parameters:
    ///   - renditions: The renditions' feeds by name, in the order of the ladder.
    ///   - isExpected: Whether a program is expected without a command, as after a restart of the gateway; requests
    ///     wait for it.
    public func roomBegan(
        _ room: String,
        feed: Feed,
        renditions: [(name: String, feed: Feed)] = [],
        isExpected: Bool = false
    ) {
        // Opened from the start, so that early players are told to retry instead of "not found".
        _ = directory.open(room, renditions: renditions.map(\.name), isExpected: isExpected)
        let monitor = ProgramFlowMonitor { [weak self] event in self?.handle(event, room: room) }
        rooms.withLock { $0[room] = Room(feed: feed, monitor: monitor, renditions: renditions) }
        feed.attach(monitor)
    }

    /// Ends the playlists of a closed room.
    public func roomEnded(_ room: String) {
        if let ended = rooms.withLock({ $0.removeValue(forKey: room) }) {
            ended.feed.detach(ended.monitor)
            ended.detach()
        }
        directory.close(room)
    }

    /// Handles timeouts; call about once a second.
    public func tick() {
        let now = clock.now
        let due = rooms.withLock { rooms in
            rooms.filter { $1.progress.deadline.map { $0 <= now } ?? false }.map(\.key)
        }
        for room in due { handle(.timePassed, room: room) }
    }

    // MARK: Commands

    /// Starts a room's HLS by command.
    public func start(room: String) throws(StageError) {
        try command(room) { (progress, now) throws(StageError) in try progress.start(now: now) }
    }

    /// Ends a room's playlist until the next start.
    public func stop(room: String) throws(StageError) {
        try command(room) { (progress, now) throws(StageError) in try progress.stop(now: now) }
    }

    /// Returns the HLS state of a room.
    public func status(room: String) -> HLSStatus {
        rooms.withLock { $0[room]?.progress.status } ?? HLSStatus()
    }

    private func command(
        _ room: String,
        _ body: (inout HLSStateMachine, MonotonicTime) throws(StageError) -> [HLSAction]
    ) throws(StageError) {
        let now = clock.now
        let refusal = rooms.withLock { rooms -> StageError? in
            guard var entry = rooms[room] else { return .roomNotFound }
            do throws(StageError) {
                let actions = try body(&entry.progress, now)
                store(entry, room: room, in: &rooms)
                schedule(actions, room: room, on: entry.feed.ownerLoop)
                return nil
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
    }

    // MARK: Performing actions

    private func handle(_ event: HLSEvent, room: String) {
        let now = clock.now
        rooms.withLock { rooms in
            guard var entry = rooms[room] else { return }
            let actions = entry.progress.handle(event, now: now, secondsSince1970: Date().timeIntervalSince1970)
            store(entry, room: room, in: &rooms)
            schedule(actions, room: room, on: entry.feed.ownerLoop)
        }
    }

    /// Stores a room under the lock, so that changes of demand are reported in order.
    private func store(_ entry: Room, room: String, in rooms: inout [String: Room]) {
        let wasAsked = rooms[room]?.progress.isRequested ?? false
        rooms[room] = entry
        if entry.progress.isRequested != wasAsked { onDemand(room, entry.progress.isRequested) }
    }

    /// Schedules actions under the lock, so that they are performed in the order of the decisions.
    private func schedule(_ actions: [HLSAction], room: String, on loop: any EventLoop) {
        guard !actions.isEmpty else { return }
        loop.execute { for action in actions { self.perform(action, room: room) } }
    }

    private func perform(_ action: HLSAction, room: String) {
        switch action {
        case .changed(let status): onChange(room, status)
        case .fail(let error): onFault(room, error)
        case .open: open(room)
        case .end:
            close(room)
            handle(.playlistEnded, room: room)
        }
    }

    private func open(_ room: String) {
        let names = rooms.withLock { $0[room]?.renditions.map(\.name) ?? [] }
        let programs = directory.open(room, renditions: names)
        let entry = rooms.withLock { rooms -> Room? in
            rooms[room]?.programs = programs
            return rooms[room]
        }
        // The room may have ended meanwhile, and then nothing else would end this program.
        guard let entry else { return directory.close(room) }
        // The program receives the configuration and the current GOP first, then live packets.
        entry.attach()
        entry.monitor.monitorUntilPlayable { programs.program.mediaPlaylist() != nil }
    }

    private func close(_ room: String) {
        let entry = rooms.withLock { rooms -> Room? in
            defer { rooms[room]?.programs = nil }
            return rooms[room]
        }
        guard let entry else { return }
        entry.detach()
        directory.close(room)
    }
}

/// Detects the start of a program and its first complete segment; afterwards costs one atomic load per packet.
private final class ProgramFlowMonitor: PacketSink {
    private struct State {
        var isFlowing = false
        var isPlayable: (@Sendable () -> Bool)?
    }

    private let report: @Sendable (HLSEvent) -> Void
    private let state = Mutex(State())
    private let isMonitoring = Atomic<Bool>(true)

    init(_ report: @escaping @Sendable (HLSEvent) -> Void) {
        self.report = report
    }

    /// Checks `isPlayable` with each video packet until it is true.
    func monitorUntilPlayable(_ isPlayable: @escaping @Sendable () -> Bool) {
        state.withLock { $0.isPlayable = isPlayable }
        isMonitoring.store(true, ordering: .relaxed)
    }

    func receive(_ packet: MediaPacket) {
        guard isMonitoring.load(ordering: .relaxed), !packet.isConfiguration else { return }
        let events = state.withLock { state -> [HLSEvent] in
            var events: [HLSEvent] = []
            if !state.isFlowing {
                state.isFlowing = true
                events.append(.programFlows)
            }
            if packet.isVideo, let isPlayable = state.isPlayable, isPlayable() {
                state.isPlayable = nil
                events.append(.segmentCompleted)
            }
            // A room that starts by command sets `isPlayable` only after the flow has been reported.
            isMonitoring.store(state.isPlayable != nil, ordering: .relaxed)
            return events
        }
        for event in events { report(event) }
    }
}
