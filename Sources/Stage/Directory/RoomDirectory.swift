public import Media
import Synchronization

/// The owner of all rooms, shared by ingest, mixer supervision, fan-out and the control API.
///
/// Every call returns at once and may come from an event loop, a thread or async code. `Room` holds the rules; this
/// class adds the lock, and delivers events in one order.
public final class RoomDirectory: Sendable {
    /// Returns the viewership of a room, by unique name.
    public typealias AudienceReading = @Sendable (_ room: String) -> RoomViewership
    /// Checks whether a room of a name may be created here.
    ///
    /// Called under the lock of the directory: must return at once, and must not call the directory.
    public typealias NameCheck = @Sendable (_ name: String) throws(StageError) -> Void

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
    ///   - readAudience: Returns the viewership that `viewership.updated` announces, no viewers by default; called once
    ///     for each event at most, by its first reader, and outside of any lock of the directory.
    ///   - checkName: Refuses the names of rooms that another gateway has; none by default.
    public init(
        settings: StageSettings = .init(),
        clock: any MonotonicClock = SystemClock(),
        pepper: [UInt8],
        startedAt: Double? = nil,
        readAudience: @escaping AudienceReading = { RoomViewership(room: $0, asOf: 0) },
        checkName: @escaping NameCheck = { _ in }
    ) {
        state = Mutex(
            DirectoryState(settings: settings, pepper: pepper, checkName: checkName, readAudience: readAudience)
        )
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
    /// - Parameter isReserved: Whether the caller has reserved the name.
    /// - Throws: 53100-53102, 53107 or 3073 for the settings, 53113 when the name is in use or reserved, 53006 at the
    ///   limit of rooms, and what the name check throws.
    public func create(_ settings: RoomSettings, isReserved: Bool = false) throws(StageError) -> RoomView {
        try change { (state, now) throws(StageError) in
            if !isReserved, state.reservedNames.contains(settings.name) { throw .roomExists }
            let sid = try state.create(settings, at: now)
            return try state.room(sid).view
        }
    }

    /// Reserves a name, so that no room of it can be created without saying so.
    ///
    /// - Returns: False when the name is reserved already, or a room of it is in progress.
    @discardableResult
    public func reserve(_ name: String) -> Bool {
        state.withLock { !$0.isInProgress(name) && $0.reservedNames.insert(name).inserted }
    }

    /// Ends the reservation of a name.
    public func release(_ name: String) {
        state.withLock { _ = $0.reservedNames.remove(name) }
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

    /// Ends a room and its program at once, without the linger time, because another gateway has the room now.
    ///
    /// - Returns: Whether there was a room or a program to end.
    public func close(room: String) -> Bool {
        defer { deliver() }
        return state.withLock { $0.close(room, at: clock.now) }
    }

    /// The names and sids of all rooms in progress and of those whose program lingers, and the reserved names.
    public var referencesInUse: Set<String> { state.withLock { $0.referencesInUse } }

    /// Whether joining a room of this name creates it.
    public func createsRoom(onJoin name: String) -> Bool {
        state.withLock { $0.createsRoom(onJoin: name) }
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
            let (participant, older, view) = try state.change(room) { (room) throws(StageError) in
                let older = room.index(ofIdentity: request.identity).map { room.participants[$0].sid }
                let participant = try room.join(request, at: now)
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
    /// - Parameter actor: The identity of who removes it; nil if it leaves by itself.
    /// - Throws: 53106, 53204.
    public func leave(
        room: String,
        participant: String,
        reason: LeaveReason,
        by actor: String? = nil
    ) throws(StageError) {
        try change { (state, now) throws(StageError) in
            let gone = try state.change(room) { (room) throws(StageError) in
                try room.leave(participant, reason: reason, by: actor, at: now)
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
        guard createsRoom(onJoin: name) else { return }
        try request.validate()
        _ = try create(RoomSettings(name: name), at: now)
    }

    fileprivate func createsRoom(onJoin name: String) -> Bool {
        // The sid of an evicted room is not a name for a new one.
        settings.createsRoomsOnJoin && !isInProgress(name) && !reservedNames.contains(name)
            && !StageIdentifier.isValid(name, "RM")
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
    /// - Parameter actor: Who does it, if not the host; for its diagnosis.
    /// - Throws: 53106, 53204, 3066 unless a host, 53300 (404) when the track is not published.
    public func setTrack(
        room: String,
        participant: String,
        name: TrackName,
        isEnabled: Bool,
        by actor: String? = nil
    ) throws(StageError) -> Track {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.setTrack(name, of: participant, isEnabled: isEnabled, by: actor, at: now)
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

    /// Returns why hosts of a room are not heard or seen, and what its load means.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - cores: The processor cores of the machine.
    /// - Throws: 53106.
    public func diagnosis(room: String, cores: Int) throws(StageError) -> RoomDiagnosis {
        try state.withLock { (state) throws(StageError) in
            let room = try state.room(room)
            guard room.status == .inProgress else { throw .roomNotFound }
            return room.diagnosis(cores: cores, at: clock.now)
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

/// Event subscriptions: observers inside the process, and streams for readers outside.
extension RoomDirectory {
    /// Calls `body` with every event of every room from now on, one at a time and in order, outside of any lock.
    ///
    /// Any thread may call `body`, which must return at once; `body` may call the directory, whose events follow after
    /// it returns.
    public func observe(_ body: @escaping @Sendable (StageEvent) -> Void) -> StageObservation {
        let id = state.withLock { state in
            let id = state.makeID()
            state.observers.append((id, body))
            return id
        }
        return StageObservation { [weak self] in
            self?.state.withLock { state in state.observers.removeAll { $0.id == id } }
        }
    }

    /// Returns the room's events after revision `after` if they are still buffered, else a snapshot, and then new
    /// events.
    ///
    /// The stream is bounded. It ends after `room.ended`; after the participant named by `participant` left (with
    /// `session.disconnected` unless it left by itself); and with `session.disconnected` when its reader is too slow.
    ///
    /// - Parameters:
    ///   - participant: The owner of the stream, by sid or identity; nil for an observer.
    ///   - sessionID: The participant's session; with it, the open stream counts as signalling.
    /// - Throws: 53106 for a room that is unknown or has ended, 53204 for an unknown participant, 53002 or 53205 for an
    ///   ended session, 53006 at the limit of open streams.
    public func events(
        room: String,
        after: UInt64?,
        participant: String? = nil,
        sessionID: String? = nil
    ) throws(StageError) -> AsyncStream<StageEvent> {
        try subscribe(room: room, after: after, participant: participant, sessionID: sessionID).events
    }

    /// Returns the same stream as `events`, with a way to cancel it.
    public func subscribe(
        room: String,
        after: UInt64?,
        participant: String? = nil,
        sessionID: String? = nil
    ) throws(StageError) -> EventSubscription {
        try change { (state, now) throws(StageError) in
            try state.admitReader()
            guard state.isInProgress(room) else {
                throw sessionID == nil && after == nil ? .roomNotFound : .roomGone
            }
            let participantSID = try state.change(room) { (room) throws(StageError) in
                try room.reader(participant, sessionID: sessionID, at: now)
            }
            return try self.open(room: room, participantSID, hasSession: sessionID != nil, after: after, &state, now)
        }
    }

    private func open(
        room: String,
        _ participantSID: String?,
        hasSession: Bool,
        after: UInt64?,
        _ state: inout DirectoryState,
        _ now: Double
    ) throws(StageError) -> EventSubscription {
        let found = try state.room(room)
        let replayed =
            after.flatMap { found.replayBuffer.events(after: $0) } ?? [found.event(.snapshot(found.view), at: now)]
        // In addition to replayed events: the queued events, the one that overflows, and the final event.
        let limit = replayed.count + state.settings.waitingEvents + 2
        let (stream, continuation) = AsyncStream.makeStream(
            of: StageEvent.self,
            bufferingPolicy: .bufferingOldest(limit)
        )
        for event in replayed where event.onlyReaderSID.map({ $0 == participantSID }) ?? true {
            continuation.yield(event)
        }
        let sid = found.sid
        let reader = EventReader(
            roomSID: sid,
            participantSID: participantSID,
            knownRevision: found.revision,
            continuation: continuation
        )
        let id = state.open(reader)
        let session = hasSession ? participantSID : nil
        continuation.onTermination = { [weak self] _ in self?.closed(reader: id, roomSID: sid, session: session) }
        return EventSubscription(events: stream, continuation: continuation)
    }

    private func closed(reader id: UInt64, roomSID: String, session: String?) {
        state.withLock { state in
            state.close(reader: id, roomSID: roomSID)
            guard let session, !state.isClosing else { return }
            let now = clock.now
            // A room that was evicted has no participants.
            _ = try? state.change(roomSID) { $0.streamClosed(sid: session, at: now) }
        }
        deliver()
    }

    /// Subscribes to one identity's events of all rooms: the invitations it sent or received.
    ///
    /// Ringing invitations come first, as `invitation.created`; then new events and heartbeats. There is no replay,
    /// because revisions belong to rooms. The stream is bounded; a slow reader receives `session.disconnected` last.
    ///
    /// - Throws: 53006 at the limit of open streams.
    public func subscribe(identity: String) throws(StageError) -> EventSubscription {
        let now = clock.now
        return try state.withLock { (state) throws(StageError) in
            try state.admitReader()
            let ringing = state.ringing(for: identity, at: now)
            let (stream, continuation) = AsyncStream.makeStream(
                of: StageEvent.self,
                bufferingPolicy: .bufferingOldest(ringing.count + state.settings.waitingEvents + 2)
            )
            for event in ringing { continuation.yield(event) }
            let id = state.open(UserReader(identity: identity, continuation: continuation))
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.close(user: id) } }
            return EventSubscription(events: stream, continuation: continuation)
        }
    }

    /// Returns those of the identities that neither follow their own events nor are in the room.
    ///
    /// An invitation reaches them only if an app of theirs connects before it ends.
    public func unreachable(_ identities: [String], in room: String) -> [String] {
        state.withLock { state in
            let following = Set(state.users.values.map(\.identity))
            let room = try? state.room(room)
            return identities.filter { !following.contains($0) && (try? room?.existing($0)) == nil }
        }
    }

    /// The number of open streams over all rooms.
    public var readerCount: Int {
        state.withLock { $0.readerCount }
    }

    /// The maximum number of open streams.
    public var readerLimit: Int {
        state.withLock { $0.settings.maximumReaders }
    }

    /// Whether a participant ever opened an event stream of its own or sent a heartbeat; an encoder alone never does.
    public func hasSession(room: String, participant: String) -> Bool {
        state.withLock { state in
            guard let room = try? state.room(room), let index = room.index(of: participant) else { return false }
            return room.participants[index].liveness.hasSession
        }
    }

    /// Sends a `heartbeat` to every reader, so that readers can detect a dead connection.
    public func broadcastHeartbeat() {
        state.withLock { $0.queueHeartbeats(at: clock.now) }
        deliver()
    }

    /// Publishes a room's livestream status.
    public func livestreamChanged(room: String, _ status: LivestreamStatus) {
        announce(.livestreamStateChanged(status), room: room)
    }

    /// Publishes the status of one output.
    public func outputChanged(room: String, _ status: OutputStatus) {
        announce(.livestreamOutputUpdated(status), room: room)
    }

    /// Publishes a warning about a room's running livestream.
    public func livestreamWarned(room: String, _ warning: LivestreamWarning) {
        announce(.livestreamWarning(warning), room: room)
    }

    /// Publishes the failure of a room's livestream or HLS.
    public func livestreamFailed(room: String, _ error: StageError) {
        announce(.livestreamError(error), room: room)
    }

    /// Publishes a room's HLS status.
    public func hlsChanged(room: String, _ status: HLSStatus) {
        announce(.hlsStateChanged(status), room: room)
    }

    /// Publishes a file that was stored in a room.
    public func assetStored(room: String, _ asset: Asset) {
        announce(.assetStored(asset), room: room)
    }

    /// Publishes a file that was removed from a room.
    public func assetRemoved(room: String, _ asset: Asset) {
        announce(.assetRemoved(asset), room: room)
    }

    /// Updates a room's viewer count; readers receive a change within about a second.
    ///
    /// Call it whenever the count may have changed; events are sent once a second at most.
    public func viewershipChanged(room: String, viewers: Int) {
        state.withLock { state in
            // A room that was evicted has no readers.
            _ = try? state.change(room) { $0.viewershipThrottle.changed(to: viewers) }
        }
    }

    func announce(_ payload: StageEvent.Payload, room: String) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that was evicted has no readers.
            _ = try? state.change(room) { $0.announce(payload, at: now) }
        }
    }

    /// Delivers the events in the outbox.
    ///
    /// One thread delivers at a time, including events that others add meanwhile, so that all recipients see one order.
    func deliver() {
        guard state.withLock({ $0.beginDelivery() }) else { return }
        while let delivery = state.withLock({ $0.nextDelivery() }) {
            for observer in delivery.observers {
                observer(delivery.event)
            }
            // A reader that ends has finished its stream, which removes it.
            for reader in delivery.readers.values { _ = reader.offer(delivery.event) }
            for user in delivery.users.values { _ = user.offer(delivery.event) }
        }
    }
}

extension Room {
    /// Returns the sid of a stream's owner; with a valid session, the open stream counts as signalling.
    fileprivate mutating func reader(
        _ reference: String?,
        sessionID: String?,
        at now: Double
    ) throws(StageError) -> String? {
        guard let reference else { return nil }
        guard let sessionID else { return participants[try existing(reference)].sid }
        let index = try index(of: reference, sessionID: sessionID)
        streamOpened(at: index, now: now)
        return participants[index].sid
    }
}

extension DirectoryState {
    /// - Throws: 53006 at the limit of open streams, or when the process exits: a new stream would delay its end.
    fileprivate func admitReader() throws(StageError) {
        if isClosing { throw .serverBusy(retryAfter: 1) }
        guard readerCount < settings.maximumReaders else { throw .serverBusy(retryAfter: 5) }
    }

    /// The ringing invitations of an identity, as events.
    fileprivate func ringing(for identity: String, at now: Double) -> [StageEvent] {
        rooms.values.filter { $0.status == .inProgress }.flatMap { room in
            room.invitations.ringing(for: identity, at: now).map { invitation in
                let change = InvitationChange(
                    kind: .created,
                    invitation: invitation,
                    identities: invitation.invitees.map(\.identity)
                )
                return room.event(.invitation(change), at: now)
            }
        }
    }
}

/// The current layout, and previews.
extension RoomDirectory {
    /// The maximum number of hosts in a preview.
    public static let maximumPreviewedHosts = 50

    /// Sets a room's layout.
    ///
    /// - Throws: 53106, or 3073 naming the field.
    @discardableResult
    public func setLayout(room: String, _ layout: LayoutSettings) throws(StageError) -> LayoutView {
        try setLayout(room: room) { $0 = layout }
    }

    /// Changes some of a room's layout settings atomically.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - change: Called once with the current settings; its error is rethrown, and nothing changes.
    /// - Throws: 53106, or 3073 naming the field.
    @discardableResult
    public func setLayout(
        room: String,
        _ change: (inout LayoutSettings) throws(StageError) -> Void
    ) throws(StageError) -> LayoutView {
        try self.change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                var layout = room.settings.layout
                try change(&layout)
                try room.setLayout(layout, at: now)
                return room.layout
            }
        }
    }

    /// Returns the tiles of other settings or hosts; the layout on air does not change.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid; its canvas is used.
    ///   - settings: Nil for the room's own.
    ///   - hosts: In join order, each sid once, without previous placements; nil for the room's own hosts in their
    ///     placements.
    /// - Throws: 53106, or 3073 naming `grid_size` or `hosts`.
    public func previewLayout(
        room: String,
        settings: LayoutSettings? = nil,
        hosts: [LayoutHost]? = nil
    ) throws(StageError) -> LayoutView {
        try settings?.validate(path: "")
        if let hosts {
            guard hosts.count <= Self.maximumPreviewedHosts else {
                throw .invalidParameter("hosts", "must be at most \(Self.maximumPreviewedHosts)")
            }
            guard Set(hosts.map(\.sid)).count == hosts.count else {
                throw .invalidParameter("hosts", "must name each host once")
            }
        }
        let room = try state.withLock { (state) throws(StageError) in try state.room(room) }
        var roomSettings = room.settings
        roomSettings.layout = settings ?? roomSettings.layout
        let planner = LayoutPlanner(roomSettings)
        guard let hosts else { return planner.plan(room.layoutHosts, previous: room.roomLayout.placements).layout }
        return planner.plan(hosts).layout
    }
}

/// Hosts' media: the calls of ingest, from its event loops.
extension RoomDirectory {
    /// Validates a stream key, with or without the suffix for the screen.
    ///
    /// Computes two SHA-256 of some 80 bytes; a wrong secret takes as long as an unknown key.
    public func authorizePublish(streamKey: String) -> Result<PublishGrant, PublishRefusal> {
        let isScreen = streamKey.hasSuffix(StreamKey.screenSuffix)
        let bare = isScreen ? String(streamKey.dropLast(StreamKey.screenSuffix.count)) : streamKey
        guard let key = StreamKey(bare) else { return .failure(.unknownKey) }
        return state.withLock { state in
            guard let owner = state.keyring.owner(of: key), let room = state.rooms[owner.roomSID] else {
                return .failure(.unknownKey)
            }
            return room.grant(to: owner.participantSID, isScreen ? .screen : .camera, at: clock.now)
        }
    }

    /// Returns the permission to publish for a host whose right to it was checked otherwise.
    public func publishGrant(
        room: String,
        identity: String,
        source: PublishSource
    ) -> Result<PublishGrant, PublishRefusal> {
        state.withLock { state in
            guard let room = try? state.room(room), let index = room.index(ofIdentity: identity) else {
                return .failure(.roomEnded)
            }
            return room.grant(to: room.participants[index].sid, source, at: clock.now)
        }
    }

    /// Registers a connection that starts to publish; the newer of two with the same key wins.
    ///
    /// - Parameter connection: A number that is unique in this process.
    @discardableResult
    public func publishBegan(_ grant: PublishGrant, connection: UInt64) -> PublishAdmission {
        defer { deliver() }
        return state.withLock { state in
            let now = clock.now
            let admission = try? state.change(grant.roomSID) { room in
                room.publishBegan(grant.source, by: grant.participantSID, connection: connection, at: now)
            }
            return admission ?? .refused(.roomEnded)
        }
    }

    /// Updates what a publishing connection carries; without audio and video it is silent.
    ///
    /// Called at once when media starts, and after three seconds without it when it stops. Arriving media counts,
    /// whether or not the grant's gate passes it.
    ///
    /// A call for an older connection than the newest has no effect.
    public func publishChanged(_ grant: PublishGrant, connection: UInt64, media: PublishedMedia) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that was evicted has no state to change.
            _ = try? state.change(grant.roomSID) { room in
                room.publishChanged(
                    grant.source,
                    by: grant.participantSID,
                    connection: connection,
                    media: media,
                    at: now
                )
            }
        }
    }

    /// Publishes the refusal of a host's encoder to the room's readers.
    ///
    /// Repeated refusals are published every few seconds.
    public func publishRefused(_ grant: PublishGrant, because error: StageError) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that was evicted has no readers.
            _ = try? state.change(grant.roomSID) { $0.publishRefused(by: grant.participantSID, error, at: now) }
        }
    }

    /// Unregisters a publishing connection; the host keeps its tile.
    ///
    /// A call for an older connection than the newest has no effect.
    ///
    /// - Parameter isLost: The connection broke; false when its encoder disconnected cleanly.
    public func publishEnded(_ grant: PublishGrant, connection: UInt64, isLost: Bool = true) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that was evicted has no state to change.
            _ = try? state.change(grant.roomSID) { room in
                room.publishEnded(
                    grant.source,
                    by: grant.participantSID,
                    connection: connection,
                    isLost: isLost,
                    at: now
                )
            }
        }
    }
}

extension Room {
    fileprivate func grant(
        to participantSID: String,
        _ source: PublishSource,
        at now: Double
    ) -> Result<PublishGrant, PublishRefusal> {
        if let refusal = refusal(ofPublisher: participantSID, at: now) { return .failure(refusal) }
        guard let index = index(of: participantSID) else { return .failure(.unknownKey) }
        return .success(
            PublishGrant(
                roomSID: sid,
                room: settings.name,
                participantSID: participantSID,
                identity: participants[index].identity,
                source: source,
                gate: participants[index].gate,
                limits: PublishLimits(participants[index].callSettings)
            )
        )
    }
}
