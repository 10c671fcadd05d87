import Media
import Stage

/// One sixteenth of the audience: its sessions, their timers and the counters, changed together.
///
/// Events go in with their moment, time is passed in, and what comes out are counters and `changes`. No lock, no clock
/// and no I/O of its own; whoever owns it sees to it that one thread at a time is inside. Times are milliseconds.
struct AudienceShard {
    /// The number of a room's live viewers moved.
    struct Change: Equatable {
        var room: String
        var delta: Int
        var at: Int64
    }

    /// Why an event or an id was turned away.
    enum Rejection: String, CaseIterable {
        case mac
        case malformed
        case full
    }

    /// A participant who watches, known by the API, and how many of the players are its own.
    struct Participant {
        var room: Int32
        var identity: String
        /// It said that it watches.
        var isWatching = false
        /// It counts by itself, as `sdk`: it watches, and none of its players counts in its place.
        var isSeated = false
        /// When it took that seat.
        var since: Int64 = 0
        /// Live sessions of its own.
        var players = 0
        /// Sessions of its own in any phase.
        var sessions = 0
    }

    struct ParticipantKey: Hashable {
        var room: Int32
        var identity: String
    }

    let grace: Int64
    let qualifyingGap: Int64
    let targetDuration: Int64
    let timeouts: PerProtocol<Int64>
    let sessionLimit: Int
    let roomLimit: Int
    /// Ids issued before this second were issued by an earlier run.
    let startSecond: UInt32

    var sessions: [ViewerSession] = []
    var places: [SessionID: Int32] = [:]
    var freePlaces: [Int32] = []
    /// Names of the rooms that somebody of this shard was in, by place; nil where a place is free.
    var rooms: [String?] = []
    /// The rooms' figures, by place.
    var tallies: [RoomCounters] = []
    var roomPlaces: [String: Int32] = [:]
    var participants: [Participant?] = []
    var participantPlaces: [ParticipantKey: Int32] = [:]
    var freeParticipants: [Int] = []
    var wheel: TimerWheel
    /// Moves of the live counts since the owner last emptied the list, in order.
    var changes: [Change] = []
    /// Playlist and segment requests of viewers.
    private(set) var beats = 0
    /// Ids of an earlier run that were taken over.
    private(set) var adopted = 0
    private(set) var rejected: [Rejection: Int] = [:]

    init(configuration: ViewershipConfiguration, now: Int64, startSecond: UInt32) {
        grace = Int64(configuration.grace * 1000)
        qualifyingGap = Int64(configuration.qualifyingGap * 1000)
        targetDuration = Int64(configuration.targetDuration * 1000)
        var timeouts = PerProtocol<Int64>.zero
        // A connection has no time-out of its own; the value bounds how long an announced one may fail to appear.
        for playback in PlaybackProtocol.allCases {
            timeouts[playback] = playback.isContinuous ? 30_000 : Int64(configuration.timeout(of: playback) * 1000)
        }
        self.timeouts = timeouts
        sessionLimit = max(1, configuration.sessionLimit / SessionID.shardCount)
        roomLimit = configuration.roomLimit
        self.startSecond = startSecond
        wheel = TimerWheel(second: max(0, now / 1000))
    }

    /// Takes one event.
    ///
    /// - Parameter verify: proves the id; asked once, when the id is not known here.
    mutating func record(_ event: AudienceEvent, id: SessionID, verify: () -> Bool) {
        let at = event.at.milliseconds
        guard let index = place(of: id, room: event.room) else {
            guard event.kind == .opened || event.kind == .playlistServed else { return countBeat(event.kind) }
            guard verify() else { return reject(.mac) }
            // Connections are bounded by whoever accepts them, and their openings are never turned away.
            guard event.kind == .opened || places.count < sessionLimit, let room = makeRoom(event.room) else {
                return reject(.full)
            }
            let index = add(id, room: room, playback: event.playback, at: at)
            return apply(event, to: index, at: at)
        }
        apply(event, to: index, at: at)
    }

