import Foundation
public import Media
import NIOCore
public import Stage
import Synchronization

/// Starts and stops the HLS of rooms, by itself when a program begins, and by command.
///
/// What a room's HLS does is decided under a lock and done on the home loop of the room's feed, in the same order; so
/// its news come in order too.
public final class HLSControl: HLSControlling {
    private struct Room {
        let feed: Feed
        let sensor: ProgramSensor
        let renditions: [(name: String, feed: Feed)]
        var progress = HLSProgress()
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
    private let onDemand: @Sendable (_ room: String, _ isAsked: Bool) -> Void
    private let onFault: @Sendable (_ room: String, StageError) -> Void
    private let rooms = Mutex<[String: Room]>([:])

    /// - Parameters:
    ///   - directory: Where the programs are that players ask for.
    ///   - onFault: HLS could not be started (4016) or stopped (4017), or failed while it ran (5003).
    ///   - onDemand: HLS was asked for by command, so that there is to be a program, or is so no longer; called under a
    ///     lock.
    ///   - onChange: The state of a room's HLS has changed.
    public init(
        directory: HLSDirectory,
        clock: any MonotonicClock = SystemClock(),
        onFault: @escaping @Sendable (_ room: String, StageError) -> Void = { _, _ in },
        onDemand: @escaping @Sendable (_ room: String, _ isAsked: Bool) -> Void = { _, _ in },
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
    ///   - renditions: The feeds of its renditions by name, in the ladder's order.
    ///   - isExpected: Whether a program comes without anybody's doing, as after a restart of the gateway; players are held
    ///     until it is there.
    public func roomBegan(
        _ room: String,
        feed: Feed,
        renditions: [(name: String, feed: Feed)] = [],
        isExpected: Bool = false
    ) {
        // There from the beginning, so that early players are told to wait rather than that there is nothing.
        _ = directory.open(room, renditions: renditions.map(\.name), isExpected: isExpected)
        let sensor = ProgramSensor { [weak self] event in self?.handle(event, room: room) }
        rooms.withLock { $0[room] = Room(feed: feed, sensor: sensor, renditions: renditions) }
        feed.attach(sensor)
    }

    /// Ends the playlist of a room that is over.
    public func roomEnded(_ room: String) {
        if let ended = rooms.withLock({ $0.removeValue(forKey: room) }) {
            ended.feed.detach(ended.sensor)
            ended.detach()
        }
        directory.close(room)
    }

    /// Looks whether something took too long; to be called about once a second.
    public func tick() {
        let now = clock.now
        let due = rooms.withLock { rooms in
            rooms.filter { $1.progress.deadline.map { $0 <= now } ?? false }.map(\.key)
        }
        for room in due { handle(.timePassed, room: room) }
    }

    // MARK: Commands

    /// Makes a room's program playable by HLS.
    public func start(room: String) throws(StageError) {
        try command(room) { (progress, now) throws(StageError) in try progress.start(now: now) }
    }

    /// Ends a room's playlist until the next start.
    public func stop(room: String) throws(StageError) {
        try command(room) { (progress, now) throws(StageError) in try progress.stop(now: now) }
    }

    /// The present state.
    public func status(room: String) -> HLSStatus {
        rooms.withLock { $0[room]?.progress.status } ?? HLSStatus()
    }

    private func command(
        _ room: String,
        _ body: (inout HLSProgress, MonotonicTime) throws(StageError) -> [HLSAction]
    ) throws(StageError) {
        let now = clock.now
        let refusal = rooms.withLock { rooms -> StageError? in
            guard var entry = rooms[room] else { return .roomNotFound }
            do throws(StageError) {
                let actions = try body(&entry.progress, now)
                keep(entry, room: room, in: &rooms)
                schedule(actions, room: room, on: entry.feed.home)
                return nil
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
    }

    // MARK: What follows

    private func handle(_ event: HLSEvent, room: String) {
        let now = clock.now
        rooms.withLock { rooms in
            guard var entry = rooms[room] else { return }
            let actions = entry.progress.handle(event, now: now, secondsSince1970: Date().timeIntervalSince1970)
            keep(entry, room: room, in: &rooms)
            schedule(actions, room: room, on: entry.feed.home)
        }
    }

    /// Puts a room back under the lock, so that demands are told in order.
    private func keep(_ entry: Room, room: String, in rooms: inout [String: Room]) {
        let wasAsked = rooms[room]?.progress.isAsked ?? false
        rooms[room] = entry
        if entry.progress.isAsked != wasAsked { onDemand(room, entry.progress.isAsked) }
    }

    /// Queued under the lock, so that what was decided first is done first.
    private func schedule(_ actions: [HLSAction], room: String, on loop: any EventLoop) {
        guard !actions.isEmpty else { return }
        loop.execute { for action in actions { self.carryOut(action, room: room) } }
    }

    private func carryOut(_ action: HLSAction, room: String) {
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
        // The room may have ended meanwhile; nobody would end this program then.
        guard let entry else { return directory.close(room) }
        // It gets the configuration and the present group of pictures, then what comes.
        entry.attach()
        entry.sensor.watch { programs.program.mediaPlaylist() != nil }
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

/// Notices that a program begins to flow, and that its first segment is whole; costs one load per packet after that.
private final class ProgramSensor: PacketSink {
    private struct State {
        var isFlowing = false
        var isPlayable: (@Sendable () -> Bool)?
    }

    private let report: @Sendable (HLSEvent) -> Void
    private let state = Mutex(State())
    private let isAttentive = Atomic<Bool>(true)

    init(_ report: @escaping @Sendable (HLSEvent) -> Void) {
        self.report = report
    }

    /// Looks with each picture whether `isPlayable`, until it is.
    func watch(_ isPlayable: @escaping @Sendable () -> Bool) {
        state.withLock { $0.isPlayable = isPlayable }
        isAttentive.store(true, ordering: .relaxed)
    }

    func receive(_ packet: MediaPacket) {
        guard isAttentive.load(ordering: .relaxed), !packet.isConfiguration else { return }
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
            // A program to be watched comes after the flow that it follows from.
            isAttentive.store(state.isPlayable != nil, ordering: .relaxed)
            return events
        }
        for event in events { report(event) }
    }
}
