public import Media
import Synchronization

/// The owner of all rooms, shared by ingest, mixer supervision, fan-out and the control API.
///
/// Every call returns at once and may come from an event loop, a thread or async code. `Room` holds the rules; this
/// class adds the lock, and delivers events in one order.
public final class RoomDirectory: Sendable {
    /// Seconds between two heartbeats.
    public static let heartbeatInterval = 5

    let state: Mutex<DirectoryState>
    let clock: StageClock

    /// Creates a directory without rooms.
    ///
    /// - Parameters:
    ///   - settings: Limits.
    ///   - clock: The clock for dates and timeouts.
    ///   - pepper: Secret bytes mixed into the stored digests of stream keys; the same after a restart, or keys are
    ///     lost.
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

    /// Changes the state under the lock, then delivers the events outside of it.
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

    /// Creates a room.
    ///
    /// - Throws: 53100-53102, 53107 or 3073 for the settings, 53113 when the name is in use, 53006 at the limit of
    ///   rooms.
    public func create(_ settings: RoomSettings) throws(StageError) -> RoomView {
        try change { (state, now) throws(StageError) in
            let sid = try state.create(settings, at: now)
            return try state.room(sid).view
        }
    }

    /// Returns a room by unique name or sid; ended rooms while they are retained.
    ///
    /// - Throws: 53106.
    public func room(_ nameOrSID: String) throws(StageError) -> RoomView {
        try state.withLock { (state) throws(StageError) in try state.room(nameOrSID).view }
    }

    /// Returns a room without its participants, in constant time.
    ///
    /// - Throws: 53106.
    public func summary(of nameOrSID: String) throws(StageError) -> RoomSummary {
        try state.withLock { (state) throws(StageError) in try state.room(nameOrSID).summary }
    }

    /// Returns one participant of a room in progress, by sid or identity.
    ///
    /// - Throws: 53106, 53204.
    public func participant(_ reference: String, in room: String) throws(StageError) -> ParticipantView {
        try state.withLock { (state) throws(StageError) in
            let room = try state.room(room)
            return room.view(of: room.participants[try room.existing(reference)])
        }
    }

    /// Returns all rooms, retained ended ones included, by date of creation.
    ///
    /// - Parameter status: The status of the rooms; nil for all.
    public func rooms(_ status: RoomStatus? = nil) -> [RoomView] {
        let rooms = state.withLock { state in
            state.rooms.values.filter { status == nil || $0.status == status }.map(\.view)
        }
        return rooms.sorted { ($0.createdAt, $0.sid) < ($1.createdAt, $1.sid) }
    }

    /// Ends a room: all participants are removed, and every stream key of it is refused.
    ///
    /// Each participant's own stream receives 53118.
    ///
    /// - Throws: 53106, or 53118 when it has ended before.
    public func end(room: String) throws(StageError) {
        try change { (state, now) throws(StageError) in try state.end(room, at: now) }
    }

    /// Shows the program to the audience; no effect for a room that is live.
    ///
    /// - Throws: 53106.
    public func goLive(room: String) throws(StageError) -> RoomView {
        try setBackstage(false, room: room)
    }

    /// Hides the program from the audience; the hosts stay on stage.
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

    /// Returns the current layout of a room.
    ///
    /// - Throws: 53106.
    public func layout(room: String) throws(StageError) -> LayoutView {
        try state.withLock { (state) throws(StageError) in try state.room(room).layout }
    }

    /// Refuses new rooms and joins with 53006 from now on; running rooms go on.
    public func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// Checks all timeouts: of participants, invitations, raised hands, speakers and rooms; called four times a second.
    ///
    /// - Returns: Whether a room has participants; without any, one call a second is enough.
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

