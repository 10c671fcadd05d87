import Media
import Stage

/// One sixteenth of the audience: its sessions, their timers and the counters, changed together.
///
/// Events go in with their moment, time is passed in, and what comes out are counters and `output`. No lock, no clock
/// and no I/O of its own; whoever owns it sees to it that one thread at a time is inside. Times are milliseconds.
struct AudienceShard: ~Copyable {
    /// Why an event or an id was turned away.
    enum Rejection: String, CaseIterable {
        case mac
        case malformed
        case full
    }

    /// Sessions that one viewer may have; further ones play and do not count.
    static let sessionsPerViewer: Int32 = 20
    /// Sessions of this shard that one address may have under names that nobody signed.
    static let strangersPerSource = 8
    /// Cells beyond these tell fewer dimensions apart.
    private static let cellLimit = 16_384
    /// How long a beacon without any playlist request speaks for its player: two and a half of the usual intervals.
    static let beaconTimeout: Int64 = 50_000
    /// The usual interval of beacons.
    static let beaconInterval: Int64 = 20_000
    /// How long a session that was announced may take to appear.
    private static let announcement: Int64 = 30_000

    /// Its place among the shards.
    let number: UInt8
    let grace: Int64
    let qualifyingGap: Int64
    let targetDuration: Int64
    let hlsTimeout: Int64
    let llhlsTimeout: Int64
    /// For how long a player can go on without asking.
    let longestBuffer: Int64
    let longestInterval: Int64
    let sessionLimit: Int
    let roomLimit: Int
    /// Ids issued before this second were issued by an earlier run.
    let startSecond: UInt32

    var sessions = SessionTable()
    var index = SessionIndex()
    var freePlaces: [Int32] = []
    /// Who new sessions may be, until they are proven to watch.
    var hellos: [Int32: UInt64] = [:]
    /// Milliseconds that new sessions waited for their first media, until they are proven to watch.
    var waits: [Int32: UInt32] = [:]
    /// Whose media may be that of sessions whose media is seen.
    struct Receiver {
        /// A `PeerAddress.account`.
        var client: UInt64
        /// It is sent media by the connection on which it asks for playlists.
        var hasConnection = false
    }

    /// New sessions, and those that count by media that was seen.
    var receivers: [Int32: Receiver] = [:]
    /// New sessions that asked as viewers do, and lack media.
    var lackMedia: Set<Int32> = []
    let credits: MediaCredits
    /// Players that are known by reports alone, under names that nobody signed, count without any media.
    let countsReportsAlone: Bool
    /// Where the sessions come from of which nothing but reports is seen, under names that anybody can make up.
    var strangers = Strangers()
    /// Whose the sessions are.
    var clients: SessionClients
    /// The places of rooms with a limit, over all shards.
    let places: RoomPlaces
    /// Rooms with a limit, whose viewers `places` is told of.
    var limitedRooms: Set<String> = []
    /// Names of the rooms that somebody of this shard was in, by place; nil where a place is free.
    var rooms: [String?] = []
    var tallies: [RoomTally] = []
    var roomPlaces: [String: Int32] = [:]
    var cells: [Cell] = []
    var cellPlaces: [Cell.Key: Int32] = [:]
    var freeCells: [Int32] = []
    var names = Names()
    var trails = RenditionTrails()
    var viewers: [Viewer?] = []
    var viewerPlaces: [UInt64: Int32] = [:]
    var freeViewers: [Int32] = []
    /// Who said where each session is, a `RegionSource` by its place.
    var regionSources: [UInt8] = []
    /// By how much what logs tell comes later than it happened; milliseconds.
    var logLag: Int64 = 0
    /// Whose an id is that was made for a participant, by its proof, as long as the participant is known.
    var ownedCodes: [UInt64: Int32] = [:]
    /// Seats of an earlier run whose participants have not shown up yet, and until when they may.
    var recoveredSeats: [UInt64: RecoveredSeat] = [:]
    var wheel: TimerWheel
    /// What happened since the owner last emptied it, in order.
    var output = ShardOutput()
    /// Playlist and segment requests of viewers, and beacons.
    private(set) var beats = 0
    /// Sessions that are live by HLS and served here.
    var requesters = 0
    /// Ids of an earlier run that were taken over.
    var adopted = 0
    /// What connections watched that an earlier run did not live to prove, by the proof in their ids.
    var interrupted: [UInt64: (start: Int64, end: Int64)] = [:]
    /// Where the present minute of the wall clock begins, on the monotonic clock.
    private(set) var minuteStart: Int64 = .min
    /// Milliseconds since 1970 at the monotonic clock's zero.
    private let wallZero: Int64
    private(set) var rejected: [Rejection: Int] = [:]

