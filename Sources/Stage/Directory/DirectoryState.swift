import DequeModule

/// The state of all rooms, keys and readers, without the lock.
struct DirectoryState: Sendable {
    let settings: StageSettings
    private let checkName: RoomDirectory.NameCheck
    private let readAudience: RoomDirectory.AudienceReading
    var rooms: [String: Room] = [:]
    /// The sid of the room in progress by name.
    private var sidByName: [String: String] = [:]
    /// The sids of ended rooms, the oldest first.
    private var ended: Deque<String> = []
    /// The end of the program of ended rooms, by sid.
    private var lingering: [String: Double] = [:]
    var keyring: StreamKeyring
    /// Names of which rooms are created by their owner only.
    var reservedNames: Set<String> = []
    var isDraining = false
    /// The process exits; closing streams imply nothing about their participants.
    var isClosing = false
    /// Events to deliver to observers and readers.
    var outbox: Deque<StageEvent> = []
    /// A thread delivers the outbox, including events that are added meanwhile.
    var isDelivering = false
    var observers: [(id: UInt64, body: @Sendable (StageEvent) -> Void)] = []
    /// Readers of rooms, by the room's sid.
    private(set) var readers: [String: [UInt64: EventReader]] = [:]
    /// Readers of one identity's events.
    private(set) var users: [UInt64: UserReader] = [:]
    private(set) var readerCount = 0
    private var lastID: UInt64 = 0

    init(
        settings: StageSettings,
        pepper: [UInt8],
        checkName: @escaping RoomDirectory.NameCheck,
        readAudience: @escaping RoomDirectory.AudienceReading
    ) {
        self.settings = settings
        self.checkName = checkName
        self.readAudience = readAudience
        keyring = StreamKeyring(pepper: pepper)
    }

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: Rooms

    /// Creates a room.
    ///
    /// - Returns: The sid.
    mutating func create(_ settings: RoomSettings, at now: Double) throws(StageError) -> String {
        try rejectIfDraining()
        try settings.validate()
        guard sidByName[settings.name] == nil else { throw .roomExists }
        guard sidByName.count < self.settings.maximumRooms else { throw .tooManyRooms(self.settings.maximumRooms) }
        try checkName(settings.name)
        var settings = settings
        let callSettings = (settings.callSettings ?? CallSettings()).filled(from: self.settings.callSettings)
        settings.callSettings = callSettings == CallSettings() ? nil : callSettings
        return add(Room(settings: settings, replayedEvents: self.settings.replayedEvents, at: now))
    }

    /// Restores a stored room, unless its name or sid is in use.
    mutating func restore(_ record: RoomRecord, at now: Double) {
        guard rooms[record.sid] == nil else { return }
        if record.status == .inProgress, sidByName[record.settings.name] != nil { return }
        let room = Room(restoring: record, replayedEvents: settings.replayedEvents, at: now)
        _ = add(room)
        for key in record.keys where room.status == .inProgress {
            keyring.restore(key, roomSID: record.sid)
        }
    }

    private mutating func add(_ room: Room) -> String {
        var room = room
        room.readAudience = readAudience
        // Observers that track programs by name see the old one end before the new one starts.
        for sid in lingering.keys where rooms[sid]?.settings.name == room.settings.name {
            endProgram(of: sid, at: room.updatedAt)
        }
        outbox.append(contentsOf: room.drainEvents())
        if room.status == .inProgress {
            sidByName[room.settings.name] = room.sid
        } else {
            retainEnded(room.sid)
        }
        rooms[room.sid] = room
        return room.sid
    }

    func rejectIfDraining() throws(StageError) {
        if isDraining { throw .shuttingDown }
    }

    /// Returns the sid of a room: by sid in any state, by name in progress, else the latest ended one by name.
    ///
    /// Sids have precedence: a room named like another room's sid must not hide that room.
    func sid(of reference: String) throws(StageError) -> String {
        if rooms[reference] != nil { return reference }
        if let sid = sidByName[reference] { return sid }
        if let sid = ended.last(where: { rooms[$0]?.settings.name == reference }) { return sid }
        throw .roomNotFound
    }

    /// Whether a room of this name or sid is in progress.
    func isInProgress(_ reference: String) -> Bool {
        sidByName[reference] != nil || rooms[reference]?.status == .inProgress
    }

    func room(_ reference: String) throws(StageError) -> Room {
        guard let room = rooms[try sid(of: reference)] else { throw .roomNotFound }
        return room
    }

    /// Changes a room in place and queues its events.
    mutating func change<Outcome>(
        _ reference: String,
        _ body: (inout Room) throws(StageError) -> Outcome
    ) throws(StageError) -> Outcome {
        guard let index = rooms.index(forKey: try sid(of: reference)) else { throw .roomNotFound }
        let outcome = try body(&rooms.values[index])
        outbox.append(contentsOf: rooms.values[index].drainEvents())
        return outcome
    }