    private mutating func apply(_ event: AudienceEvent, to index: Int, at: Int64) {
        switch event.kind {
        case .opened: opened(index, playback: event.playback, at: at)
        case .watched(let since): watched(index, since: min(since.milliseconds, at), at: at)
        case .closed(let reason): closed(index, reason: reason, at: at)
        case .playlistServed:
            countBeat(event.kind)
            requested(index, isPlaylist: true, playback: event.playback, at: at)
        case .segmentServed:
            countBeat(event.kind)
            requested(index, isPlaylist: false, playback: event.playback, at: at)
        }
    }

    mutating func reject(_ reason: Rejection) {
        rejected[reason, default: 0] += 1
    }

    private mutating func countBeat(_ kind: AudienceEvent.Kind) {
        if kind == .playlistServed || kind == .segmentServed { beats += 1 }
    }

    // MARK: Sessions

    /// Where the session is, if it is known, proof and room included.
    func place(of id: SessionID, room: String) -> Int? {
        guard let place = places[id] else { return nil }
        return rooms[Int(sessions[Int(place)].room)] == room ? Int(place) : nil
    }

    /// A new session, NEW, whose timer runs.
    mutating func add(_ id: SessionID, room: Int32, playback: PlaybackProtocol, at: Int64) -> Int {
        let session = ViewerSession(id: id, room: room, playback: playback, since: at, lastHit: at)
        let index: Int
        if let free = freePlaces.popLast() {
            index = Int(free)
            sessions[index] = session
        } else {
            index = sessions.count
            sessions.append(session)
        }
        places[id] = Int32(index)
        if id.issuedAt < startSecond { adopted += 1 }
        return index
    }

    /// Forgets a session that no longer counts.
    mutating func remove(_ index: Int) {
        places[sessions[index].id] = nil
        releaseParticipant(of: index)
        sessions[index].phase = .vacant
        // While the wheel still knows the place nobody else may have it.
        if !sessions[index].isScheduled { freePlaces.append(Int32(index)) }
    }

    /// Sees to it that somebody looks at the session at `deadline` or before.
    ///
    /// Never farther ahead than the shortest time-out: should the session change its state meanwhile, its new
    /// deadline cannot be missed, and the entry need not be moved.
    mutating func schedule(_ index: Int, deadline: Int64) {
        guard !sessions[index].isScheduled else { return }
        sessions[index].isScheduled = true
        let horizon = wheel.second * 1000 + min(timeouts[.hls], timeouts[.llhls])
        wheel.schedule(Int32(index), deadline: min(deadline, horizon))
    }

    // MARK: Rooms

    /// Where the room is; made if there is space.
    mutating func makeRoom(_ name: String) -> Int32? {
        if let place = roomPlaces[name] { return place }
        guard roomPlaces.count < roomLimit else { return nil }
        let place: Int32
        if let free = rooms.firstIndex(where: { $0 == nil }) {
            place = Int32(free)
            rooms[free] = name
            tallies[free] = RoomCounters()
        } else {
            place = Int32(rooms.count)
            rooms.append(name)
            tallies.append(RoomCounters())
        }
        roomPlaces[name] = place
        return place
    }

    /// Forgets a room that nobody is in; its figures are no longer wanted.
    mutating func forget(room name: String) {
        guard let room = roomPlaces[name] else { return }
        guard !sessions.contains(where: { $0.room == room && $0.phase != .vacant }) else { return }
        guard !participantPlaces.keys.contains(where: { $0.room == room }) else { return }
        roomPlaces[name] = nil
        rooms[Int(room)] = nil
    }

    /// What was counted in the room until now belongs to the broadcast that is over.
    mutating func rebase(room name: String, at now: Int64) {
        guard let room = roomPlaces[name] else { return }
        tallies[Int(room)].rebase(at: now)
    }

    /// The room's figures here; nil if nobody of this shard was in it.
    func counters(of room: String) -> RoomCounters? {
        roomPlaces[room].map { tallies[Int($0)] }
    }

    /// The number of live viewers of a room has moved.
    mutating func note(_ room: Int32, _ delta: Int, at: Int64) {
        guard let name = rooms[Int(room)] else { return }
        changes.append(Change(room: name, delta: delta, at: at))
    }
}