    init(
        number: UInt8,
        configuration: ViewershipConfiguration,
        clients: ClientSessionLedger,
        places: RoomPlaces = RoomPlaces(),
        credits: MediaCredits,
        now: Int64,
        startSecond: UInt32,
        wallZero: Int64 = 0
    ) {
        self.number = number
        self.wallZero = wallZero
        self.clients = SessionClients(clients)
        self.places = places
        grace = Int64(configuration.grace * 1000)
        qualifyingGap = Int64(configuration.qualifyingGap * 1000)
        targetDuration = Int64(configuration.targetDuration * 1000)
        hlsTimeout = Int64(configuration.timeout(of: .hls) * 1000)
        llhlsTimeout = Int64(configuration.timeout(of: .llhls) * 1000)
        longestBuffer = Int64(configuration.longestBuffer * 1000)
        longestInterval = Int64(configuration.longestInterval * 1000)
        self.credits = credits
        countsReportsAlone = configuration.countsReportsAlone
        sessionLimit = max(1, configuration.sessionLimit / SessionID.shardCount)
        roomLimit = configuration.roomLimit
        self.startSecond = startSecond
        wheel = TimerWheel(second: max(0, now / 1000))
    }

    /// Takes one event.
    ///
    /// - Parameter verify: proves the id; asked when it is not known here, or not seen since the restart.
    mutating func record(_ event: AudienceEvent, id: SessionID, verify: () -> Bool) {
        let at = event.at.milliseconds
        guard let place = place(of: id, room: event.room, verify: verify) else {
            guard event.kind == .opened || event.kind == .playlistServed else { return countBeat(event.kind) }
            guard verify() else { return reject(.mac) }
            guard hasSpace(isConnection: event.kind == .opened), let room = makeRoom(event.room) else {
                return reject(.full)
            }
            let place = add(id, room: room, playback: event.playback, at: at)
            return apply(event, to: place, at: at)
        }
        apply(event, to: place, at: at)
    }

    private mutating func apply(_ event: AudienceEvent, to place: Int, at: Int64) {
        defer { recount(place) }
        if event.bytes > 0 { sessions[place].noteBytes(event.bytes) }
        switch event.kind {
        case .opened:
            opened(place, playback: event.playback, rendition: event.rendition ?? "", at: at)
        case .watched(let since):
            watched(place, since: min(since.milliseconds, at), at: at)
        case .stalled(let milliseconds):
            noteStall(place, milliseconds)
        case .closed(let reason):
            closed(place, reason: reason, at: at)
        case .playlistServed:
            beats += 1
            sessions[place].isElsewhere = event.isElsewhere
            sessions[place].isLogged = event.isLogged
            requested(place, event, isPlaylist: true, at: at)
        case .segmentServed:
            beats += 1
            requested(place, event, isPlaylist: false, at: at)
        case .delivered:
            delivered(place, at: at)
        }
    }

    /// Says of what was counted just now that it was in an earlier minute, where it was.
    ///
    /// - Parameters:
    ///   - from: Where it began; at a moment of the present minute nothing is to be said.
    ///   - now: The present moment, or an earlier one of a log.
    mutating func date(_ place: Int, from: Int64, now: Int64, _ count: ShardOutput.Earlier.Count) {
        let now = max(now, wheel.second * 1000)
        if now >= minuteStart + 60_000 || minuteStart == .min {
            // Whole minutes since 1970, also where the clock's zero lies behind them.
            let date = now + wallZero
            minuteStart = date - ((date % 60_000) + 60_000) % 60_000 - wallZero
        }
        guard from < minuteStart, let room = room(of: place) else { return }
        var count = count
        if case .watched(let from, let to) = count {
            // What is of the present minute is where it belongs.
            count = .watched(from: from, to: min(to, minuteStart))
        }
        output.earlier.append(.init(room: room, dimensions: dimensions(of: place), count: count))
    }

    func dimensions(of place: Int) -> Dimensions { dimensions(of: cells[Int(sessions[place].cell)].key) }

    func dimensions(of key: Cell.Key) -> Dimensions {
        Dimensions(
            playback: key.playback,
            rendition: names[key.rendition],
            region: names[key.region],
            client: key.client
        )
    }

