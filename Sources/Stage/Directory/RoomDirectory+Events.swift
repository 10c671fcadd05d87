import Synchronization

/// Following along: observers inside the process, and streams for readers outside.
extension RoomDirectory {
    /// Calls `body` with every event of every room from now on, one at a time and in order, outside of any lock.
    ///
    /// `body` may come on any thread and must return at once; it may call the directory, whose further events follow
    /// after it returned.
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

    /// The events of a room: those after revision `after` if they are still known, else a snapshot first; then what comes.
    ///
    /// The stream is bounded. It ends after `room.ended`; after the participant named by `participant` left (told
    /// with `session.disconnected` if not by its own wish); and, when its reader is too slow, with
    /// `session.disconnected`.
    ///
    /// - Parameters:
    ///   - participant: Whose own stream it is, by sid or identity; nil for somebody who only looks on.
    ///   - sessionID: The participant's session: the open stream is a sign of its life. Without it, it is none.
    /// - Throws: 53106 for a room that is unknown or has ended, 53204 for an unknown participant, 53002 or 53205 for a
    ///   session that is over, 53006 when too many streams are open.
    public func events(
        room: String,
        after: UInt64?,
        participant: String? = nil,
        sessionID: String? = nil
    ) throws(StageError) -> AsyncStream<StageEvent> {
        try subscribe(room: room, after: after, participant: participant, sessionID: sessionID).events
    }

    /// As `events`, for a reader that wants to be able to end the stream from elsewhere.
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
        let replayed = after.flatMap { found.ring.events(after: $0) } ?? [found.event(.snapshot(found.view), at: now)]
        // Beside what is replayed: the waiting events, the last one that finds no place, and the last word.
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
            // A room that is forgotten has nobody to lose.
            _ = try? state.change(roomSID) { $0.streamClosed(sid: session, at: now) }
        }
        deliver()
    }

    /// What concerns one identity, in whatever room it happens: the invitations it sent or got.
    ///
    /// Those that ring for it come first, as `invitation.created`; then what comes, and heartbeats. There is no replay:
    /// the revisions are those of several rooms. The stream is bounded; a reader that is too slow gets
    /// `session.disconnected` last.
    ///
    /// - Throws: 53006 when too many streams are open.
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

    /// Readers with an open stream, over all rooms.
    public var readerCount: Int {
        state.withLock { $0.readerCount }
    }

    /// How many streams may be open at once.
    public var readerLimit: Int {
        state.withLock { $0.settings.maximumReaders }
    }

    /// Whether a participant ever had an event stream of its own or sent a heartbeat; an encoder alone never does.
    public func hasSession(room: String, participant: String) -> Bool {
        state.withLock { state in
            guard let room = try? state.room(room), let index = room.index(of: participant) else { return false }
            return room.participants[index].liveness.hasSession
        }
    }

    /// Gives every reader a `heartbeat`, so that it knows a quiet room from a dead connection.
    public func beat() {
        state.withLock { $0.queueHeartbeats(at: clock.now) }
        deliver()
    }

    /// Tells those who follow a room how its livestream is doing.
    public func livestreamChanged(room: String, _ status: LivestreamStatus) {
        announce(.livestreamStateChanged(status), room: room)
    }

    /// Tells those who follow a room how one output is doing.
    public func outputChanged(room: String, _ status: OutputStatus) {
        announce(.livestreamOutputUpdated(status), room: room)
    }

    /// Tells those who follow a room what an operator should know of its livestream, which goes on.
    public func livestreamWarned(room: String, _ warning: LivestreamWarning) {
        announce(.livestreamWarning(warning), room: room)
    }

    /// Tells those who follow a room why its livestream or its HLS failed.
    public func livestreamFailed(room: String, _ error: StageError) {
        announce(.livestreamError(error), room: room)
    }

    /// Tells those who follow a room how its HLS is doing.
    public func hlsChanged(room: String, _ status: HLSStatus) {
        announce(.hlsStateChanged(status), room: room)
    }

    /// Tells those who follow a room of a file that was put into it.
    public func assetStored(room: String, _ asset: Asset) {
        announce(.assetStored(asset), room: room)
    }

    /// Tells those who follow a room of a file that was taken out of it.
    public func assetRemoved(room: String, _ asset: Asset) {
        announce(.assetRemoved(asset), room: room)
    }

    /// Says how many viewers a room has now; those who follow it are told of a change within a second or so.
    ///
    /// To be called as often as the number may have changed; they are told once a second at most.
    public func viewershipChanged(room: String, viewers: Int) {
        state.withLock { state in
            // Nobody follows a room that is forgotten.
            _ = try? state.change(room) { $0.viewershipPacing.changed(to: viewers) }
        }
    }

    func announce(_ payload: StageEvent.Payload, room: String) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // Nobody follows a room that is forgotten.
            _ = try? state.change(room) { $0.announce(payload, at: now) }
        }
    }

    /// Hands out the events in the outbox.
    ///
    /// One thread does so at a time; what others add meanwhile it hands out too, so that everybody sees one order.
    func deliver() {
        guard state.withLock({ $0.beginDelivery() }) else { return }
        while let delivery = state.withLock({ $0.nextDelivery() }) {
            for observer in delivery.observers {
                observer(delivery.event)
            }
            // A reader that does not stay has finished its stream, and so is taken off the list.
            for reader in delivery.readers.values { _ = reader.offer(delivery.event) }
            for user in delivery.users.values { _ = user.offer(delivery.event) }
        }
    }
}

extension Room {
    /// Whose own stream a reader's is; with the right session, its being open is a sign of life.
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
    /// - Throws: 53006 when too many streams are open, or the process goes: one that was opened now would hold its end up.
    fileprivate func admitReader() throws(StageError) {
        if isClosing { throw .serverBusy(retryAfter: 1) }
        guard readerCount < settings.maximumReaders else { throw .serverBusy(retryAfter: 5) }
    }

    /// The invitations that ring for somebody, as they would have been told.
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
