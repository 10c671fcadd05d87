import Synchronization

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