    /// Says that a session came a step further.
    mutating func noteStep(_ kind: SessionStep.Kind, _ place: Int, start: Int64, at: Int64) {
        guard let room = room(of: place), !sessions[place].flags.contains(.isExcluded) else { return }
        output.steps.append(
            .init(
                kind: kind,
                code: sessions[place].code,
                shard: number,
                room: room,
                dimensions: dimensions(of: place),
                viewer: viewerKey(of: sessions[place].viewer),
                estimate: hellos[Int32(place)],
                isLogged: sessions[place].isLogged,
                start: start,
                at: at
            )
        )
    }

    mutating func reject(_ reason: Rejection) {
        rejected[reason, default: 0] += 1
    }

    private mutating func countBeat(_ kind: AudienceEvent.Kind) {
        if kind == .playlistServed || kind == .segmentServed { beats += 1 }
    }

    mutating func countBeacon() {
        beats += 1
    }

    // MARK: Sessions

    /// Where the session is, if it is known, proof and room included.
    ///
    /// A session that was found in the history is known by its proof alone: the first to show the whole id proves it.
    mutating func place(of id: SessionID, room: String, verify: () -> Bool) -> Int? {
        guard let place = index.find(id.code, in: sessions), self.room(of: place) == room else { return nil }
        if sessions[place].isNamed(by: id), !sessions[place].flags.contains(.isRecovered) { return place }
        guard sessions[place].flags.contains(.isRecovered), verify() else { return nil }
        sessions[place].flags.remove(.isRecovered)
        sessions[place].takeName(of: id)
        adopted += 1
        return place
    }

    func room(of place: Int) -> String? {
        rooms[Int(cells[Int(sessions[place].cell)].key.room)]
    }

    func roomPlace(of place: Int) -> Int {
        Int(cells[Int(sessions[place].cell)].key.room)
    }

    func playback(of place: Int) -> PlaybackProtocol {
        cells[Int(sessions[place].cell)].key.playback
    }

    /// A new session, NEW.
    mutating func add(_ id: SessionID, room: Int32, playback: PlaybackProtocol, at: Int64) -> Int {
        let cell = makeCell(Cell.Key(room: room, playback: playback))
        let place = insert(ViewerSession(id: id, cell: cell, at: at))
        tallies[Int(room)].unproven += 1
        if id.issuedAt < startSecond { adopted += 1 }
        if let exclusion = id.exclusion { exclude(place, exclusion) }
        // Made for a participant some time ago, and forgotten because nobody used it.
        if let owner = ownedCodes[id.code], let key = viewers[Int(owner)]?.key { _ = attribute(place, to: key, at: at) }
        recount(place)
        return place
    }

    /// Puts a session into the table and the index.
    mutating func insert(_ session: ViewerSession) -> Int {
        let place: Int
        if let free = freePlaces.popLast() {
            place = Int(free)
            sessions[place] = session
            if place < regionSources.count { regionSources[place] = 0 }
        } else {
            place = sessions.append(session)
        }
        index.insert(place, in: sessions)
        tallies[roomPlace(of: place)].occupants += 1
        return place
    }

    /// Whether there is space for one more session.
    func hasSpace(isConnection: Bool = false) -> Bool {
        // Connections are bounded by whoever accepts them; places are not without end for anybody.
        (isConnection || index.count < sessionLimit) && (sessions.count < SessionTable.limit || !freePlaces.isEmpty)
    }

    /// Forgets a session that no longer counts.
    mutating func remove(_ place: Int) {
        if sessions[place].phase == .new {
            let room = roomPlace(of: place)
            tallies[room].unproven -= 1
            if !sessions[place].flags.contains(.isExcluded) {
                // An id that was handed out and never used to ask for media here is nobody's, as far as anybody knows.
                if playback(of: place) == .sdk {
                    tallies[room].counts.unseen += 1
                } else if !mayCount(place) {
                    tallies[room].counts.excluded[isHosts(place) ? .role : .surplus] += 1
                } else if lackMedia.contains(Int32(place)) {
                    tallies[room].counts.excluded[.noMedia] += 1
                } else {
                    tallies[room].counts.excluded[.unqualified] += 1
                }
            }
            hellos[Int32(place)] = nil
            waits[Int32(place)] = nil
            lackMedia.remove(Int32(place))
        }
        receivers[Int32(place)] = nil
        strangers.release(place)
        index.remove(sessions[place].code, in: sessions)
        tallies[roomPlace(of: place)].occupants -= 1
        releaseViewer(of: place)
        sessions[place].phase = .vacant
        recount(place)
        // While the wheel still knows the place nobody else may have it.
        if !sessions[place].flags.contains(.isScheduled) { freePlaces.append(Int32(place)) }
    }