    /// Adds a participant to a room; the newest of two with the same identity wins.
    ///
    /// - Throws: 53106, 53105 when full, 4010 for one host too many, 53200-53202 or 3073 for the request, 4065 for an
    ///   invitation that does not allow it, 53006.
    public func join(room: String, _ request: JoinRequest) throws(StageError) -> JoinResult {
        try change { (state, now) throws(StageError) in
            try state.rejectIfDraining()
            if request.mode == .sendAndReceive {
                try state.requireProcessor(forHost: request.identity, in: room, at: now)
            }
            try state.createRoomIfNeeded(room, for: request, at: now)
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

    /// Changes a participant's display name, metadata or avatar; nil leaves a value unchanged.
    ///
    /// - Parameter avatar: The inner nil removes the avatar.
    /// - Throws: 53106, 53204, 3073.
    public func updateParticipant(
        room: String,
        participant: String,
        displayName: String? = nil,
        metadata: String? = nil,
        avatar: AssetReference?? = .none
    ) throws(StageError) -> ParticipantView {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                let changed = try room.updateParticipant(
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

    /// Removes a participant, by sid or identity.
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

    /// Changes a participant's mode; a new host gets new keys, and the keys of a former host are refused.
    ///
    /// The caller checks permissions other than invitations.
    ///
    /// - Parameters:
    ///   - byInvitation: An accepted invitation alone permits the change, and is used up.
    ///   - sources: The tracks that a new host may publish; nil leaves them unchanged, or permits all for an invited
    ///     one.
    /// - Throws: 53106, 53204, 4010, 4065 without a valid invitation.
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

    /// Creates the room that a join names, if enabled and the join is valid.
    fileprivate mutating func createRoomIfNeeded(
        _ name: String,
        for request: JoinRequest,
        at now: Double
    ) throws(StageError) {
        // The sid of an evicted room is not a name for a new one.
        guard settings.createsRoomsOnJoin, !isInProgress(name), !StageIdentifier.isValid(name, "RM") else { return }
        try request.validate()
        _ = try create(RoomSettings(name: name), at: now)
    }
}

/// Heartbeats and sessions of participants.
extension RoomDirectory {
    /// Records a client's heartbeat; a lost participant is connected again.
    ///
    /// - Parameter audioLevel: The microphone in dBFS as the client measures it; used until the mixer reports a level.
    /// - Throws: 53106, 53204, 53002 (410) for an ended session, 53205 after a join with the same identity, 1002 for a
    ///   removed participant.
    public func heartbeat(
        room: String,
        participant: String,
        sessionID: String,
        audioLevel: Double? = nil
    ) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                let index = try room.index(of: participant, sessionID: sessionID)
                room.heartbeat(at: index, audioLevel: audioLevel, now: now)
            }
        }
    }

    /// Reconnects a client with its session; `subscribe` replays the events it missed.
    ///
    /// - Returns: The result of a join, without keys.
    /// - Throws: 53106, 53204, 53002 (410) for an ended session, 53205 after a join with the same identity, 1002 for a
    ///   removed participant.
    public func reconnect(room: String, participant: String, sessionID: String) throws(StageError) -> JoinResult {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                let index = try room.index(of: participant, sessionID: sessionID)
                room.heartbeat(at: index, now: now)
                let participant = room.participants[index]
                return JoinResult(
                    participant: room.view(of: participant),
                    sessionID: participant.sessionID,
                    callSettings: participant.callSettings,
                    credentials: nil,
                    room: room.view
                )
            }
        }
    }

    /// Checks that a participant can send commands now.
    ///
    /// - Throws: 53106; 53204; 3065 while its connection is lost. An encoder alone has no connection to lose.
    public func requireReady(room: String, participant: String) throws(StageError) {
        try state.withLock { (state) throws(StageError) in
            try state.room(room).requireReady(participant)
        }
    }

    /// Checks that the processor budget admits a room's program, unless one runs already.
    ///
    /// - Throws: 53106; 53006, with the seconds until a retry makes sense.
    public func requireProcessor(forProgramIn room: String) throws(StageError) {
        let now = clock.now
        try state.withLock { (state) throws(StageError) in
            try state.requireProcessor(forProgramOf: state.room(room), at: now)
        }
    }
}

