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
        try change { (state, now) throws(StageError) in
            let sid = try state.create(settings, at: now)
            return try state.room(sid).view
        }
    }

    /// A room by unique name or sid; an ended one as long as it is remembered.
    ///
    /// - Throws: 53106.
    public func room(_ nameOrSID: String) throws(StageError) -> RoomView {
        try state.withLock { (state) throws(StageError) in try state.room(nameOrSID).view }
    }

    /// The same without its participants, at a price that does not depend on how many there are.
    ///
    /// - Throws: 53106.
    public func summary(of nameOrSID: String) throws(StageError) -> RoomSummary {
        try state.withLock { (state) throws(StageError) in try state.room(nameOrSID).summary }
    }

    /// One participant of a room in progress, by sid or identity.
    ///
    /// - Throws: 53106, 53204.
    public func participant(_ reference: String, in room: String) throws(StageError) -> ParticipantView {
        try state.withLock { (state) throws(StageError) in
            let room = try state.room(room)
            return room.view(of: room.participants[try room.existing(reference)])
        }
    }

    /// All rooms, the ended ones that are remembered included, by date of creation.
    ///
    /// - Parameter status: Only those of this status; nil for all.
    public func rooms(_ status: RoomStatus? = nil) -> [RoomView] {
        let rooms = state.withLock { state in
            state.rooms.values.filter { status == nil || $0.status == status }.map(\.view)
        }
        return rooms.sorted { ($0.createdAt, $0.sid) < ($1.createdAt, $1.sid) }
    }

    /// Ends a room: everybody is out, every stream key of it is refused.
    ///
    /// Each participant's own stream is told with 53118.
    ///
    /// - Throws: 53106, or 53118 when it has ended before.
    public func end(room: String) throws(StageError) {
        try change { (state, now) throws(StageError) in try state.end(room, at: now) }
    }

    /// Shows the stage to the audience; a room that is live already stays so.
    ///
    /// - Throws: 53106.
    public func goLive(room: String) throws(StageError) -> RoomView {
        try setBackstage(false, room: room)
    }

    /// Takes the stage from the audience's view; the hosts stay on it.
    ///
    /// - Throws: 53106.
    public func stopLive(room: String) throws(StageError) -> RoomView {
        try setBackstage(true, room: room)
    }

    private func setBackstage(_ isBackstage: Bool, room: String) throws(StageError) -> RoomView {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.setBackstage(isBackstage, at: now)
                return room.view
            }
        }
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

    /// Looks at every clock: of participants, invitations, raised hands, speakers and rooms; to be called four times a second.
    ///
    /// - Returns: Whether anybody is in a room; where nobody is, once a second is enough.
    @discardableResult
    public func sweep() -> Bool {
        let isBusy = state.withLock { state in
            state.sweep(at: clock.now)
            return state.rooms.values.contains { !$0.participants.isEmpty }
        }
        deliver()
        return isBusy
    }

    // MARK: Participants

    /// Lets somebody into a room; the newest of two with the same identity wins.
    ///
    /// - Throws: 53106, 53105 when full, 4010 for one host too many, 53200-53202 or 3073 for the request, 4065 for an
    ///   invitation that does not allow it, 53006.
    public func join(room: String, _ request: JoinRequest) throws(StageError) -> JoinResult {
        try change { (state, now) throws(StageError) in
            try state.refuseWhenDraining()
            if request.mode == .sendAndReceive {
                try state.requireProcessor(forHost: request.identity, in: room, at: now)
            }
            try state.createIfWanted(room, for: request, at: now)
            let limits = state.settings.hostLimits
            let (participant, older, view) = try state.change(room) { (room) throws(StageError) in
                let older = room.index(ofIdentity: request.identity).map { room.participants[$0].sid }
                let participant = try room.join(request, limits: limits, at: now)
                return (participant, older, room.view)
            }
            if let older { state.keyring.revoke(participantSID: older) }
            return try JoinResult(
                participant: state.view(of: participant.sid, roomSID: view.sid),
                sessionID: participant.sessionID,
                callSettings: participant.callSettings,
                credentials: participant.isHost ? state.issueCredentials(to: participant, roomSID: view.sid) : nil,
                room: view
            )
        }
    }

    /// Changes a participant's display name, metadata or avatar; nil leaves them as they are.
    ///
    /// - Parameter avatar: Nil inside for none any more.
    /// - Throws: 53106, 53204, 3073.
    public func describe(
        room: String,
        participant: String,
        displayName: String? = nil,
        metadata: String? = nil,
        avatar: AssetReference?? = .none
    ) throws(StageError) -> ParticipantView {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                let changed = try room.describe(
                    participant,
                    displayName: displayName,
                    metadata: metadata,
                    avatar: avatar,
                    at: now
                )
                return room.view(of: changed)
            }
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
    /// Whether it is allowed is for the caller to know, but for invitations.
    ///
    /// - Parameters:
    ///   - byInvitation: An accepted invitation alone allows it, and is used up.
    ///   - sources: The tracks that a new host may publish; nil leaves them as they were, and is all of them for one who
    ///     is invited.
    /// - Throws: 53106, 53204, 4010, 4065 without an invitation that is still good.
    public func changeMode(
        room: String,
        participant: String,
        to mode: ParticipantMode,
        byInvitation: Bool = false,
        sources: Set<TrackName>? = nil
    ) throws(StageError) -> ModeChange {
        try change { (state, now) throws(StageError) in
            if mode == .sendAndReceive { try state.requireProcessor(forHost: participant, in: room, at: now) }
            let (before, after, sid, view) = try state.change(room) { (room) throws(StageError) in
                let before = room.index(of: participant).map { room.participants[$0].mode }
                let after = try room.changeMode(
                    participant,
                    to: mode,
                    byInvitation: byInvitation,
                    sources: sources,
                    at: now
                )
                return (before, after, room.sid, room.view(of: after))
            }
            var credentials: HostCredentials?
            if after.isHost, before != after.mode {
                state.keyring.revoke(participantSID: after.sid)
                credentials = state.issueCredentials(to: after, roomSID: sid)
            }
            return ModeChange(participant: view, credentials: credentials)
        }
    }
}

extension DirectoryState {
    mutating func issueCredentials(to participant: Participant, roomSID: String) -> HostCredentials {
        let owner = StreamKeyring.Owner(roomSID: roomSID, participantSID: participant.sid)
        return HostCredentials(streamKey: keyring.issue(to: owner).text)
    }

    func view(of participantSID: String, roomSID: String) throws(StageError) -> ParticipantView {
        let room = try room(roomSID)
        return room.view(of: room.participants[try room.existing(participantSID)])
    }

    /// Makes the room that a join names, where that is switched on and the join would be let in.
    fileprivate mutating func createIfWanted(
        _ name: String,
        for request: JoinRequest,
        at now: Double
    ) throws(StageError) {
        // The sid of a room that is gone is no name for a new one.
        guard settings.createsRoomsOnJoin, !isInProgress(name), !StageIdentifier.isOne(name, "RM") else { return }
        try request.validate()
        _ = try create(RoomSettings(name: name), at: now)
    }
}