    /// Sees to it that somebody looks at the session at `deadline` or before.
    ///
    /// Never farther ahead than the shortest time-out: should the session change its state meanwhile, its new
    /// deadline cannot be missed, and the entry need not be moved.
    mutating func schedule(_ place: Int, deadline: Int64) {
        guard !sessions[place].flags.contains(.isScheduled) else { return }
        sessions[place].flags.insert(.isScheduled)
        let horizon = wheel.second * 1000 + min(hlsTimeout, llhlsTimeout)
        wheel.schedule(Int32(place), deadline: min(deadline, horizon), in: &sessions)
    }

    /// How long after its last sign of life a session counts.
    func timeout(of place: Int) -> Int64 {
        let session = sessions[place]
        switch playback(of: place) {
        case _ where session.flags.contains(.isRemote): return Self.beaconTimeout
        // A connection has no time-out of its own; what a log will tell of may be some time on its way.
        case .sdk, .rtmp, .flv: return Self.announcement + logLag
        case .hls, .llhls: return silence(of: place) + (session.isLogged ? logLag : 0)
        }
    }

    /// How long after its last request a viewer by requests counts.
    ///
    /// Where it asks rarely as long as what it has in its buffer can last. One that has media, or may have it from a
    /// server in front of us, and is not proven to watch yet, may ask as rarely as any.
    private func silence(of place: Int) -> Int64 {
        let session = sessions[place]
        let usual = playback(of: place) == .llhls ? llhlsTimeout : hlsTimeout
        guard session.phase != .new else {
            let hasMedia = waits[Int32(place)] != nil || session.isElsewhere
            return hasMedia ? max(usual, longestInterval) : usual
        }
        return max(usual, min(session.interval * 3 / 2, longestBuffer))
    }

    /// How long after its end a session may come back as the same.
    func grace(of place: Int) -> Int64 {
        playback(of: place).isContinuous ? grace : max(grace, sessions[place].interval + 5000)
    }

    // MARK: Rooms and cells

    /// Where the room is; made if there is space.
    mutating func makeRoom(_ name: String) -> Int32? {
        if let place = roomPlaces[name] { return place }
        guard roomPlaces.count < roomLimit else { return nil }
        let place: Int32
        if let free = rooms.firstIndex(where: { $0 == nil }) {
            place = Int32(free)
            rooms[free] = name
            tallies[free] = RoomTally()
        } else {
            place = Int32(rooms.count)
            rooms.append(name)
            tallies.append(RoomTally())
        }
        roomPlaces[name] = place
        return place
    }

    /// Where the cell is; made if there is none yet.
    mutating func makeCell(_ key: Cell.Key) -> Int32 {
        if let place = cellPlaces[key] { return place }
        guard cellPlaces.count < Self.cellLimit || key == Cell.Key(room: key.room, playback: key.playback) else {
            return makeCell(Cell.Key(room: key.room, playback: key.playback))
        }
        let place: Int32
        if let free = freeCells.popLast() {
            place = free
            cells[Int(free)] = Cell(key: key)
        } else {
            place = Int32(cells.count)
            cells.append(Cell(key: key))
        }
        cellPlaces[key] = place
        return place
    }

    /// Forgets a room that nobody is in; its figures are no longer wanted.
    ///
    /// - Returns: false while somebody is in it.
    mutating func forget(room name: String) -> Bool {
        guard let room = roomPlaces[name] else { return true }
        guard tallies[Int(room)].occupants == 0, tallies[Int(room)].resumable == 0 else { return false }
        roomPlaces[name] = nil
        rooms[Int(room)] = nil
        for place in cells.indices where cells[place].key.room == room {
            cellPlaces[cells[place].key] = nil
            cells[place] = Cell(key: Cell.Key(room: -1, playback: .sdk))
            freeCells.append(Int32(place))
        }
        return true
    }

    /// What was counted in the room until now belongs to the broadcast that is over.
    mutating func rebase(room name: String, at now: Int64) {
        guard let room = roomPlaces[name] else { return }
        for place in cells.indices where cells[place].key.room == room {
            cells[place].baseline = cells[place].counts(at: now)
        }
        tallies[Int(room)].baseline = tallies[Int(room)].counts
    }

    /// The number of live viewers of a room has moved.
    ///
    /// - Parameter hasPlace: The place of whoever came was taken before.
    mutating func note(_ room: Int, _ delta: Int, at: Int64, hasPlace: Bool = false) {
        guard let name = rooms[room] else { return }
        if !hasPlace, limitedRooms.contains(name) { places.count(name, delta) }
        output.changes.append(ShardOutput.Change(room: name, delta: delta, at: at))
    }
}