    mutating func end(_ reference: String, at now: Double) throws(StageError) {
        let room = try change(reference) { (room) throws(StageError) in
            try room.end(at: now)
            return (sid: room.sid, name: room.settings.name, linger: room.settings.lingerTime(afterShow: room.wasOnAir))
        }
        sidByName[room.name] = nil
        if room.linger > 0 { lingering[room.sid] = now + Double(room.linger) }
        retainEnded(room.sid)
    }

    /// Ends a room without its linger time, or the program of a room that lingers.
    ///
    /// - Returns: Whether there was one.
    mutating func close(_ reference: String, at now: Double) -> Bool {
        guard let sid = try? sid(of: reference) else { return false }
        if rooms[sid]?.status == .inProgress {
            // A room in progress can always be changed and ended.
            _ = try? change(sid) { $0.settings.linger = 0 }
            try? end(sid, at: now)
            return true
        }
        guard lingering[sid] != nil else { return false }
        endProgram(of: sid, at: now)
        return true
    }

    /// The names and sids of all rooms in progress and of those whose program lingers, and the reserved names.
    var referencesInUse: Set<String> {
        var references = reservedNames.union(sidByName.keys).union(sidByName.values)
        for sid in lingering.keys {
            references.insert(sid)
            if let name = rooms[sid]?.settings.name { references.insert(name) }
        }
        return references
    }

    private mutating func retainEnded(_ sid: String) {
        ended.append(sid)
        while ended.count > settings.maximumEndedRooms, let oldest = ended.popFirst() {
            if lingering[oldest] != nil, let now = rooms[oldest]?.updatedAt { endProgram(of: oldest, at: now) }
            rooms[oldest] = nil
            // Until now the keys of its hosts were refused with "room ended".
            keyring.revoke(roomSID: oldest)
        }
    }

    private mutating func endProgram(of sid: String, at now: Double) {
        lingering[sid] = nil
        // A lingering room is always in `rooms`.
        _ = try? change(sid) { $0.endProgram(at: now) }
    }

    /// Checks every timeout of every room, and ends rooms that exceed their empty or unused timeout.
    mutating func sweep(at now: Double) {
        for sid in lingering.filter({ $0.value <= now }).keys.sorted() { endProgram(of: sid, at: now) }
        for sid in sidByName.values.sorted() {
            // A room in progress can always be changed and ended.
            let timedOut = (try? change(sid) { $0.sweep(at: now) }) ?? []
            for participant in timedOut { keyring.revoke(participantSID: participant.sid) }
            if rooms[sid]?.isAbandoned(at: now) ?? false { _ = try? end(sid, at: now) }
        }
    }

    // MARK: Readers

    mutating func open(_ reader: EventReader) -> UInt64 {
        let id = makeID()
        readers[reader.roomSID, default: [:]][id] = reader
        readerCount += 1
        return id
    }

    mutating func close(reader id: UInt64, roomSID: String) {
        guard readers[roomSID]?.removeValue(forKey: id) != nil else { return }
        readerCount -= 1
        if readers[roomSID]?.isEmpty ?? false { readers[roomSID] = nil }
    }

    mutating func open(_ user: UserReader) -> UInt64 {
        let id = makeID()
        users[id] = user
        readerCount += 1
        return id
    }

    mutating func close(user id: UInt64) {
        if users.removeValue(forKey: id) != nil { readerCount -= 1 }
    }
}

/// Delivery of events outside of the lock.
extension DirectoryState {
    /// An event with its recipients.
    struct Delivery {
        let event: StageEvent
        let observers: [@Sendable (StageEvent) -> Void]
        let readers: [UInt64: EventReader]
        let users: [UInt64: UserReader]
    }

    mutating func beginDelivery() -> Bool {
        guard !isDelivering, !outbox.isEmpty else { return false }
        isDelivering = true
        return true
    }

    /// Returns the next event with its recipients; nil ends the delivery.
    mutating func nextDelivery() -> Delivery? {
        guard let event = outbox.popFirst() else {
            isDelivering = false
            return nil
        }
        // Only readers receive heartbeats.
        let isHeartbeat = event.payload == .heartbeat
        return Delivery(
            event: event,
            observers: isHeartbeat ? [] : observers.map(\.body),
            readers: readers[event.roomSID] ?? [:],
            users: isHeartbeat && event.roomSID.isEmpty ? users : usersConcerned(by: event)
        )
    }

    mutating func queueHeartbeats(at now: Double) {
        for sid in readers.keys.sorted() {
            guard let room = rooms[sid] else { continue }
            outbox.append(room.event(.heartbeat, at: now))
        }
        if !users.isEmpty {
            outbox.append(StageEvent(roomSID: "", roomName: "", revision: 0, payload: .heartbeat, at: now))
        }
    }

    private func usersConcerned(by event: StageEvent) -> [UInt64: UserReader] {
        guard !users.isEmpty else { return [:] }
        let identities = event.concernedIdentities
        return identities.isEmpty ? [:] : users.filter { identities.contains($0.value.identity) }
    }
}