/// Tracks by command, and mixer reports.
extension RoomDirectory {
    /// Publishes a track of a host.
    ///
    /// A track that its encoder published by itself is taken over unchanged.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host, 3073 when `kind` is not the track's, 20106 for a track that is not
    ///   the participant's to publish, 53304 when it is published by command already.
    public func publishTrack(
        room: String,
        participant: String,
        name: TrackName,
        kind: TrackKind? = nil,
        isEnabled: Bool = true
    ) throws(StageError) -> Track {
        if let kind, kind != name.kind {
            throw .invalidParameter("kind", "must be \(name.kind.rawValue) for \(name.rawValue)")
        }
        return try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.publishTrack(name, of: participant, isEnabled: isEnabled, at: now)
            }
        }
    }

    /// Mutes or unmutes a published track of a host.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host, 53300 (404) when the track is not published.
    public func setTrack(
        room: String,
        participant: String,
        name: TrackName,
        isEnabled: Bool
    ) throws(StageError) -> Track {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.setTrack(name, of: participant, isEnabled: isEnabled, at: now)
            }
        }
    }

    /// Unpublishes a track of a host; its media is dropped from now on.
    ///
    /// Repeating the call has no effect.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host.
    public func unpublishTrack(room: String, participant: String, name: TrackName) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.unpublishTrack(name, of: participant, at: now)
            }
        }
    }

    /// Applies a report of a room's mixer; hosts that it does not list stay unchanged.
    ///
    /// - Throws: 53106.
    public func report(room: String, _ report: MixerReport) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in room.report(report, at: now) }
        }
    }

    /// Clears a room's mixer load and host sync after its mixer stopped.
    public func mixerStopped(room: String) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that was evicted has no load.
            _ = try? state.change(room) { $0.mixerStopped(at: now) }
        }
    }
}

/// Quarantine of hosts whose media crashed the mixer repeatedly.
extension RoomDirectory {
    /// Refuses a host's media for some time, and publishes the reason.
    ///
    /// The host's current connection stays open. A host who leaves and rejoins is a new participant.
    public func quarantine(room: String, participantSID: String, seconds: Double) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that was evicted has no participants.
            _ = try? state.change(room) { $0.quarantine(participantSID, seconds: seconds, at: now) }
        }
    }

    /// Ends a host's quarantine early; without one nothing changes.
    ///
    /// - Throws: 53106, 53204.
    public func release(room: String, participant: String) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.release(participant, at: now)
            }
        }
    }
}

/// Storing and restoring rooms.
extension RoomDirectory {
    /// Returns the state of a room that outlives the process; nil when the room was evicted.
    public func record(of room: String) -> RoomRecord? {
        state.withLock { state in
            guard let found = try? state.room(room) else { return nil }
            return found.record(keys: state.keyring.records(roomSID: found.sid))
        }
    }

    /// Restores the rooms of an earlier process; called before clients are admitted.
    ///
    /// All participants are `reconnecting` and have the usual time to return; hosts with an encoder alone keep their
    /// tiles without limit. Keys stay valid with the same pepper. A room whose name or sid is in use is skipped, and so
    /// are all but the newest of several in progress with one name. Events: `room.created` for each room in progress.
    public func restore(_ records: [RoomRecord]) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            let inOrder = records.sorted {
                ($0.endedAt ?? .infinity, $0.createdAt) < ($1.endedAt ?? .infinity, $1.createdAt)
            }
            let superseded = RoomRecord.superseded(in: records)
            for record in inOrder where !superseded.contains(record.sid) { state.restore(record, at: now) }
        }
    }
}

extension RoomDirectory {
    /// Ends every reader's stream before the process exits; the readers reconnect to its successor.
    public func endReaders() {
        // Finishing calls back into the directory, so it happens outside of the lock.
        let continuations = state.withLock { state in
            state.isClosing = true
            return state.readers.values.flatMap { $0.values.map(\.continuation) }
                + state.users.values.map(\.continuation)
        }
        for continuation in continuations { continuation.finish() }
    }
}
