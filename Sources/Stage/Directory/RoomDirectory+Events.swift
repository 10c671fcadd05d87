import Synchronization

/// Following along: observers inside the process, and streams for readers outside.
extension RoomDirectory {
    /// Calls `body` with every event of every room from now on, one at a time and in order, outside of any lock.
    ///
    /// `body` may come on any thread and must return at once; it may call the directory, whose further events follow
    /// after it returned.
    public func observe(_ body: @escaping @Sendable (StageEvent) -> Void) -> Observation {
        let id = state.withLock { state in
            let id = state.makeID()
            state.observers.append((id, body))
            return id
        }
        return Observation { [weak self] in
            self?.state.withLock { state in state.observers.removeAll { $0.id == id } }
        }
    }

    /// The events of a room: those after revision `after` if they are still known, else a snapshot first; then what comes.
    ///
    /// The stream is bounded. It ends after `room.ended`; after the participant named by `participant` left (told
    /// with `session.disconnected` if somebody took the identity); and, when its reader is too slow, with
    /// `session.disconnected`.
    ///
    /// - Throws: 53106 for a room that is unknown or has ended, 53204 for an unknown participant, 53006 when too many
    ///   streams are open.
    public func events(
        room: String,
        after: UInt64?,
        participant: String? = nil
    ) throws(StageError) -> AsyncStream<StageEvent> {
        try subscribe(room: room, after: after, participant: participant).events
    }

    /// As `events`, for a reader that wants to be able to end the stream from elsewhere.
    public func subscribe(
        room: String,
        after: UInt64?,
        participant: String? = nil
    ) throws(StageError) -> EventSubscription {
        let now = clock.now
        return try state.withLock { (state) throws(StageError) in
            let found = try state.room(room)
            guard found.status == .inProgress else { throw .roomNotFound }
            guard state.readerCount < state.settings.maximumReaders else { throw .serverBusy(retryAfter: 5) }
            var participantSID: String?
            if let participant {
                guard let index = found.index(of: participant) else { throw .participantNotFound }
                participantSID = found.participants[index].sid
            }
            let replayed =
                after.flatMap { found.ring.events(after: $0) } ?? [found.event(.snapshot(found.view), at: now)]
            // Beside what is replayed: the waiting events, the last one that finds no place, and the last word.
            let limit = replayed.count + state.settings.waitingEvents + 2
            let (stream, continuation) = AsyncStream.makeStream(
                of: StageEvent.self,
                bufferingPolicy: .bufferingOldest(limit)
            )
            for event in replayed {
                continuation.yield(event)
            }
            let reader = EventReader(
                roomSID: found.sid,
                participantSID: participantSID,
                knownRevision: found.revision,
                continuation: continuation
            )
            let id = state.open(reader)
            let sid = found.sid
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.closeReaders([id], roomSID: sid) }
            }
            return EventSubscription(events: stream, continuation: continuation)
        }
    }

    /// Readers with an open stream, over all rooms.
    public var readerCount: Int {
        state.withLock { $0.readerCount }
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

    private func announce(_ payload: StageEvent.Payload, room: String) {
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
        while let (event, observers, readers) = state.withLock({ $0.nextDelivery() }) {
            for observer in observers {
                observer(event)
            }
            let gone = readers.filter { !$0.value.offer(event) }.map(\.key)
            if !gone.isEmpty {
                state.withLock { $0.closeReaders(gone, roomSID: event.roomSID) }
            }
        }
    }
}

extension Room {
    /// Passes on news from outside of the stage; an ended room has none.
    mutating func announce(_ payload: StageEvent.Payload, at now: Double) {
        guard status == .inProgress else { return }
        emit(payload, at: now)
    }

    /// Something for readers that is not a change: it carries the latest revision.
    func event(_ payload: StageEvent.Payload, at now: Double) -> StageEvent {
        StageEvent(roomSID: sid, roomName: settings.name, revision: revision, payload: payload, at: now)
    }
}
