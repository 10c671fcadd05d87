import DequeModule

/// All rooms with their keys and readers, without the lock around them.
struct DirectoryState: Sendable {
    let settings: StageSettings
    var rooms: [String: Room] = [:]
    /// The sid of the room in progress with a name.
    private var sidByName: [String: String] = [:]
    /// The sids of ended rooms, the oldest first.
    private var ended: Deque<String> = []
    var keyring: StreamKeyring
    var isDraining = false
    /// Events on their way to observers and readers.
    var outbox: Deque<StageEvent> = []
    /// Somebody is handing out the outbox, and hands out what is added meanwhile.
    var isDelivering = false
    var observers: [(id: UInt64, body: @Sendable (StageEvent) -> Void)] = []
    var readers: [String: [UInt64: EventReader]] = [:]
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

    mutating func create(_ settings: RoomSettings, at now: Double) throws(StageError) -> RoomView {
        try refuseWhenDraining()
        try settings.validate()
        guard sidByName[settings.name] == nil else { throw .roomExists }
        guard sidByName.count < self.settings.maximumRooms else { throw .serverBusy(retryAfter: 10) }
        var room = Room(settings: settings, replayedEvents: self.settings.replayedEvents, at: now)
        outbox.append(contentsOf: room.takeEvents())
        sidByName[settings.name] = room.sid
        rooms[room.sid] = room
        return room.view
    }

    func refuseWhenDraining() throws(StageError) {
        if isDraining { throw .serverBusy(retryAfter: 5) }
    }

    /// The sid of a room: in progress by name, of any state by sid, else the latest ended one by name.
    func sid(of reference: String) throws(StageError) -> String {
        if let sid = sidByName[reference] { return sid }
        if rooms[reference] != nil { return reference }
        if let sid = ended.last(where: { rooms[$0]?.settings.name == reference }) { return sid }
        throw .roomNotFound
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
            return (sid: room.sid, name: room.settings.name)
        }
        sidByName[room.name] = nil
        ended.append(room.sid)
        while ended.count > settings.keptEndedRooms, let oldest = ended.popFirst() {
            rooms[oldest] = nil
            // Until now the keys of its hosts were answered with "room ended".
            keyring.revoke(roomSID: oldest)
        }
    }

    mutating func endAbandoned(at now: Double) {
        let abandoned = sidByName.values.filter { rooms[$0]?.isAbandoned(at: now) ?? false }
        for sid in abandoned.sorted() {
            // A room that is in progress can always be ended.
            _ = try? end(sid, at: now)
        }
    }

    // MARK: Readers

    var readerCount: Int { readers.values.reduce(0) { $0 + $1.count } }

    mutating func open(_ reader: EventReader) -> UInt64 {
        let id = makeID()
        readers[reader.roomSID, default: [:]][id] = reader
        return id
    }

    mutating func closeReaders(_ ids: [UInt64], roomSID: String) {
        for id in ids {
            readers[roomSID]?[id] = nil
        }
        if readers[roomSID]?.isEmpty ?? false {
            readers[roomSID] = nil
        }
    }
}
