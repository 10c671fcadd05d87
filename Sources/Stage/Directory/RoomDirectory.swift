public import Media
import Synchronization

/// The one owner of who is on air, shared by ingest, mixer supervision, fan-out and the control API.
///
/// Every call returns at once and may come from an event loop, a thread or async code. The rules are in `Room`; this is
/// the lock around them, and the order in which their events reach everybody.
public final class RoomDirectory: Sendable {
    /// Seconds between two heartbeats.
    public static let heartbeatInterval = 5

    let state: Mutex<DirectoryState>
    let clock: StageClock

    /// Makes a stage without rooms.
    ///
    /// - Parameters:
    ///   - settings: Limits.
    ///   - clock: Time for dates and time-outs.
    ///   - pepper: Secret bytes mixed into the stored digests of stream keys; the same after a restart, or keys are lost.
    ///   - startedAt: Seconds since 1970 at this moment; nil reads the wall clock.
    public init(
        settings: StageSettings = .init(),
        clock: any MonotonicClock = SystemClock(),
        pepper: [UInt8],
        startedAt: Double? = nil
    ) {
        state = Mutex(DirectoryState(settings: settings, pepper: pepper))
        self.clock = StageClock(clock, startedAt: startedAt)
    }

    /// Changes the state under the lock, then hands out what happened, outside of it.
    func change<Outcome: Sendable>(
        _ body: (inout DirectoryState, _ now: Double) throws(StageError) -> Outcome
    ) throws(StageError) -> Outcome {
        defer { deliver() }
        return try state.withLock { (state) throws(StageError) in
            // Read under the lock, so that dates rise with revisions.
            try body(&state, clock.now)
        }
    }

    // MARK: Rooms

    /// Makes a room.
    ///
    /// - Throws: 53100-53102, 53107 or 3073 for the settings, 53113 when the name is in use, 53006 at the limit of rooms.
    public func create(_ settings: RoomSettings) throws(StageError) -> RoomView {
        try change { (state, now) throws(StageError) in try state.create(settings, at: now) }
    }

    /// A room by unique name or sid; an ended one as long as it is remembered.
    ///
    /// - Throws: 53106.
    public func room(_ nameOrSID: String) throws(StageError) -> RoomView {
        try state.withLock { (state) throws(StageError) in try state.room(nameOrSID).view }
    }

    /// All rooms, the ended ones that are remembered included, by date of creation.
    public func rooms() -> [RoomView] {
        let rooms = state.withLock { $0.rooms.values.map(\.view) }
        return rooms.sorted { ($0.createdAt, $0.sid) < ($1.createdAt, $1.sid) }
    }

    /// Ends a room: everybody is out, every stream key of it is refused.
    ///
    /// - Throws: 53106, or 53118 when it has ended before.
    public func end(room: String) throws(StageError) {
        try change { (state, now) throws(StageError) in try state.end(room, at: now) }
    }

    /// What is on air in a room.
    ///
    /// - Throws: 53106.
    public func layout(room: String) throws(StageError) -> LayoutView {
        try state.withLock { (state) throws(StageError) in try state.room(room).layout }
    }

    /// From now on new rooms and joins are refused with 53006; what runs goes on.
    public func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// Ends the rooms that nobody was in for longer than their settings allow.
    public func sweep() {
        state.withLock { $0.endAbandoned(at: clock.now) }
        deliver()
    }

    /// Sweeps once a second, and gives readers a heartbeat every five, until the task is cancelled.
    public func run() async {
        var seconds = 0
        while !Task.isCancelled {
            sweep()
            if seconds % Self.heartbeatInterval == 0 { beat() }
            seconds += 1
            do {
                try await Task.sleep(for: .seconds(1))
            } catch {
                return  // Cancelled while asleep.
            }
        }
    }

    // MARK: Participants

    /// Lets somebody into a room; the newest of two with the same identity wins.
    ///
    /// - Throws: 53106, 53105 when full, 4010 for one host too many, 53200-53202 or 3073 for the names, 53006.
    public func join(room: String, _ request: JoinRequest) throws(StageError) -> JoinResult {
        try change { (state, now) throws(StageError) in
            try state.refuseWhenDraining()
            let older = try state.room(room).view.participants.first { $0.identity == request.identity }?.sid
            let (participant, view) = try state.change(room) { (room) throws(StageError) in
                let participant = try room.join(request, at: now)
                return (participant, room.view)
            }
            if let older { state.keyring.revoke(participantSID: older) }
            return JoinResult(
                participant: view.participant(participant.sid) ?? participant.view(position: nil),
                sessionID: participant.sessionID,
                credentials: participant.isHost ? state.issueCredentials(to: participant, roomSID: view.sid) : nil,
                room: view
            )
        }
    }

    /// Lets somebody go, by sid or identity.
    ///
    /// - Throws: 53106, 53204.
    public func leave(room: String, participant: String, reason: LeaveReason) throws(StageError) {
        try change { (state, now) throws(StageError) in
            let gone = try state.change(room) { (room) throws(StageError) in
                try room.leave(participant, reason: reason, at: now)
            }
            state.keyring.revoke(participantSID: gone.sid)
        }
    }

    /// Changes what a participant may do; a new host gets fresh keys, and a host that steps down keeps only refused ones.
    ///
    /// - Throws: 53106, 53204, 4010.
    public func changeMode(
        room: String,
        participant: String,
        to mode: ParticipantMode
    ) throws(StageError) -> ModeChange {
        try change { (state, now) throws(StageError) in
            let (before, after, view) = try state.change(room) { (room) throws(StageError) in
                let before = room.index(of: participant).map { room.participants[$0].mode }
                let after = try room.changeMode(participant, to: mode, at: now)
                return (before, after, room.view)
            }
            var credentials: HostCredentials?
            if after.isHost, before != after.mode {
                state.keyring.revoke(participantSID: after.sid)
                credentials = state.issueCredentials(to: after, roomSID: view.sid)
            }
            return ModeChange(
                participant: view.participant(after.sid) ?? after.view(position: nil),
                credentials: credentials
            )
        }
    }
}

extension DirectoryState {
    mutating func issueCredentials(to participant: Participant, roomSID: String) -> HostCredentials {
        let owner = StreamKeyring.Owner(roomSID: roomSID, participantSID: participant.sid)
        return HostCredentials(streamKey: keyring.issue(to: owner).text)
    }
}
