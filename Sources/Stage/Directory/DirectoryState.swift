import DequeModule

/// All rooms with their keys and readers, without the lock around them.
struct DirectoryState: Sendable {
    let settings: StageSettings
    var rooms: [String: Room] = [:]
    /// The sid of the room in progress with a name.
    private var sidByName: [String: String] = [:]
    /// The sids of ended rooms, the oldest first.
    private var ended: Deque<String> = []
    /// When the programs of ended rooms are over, by sid.
    private var lingering: [String: Double] = [:]
    var keyring: StreamKeyring
    var isDraining = false
    /// The process goes; what its closing streams seem to say of their participants means nothing.
    var isClosing = false
    /// Events on their way to observers and readers.
    var outbox: Deque<StageEvent> = []
    /// Somebody is handing out the outbox, and hands out what is added meanwhile.
    var isDelivering = false
    var observers: [(id: UInt64, body: @Sendable (StageEvent) -> Void)] = []
    /// Readers of rooms, by the room's sid.
    private(set) var readers: [String: [UInt64: EventReader]] = [:]
    /// Readers of what concerns one identity.
    private(set) var users: [UInt64: UserReader] = [:]
    private(set) var readerCount = 0
    private var lastID: UInt64 = 0

    init(settings: StageSettings, pepper: [UInt8]) {
        self.settings = settings
        keyring = StreamKeyring(pepper: pepper)
    }

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    var roomsInProgress: Int { sidByName.count }

    // MARK: Rooms

    /// Makes a room.
    ///
    /// - Returns: Its sid.
    mutating func create(_ settings: RoomSettings, at now: Double) throws(StageError) -> String {
        try refuseWhenDraining()
        try settings.validate()
        guard sidByName[settings.name] == nil else { throw .roomExists }
        guard sidByName.count < self.settings.maximumRooms else { throw .serverBusy(retryAfter: 10) }
        var settings = settings
        let callSettings = (settings.callSettings ?? CallSettings()).filled(from: self.settings.callSettings)
        settings.callSettings = callSettings == CallSettings() ? nil : callSettings
        return add(Room(settings: settings, replayedEvents: self.settings.replayedEvents, at: now))
    }

    /// Takes up rooms that were stored; one whose name or sid is taken stays out.
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
        // Whoever follows programs by name hears of the end of the old one before the new one begins.
        for sid in lingering.keys where rooms[sid]?.settings.name == room.settings.name {
            endProgram(of: sid, at: room.updatedAt)
        }
        outbox.append(contentsOf: room.takeEvents())
        if room.status == .inProgress {
            sidByName[room.settings.name] = room.sid
        } else {
            remember(room.sid)
        }
        rooms[room.sid] = room
        return room.sid
    }

    func refuseWhenDraining() throws(StageError) {
        if isDraining { throw .serverBusy(retryAfter: 5) }
    }

    /// The sid of a room: of any state by sid, in progress by name, else the latest ended one by name.
    ///
    /// Sids first: a room that is named like the sid of another must not stand before it.
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

    /// Lets `body` change a room in place, and takes over what happened.
    mutating func change<Outcome>(
        _ reference: String,
        _ body: (inout Room) throws(StageError) -> Outcome
    ) throws(StageError) -> Outcome {
        guard let index = rooms.index(forKey: try sid(of: reference)) else { throw .roomNotFound }
        let outcome = try body(&rooms.values[index])
        outbox.append(contentsOf: rooms.values[index].takeEvents())
        return outcome
    }

    mutating func end(_ reference: String, at now: Double) throws(StageError) {
        let room = try change(reference) { (room) throws(StageError) in
            try room.end(at: now)
            return (sid: room.sid, name: room.settings.name, linger: room.settings.lingerTime(afterShow: room.wasOnAir))
        }
        sidByName[room.name] = nil
        if room.linger > 0 { lingering[room.sid] = now + Double(room.linger) }
        remember(room.sid)
    }

    private mutating func remember(_ sid: String) {
        ended.append(sid)
        while ended.count > settings.keptEndedRooms, let oldest = ended.popFirst() {
            if lingering[oldest] != nil, let now = rooms[oldest]?.updatedAt { endProgram(of: oldest, at: now) }
            rooms[oldest] = nil
            // Until now the keys of its hosts were answered with "room ended".
            keyring.revoke(roomSID: oldest)
        }
    }

    private mutating func endProgram(of sid: String, at now: Double) {
        lingering[sid] = nil
        // A room that lingers is remembered.
        _ = try? change(sid) { $0.endProgram(at: now) }
    }

    /// Looks at every clock of every room, and ends those that nobody was in for too long.
    mutating func sweep(at now: Double) {
        for sid in lingering.filter({ $0.value <= now }).keys.sorted() { endProgram(of: sid, at: now) }
        for sid in sidByName.values.sorted() {
            // A room that is in progress can always be changed and ended.
            let gone = (try? change(sid) { $0.sweep(at: now) }) ?? []
            for participant in gone { keyring.revoke(participantSID: participant.sid) }
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
