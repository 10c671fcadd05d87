import Crypto
public import Foundation
public import Media
public import Stage
import Synchronization

/// Who watches: takes what the fan-out sees, and says how many they are.
///
/// Sixteen shards, each behind its own lock, hold the sessions; a session's id says which one is its. `record`, `admit`
/// and `accepts` are called on event loops: they touch one shard for a moment, and no queue lies between, so nothing is
/// ever dropped. Reports hold all the locks for as long as they take hold of the counters, and so are one consistent
/// cut.
public final class ViewershipLedger: Sendable, AudienceObserving {
    /// One shard with its lock.
    ///
    /// Locks are taken in the order of the shards, then the book's.
    final class Owner: Sendable {
        let shard: Mutex<AudienceShard>
        /// As the shard has it, to be read without waiting.
        let requesters = Atomic<Int>(0)

        init(_ shard: consuming AudienceShard) {
            self.shard = Mutex(shard)
        }
    }

    /// How many sessions of a shard are looked at before its event loops get a turn.
    private static let sessionsPerTurn = 512

    let configuration: ViewershipConfiguration
    let clock: any MonotonicClock
    let owners: [Owner]
    /// What each client has, over all shards.
    let clients: ClientSessionLedger
    /// Media that proves sessions, over all shards.
    private let credits: MediaCredits
    /// What rooms with a limit have left, over all shards.
    let places = RoomPlaces()
    let book: Mutex<RoomBook>
    /// The wall clock, read once; from then on the monotonic clock carries it.
    let wall: RoomBook.Wall
    let startTime: MonotonicTime
    let keys: Mutex<SessionKeys>
    /// Keys that prove no longer, newest last.
    private let formerKeys = Mutex<[SessionKey]>([])
    private static let formerKeyLimit = 8
    let salt: Mutex<DailySalt>
    /// The watch time that `metrics()` last gave out.
    let publishedWatch = Mutex<[String: [Dimensions: Int64]]>([:])
    /// Writes the steps of sessions.
    let stepWriting = Mutex<(@Sendable () -> Void)?>(nil)
    private let regions = Mutex<RegionDatabase?>(nil)
    private let robots = Mutex(RobotList())
    private let lastAdvance: Atomic<Int64>
    let hasRestored = Atomic<Bool>(false)
    /// A server in front of us tells of media, and not of playlists alone.
    let areBeatsOfMedia = Atomic<Bool>(false)
    /// By how much what logs tell comes late, in milliseconds.
    let logLag = Atomic<Int64>(0)
    let refusedCodes = Atomic<Int>(0)
    let refusedForms = Atomic<Int>(0)
    let refusedLines = Atomic<Int>(0)
    let refusedSenders = Atomic<Int>(0)
    let refusedRooms = Atomic<Int>(0)
    /// Rooms that are over for long, and that a shard cannot forget yet because somebody is still in them.
    private let clinging = Mutex<Set<String>>([])

    /// - Parameters:
    ///   - keys: sign the session ids; ids stay valid over a restart as long as one of the keys does.
    ///   - clock: moves the time-outs; events bring their own moment, of the same clock.
    public convenience init(
        keys: SessionKeys,
        clock: any MonotonicClock = SystemClock(),
        configuration: ViewershipConfiguration = .init()
    ) {
        self.init(keys: keys, clock: clock, configuration: configuration, startDate: Date())
    }

    /// As the other one, with the date at which it begins.
    public init(keys: SessionKeys, clock: any MonotonicClock, configuration: ViewershipConfiguration, startDate: Date) {
        let start = clock.now
        let startMilliseconds = Int64((startDate.timeIntervalSince1970 * 1000).rounded())
        let wall = RoomBook.Wall(zero: startMilliseconds - start.milliseconds)
        self.keys = Mutex(keys)
        self.clock = clock
        self.configuration = configuration
        self.wall = wall
        startTime = start
        salt = Mutex(DailySalt())
        book = Mutex(RoomBook(wall: wall))
        lastAdvance = Atomic(start.milliseconds)
        let second = UInt32(clamping: Int64(startDate.timeIntervalSince1970))
        let clients = ClientSessionLedger(
            unproven: configuration.unprovenPerClient,
            watching: configuration.viewersPerClient
        )
        self.clients = clients
        let places = places
        let credits = MediaCredits(lifetime: Int64(configuration.longestInterval * 1000))
        self.credits = credits
        owners = (0..<SessionID.shardCount).map { number in
            Owner(
                AudienceShard(
                    number: UInt8(number),
                    configuration: configuration,
                    clients: clients,
                    places: places,
                    credits: credits,
                    now: start.milliseconds,
                    startSecond: second,
                    wallZero: wall.zero
                )
            )
        }
    }

    // MARK: Session ids

    /// A new session id for an anonymous viewer of `room`; it counts from its first proven watching.
    public func makeSession(room: String) -> String {
        makeID(room: room, shard: UInt8.random(in: 0..<UInt8(SessionID.shardCount))).text
    }

    /// A new session id for a player of the participant `identity`, whose token it presented: the two count once.
    public func makeSession(room: String, identity: String) -> String {
        let key = ViewerKey(user: identity, room: room)
        let id = makeID(room: room, shard: UInt8(key.shard))
        _ = attribute(id, room: room, key: key)
        return id.text
    }

    /// Says that the player with the id `sid` presented the token of the participant `identity`.
    ///
    /// - Returns: false when `sid` was not made for this participant; the player then needs a new one.
    public func attribute(sid: String, room: String, identity: String) -> Bool {
        guard accepts(sid: sid, room: room), let id = SessionID(sid) else { return false }
        let key = ViewerKey(user: identity, room: room)
        guard id.shard == key.shard else { return false }
        return attribute(id, room: room, key: key)
    }

    /// Whether `sid` was signed for `room` by a key in force; a refusal is counted.
    public func accepts(sid: String, room: String) -> Bool {
        guard let id = SessionID(sid) else {
            refusedForms.add(1, ordering: .relaxed)
            return false
        }
        guard isGenuine(id, room: room) else {
            refusedCodes.add(1, ordering: .relaxed)
            return false
        }
        return true
    }

    /// Whether `sid` is of a session that is kept, with one connection at most.
    public func mayReturn(sid: String, room: String) -> Bool {
        guard let id = SessionID(sid), isGenuine(id, room: room) else { return false }
        return withShard(id.shard) { shard in
            shard.mayReturn(id, room: room) { true }
        }
    }

    /// Goes on with other keys: the first of them signs, and both prove.
    ///
    /// Ids of a key that proves no longer are good for as long as their sessions are known.
    public func use(_ keys: SessionKeys) {
        let old = self.keys.withLock { current in
            let old = [current.current, current.previous].compactMap(\.self)
            current = keys
            return old
        }
        let gone = old.filter { $0.version != keys.current.version && $0.version != keys.previous?.version }
        formerKeys.withLock { $0 = ($0 + gone).suffix(Self.formerKeyLimit) }
    }

    /// Looks up in `database` where viewers are of whom no trusted proxy says it.
    public func useRegions(_ database: RegionDatabase) {
        regions.withLock { $0 = database }
    }

    /// Goes on to tell viewers from others by `list`.
    public func useRobots(_ list: RobotList) {
        robots.withLock { $0 = list }
    }

    var robotList: RobotList { robots.withLock { $0 } }

    /// The region of a numeric address; empty where nobody knows.
    func region(of address: String) -> String {
        let database = regions.withLock { $0 }
        return database?.region(of: address) ?? ""
    }

    /// Viewers by HLS who are served here.
    ///
    /// Sessions that are not proven to watch are not among them, nor those whose requests a server in front of us answers.
    public var requesters: Int { owners.reduce(0) { $0 + $1.requesters.load(ordering: .relaxed) } }

    /// What is known of the sessions of one client, a `PeerAddress.account`.
    public func sessions(of client: UInt64) -> ClientSessions { clients.sessions(of: client) }

    /// Sessions that were refused because their client had too many that are not proven to watch.
    public var refusedSessions: UInt64 { clients.refused }

    // MARK: What happens

    /// Takes one event, on whatever thread it happened.
    ///
    /// An event of an unknown id is taken if the id proves itself, and otherwise counted as rejected.
    public func record(_ event: AudienceEvent) {
        guard let id = SessionID(event.sid) else {
            refusedForms.add(1, ordering: .relaxed)
            return
        }
        withShard(id.shard) { shard in
            shard.record(event, id: id) { verify(id, room: event.room) }
        }
    }

    /// Takes notice that a client was sent media, which proves one of its sessions.
    public func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime) {
        if let connection {
            credits.add(client, room: room, over: connection, at: time.milliseconds)
        } else {
            credits.add(client, room: room, at: time.milliseconds)
        }
    }

    /// The RECV_ONLY participant `identity` is in the room; it counts as `sdk` unless a player of its own does.
    public func participantWatching(room: String, identity: String) {
        let now = clock.now.milliseconds
        let key = ViewerKey(user: identity, room: room)
        withShard(key.shard) { $0.participantWatching(room: room, key: key, at: now) }
    }

    /// The participant `identity` is on stage: what it plays of its own room is no audience.
    public func participantHosting(room: String, identity: String) {
        let now = clock.now.milliseconds
        let key = ViewerKey(user: identity, room: room)
        withShard(key.shard) { $0.participantHosting(room: room, key: key, at: now) }
    }

    /// The participant left, or neither watches nor is on stage any longer; players of its own count on.
    public func participantLeft(room: String, identity: String) {
        let now = clock.now.milliseconds
        let key = ViewerKey(user: identity, room: room)
        withShard(key.shard) { $0.participantLeft(room: room, key: key, at: now) }
    }

    /// A room's broadcast begins: what `report` still said of an earlier one under the same name is forgotten.
    ///
    /// - Parameter sid: names this life of the room over restarts; what an earlier run counted of it goes on.
    public func roomBegan(_ room: String, sid: String = "") {
        let now = clock.now.milliseconds
        book.withLock { $0.begin(room, sid: sid, at: now) }
    }

    /// What the renditions of a room that was begun are coded with; by that reports tell which one is played.
    ///
    /// - Parameter bitrates: Kilobits a second by name; the program as it is has the empty one.
    public func setBitrates(_ room: String, _ bitrates: [String: Int]) {
        book.withLock { $0.setBitrates(room, bitrates) }
    }

    /// The room's broadcast is over: every session is closed, the live count is 0, and the figures are final.
    ///
    /// `report` goes on to give them until somebody watches a room of this name again.
    public func roomEnded(_ room: String) {
        finish(room, at: clock.now)
    }

    /// The room's program is on the air, or is not; the averages are over the time in which it was.
    public func setOnAir(_ room: String, _ isOn: Bool) {
        let now = clock.now.milliseconds
        book.withLock { $0.setOnAir(room, isOn, at: now) }
    }

    /// Says by how much what logs tell comes later than it happened; it never gets less.
    public func logsLag(milliseconds: Int64) {
        logLag.max(milliseconds, ordering: .relaxed)
        for index in owners.indices { withShard(index) { $0.logLag = max($0.logLag, milliseconds) } }
    }

    // MARK: Time

    /// Lets everything time out that is due at `now`, to the second; to be called once a second.
    public func advance(to now: MonotonicTime) {
        for index in owners.indices {
            var isBehind = true
            while isBehind {
                isBehind = withShard(index) { $0.advance(to: now.milliseconds, limit: Self.sessionsPerTurn) }
            }
        }
        lastAdvance.store(now.milliseconds, ordering: .relaxed)
        if hasRestored.load(ordering: .relaxed), now.seconds(since: startTime) > 2 * longestAbsence {
            for room in book.withLock({ $0.abandoned }) { finish(room, at: now) }
        }
        forgetRooms(endedBefore: now.advanced(seconds: -configuration.retention).milliseconds)
    }

    private func forgetRooms(endedBefore limit: Int64) {
        var rooms = Set(book.withLock { $0.removeRooms(endedBefore: limit) })
        rooms.formUnion(clinging.withLock { $0 })
        guard !rooms.isEmpty else { return }
        // One that has begun anew meanwhile is needed.
        rooms = book.withLock { book in rooms.filter { book.rooms[$0] == nil } }
        rooms = rooms.filter { room in
            owners.indices.count { index in withShard(index) { !$0.forget(room: room) } } > 0
        }
        clinging.withLock { $0 = rooms }
    }

    /// Ends everybody in a room, shard after shard and turn after turn, so that nobody waits for it.
    func clear(_ room: String, at now: MonotonicTime) {
        for index in owners.indices {
            var progress = RoomEnding()
            var isMore = true
            while isMore {
                isMore = withShard(index) { shard in
                    shard.end(room: room, at: now.milliseconds, &progress, limit: Self.sessionsPerTurn)
                }
            }
        }
    }

    /// How long a viewer may be away and still be the same, or count; seconds.
    var longestAbsence: Double {
        max(configuration.grace, configuration.timeout(of: .hls), configuration.timeout(of: .llhls))
    }

    /// Milliseconds since time was last moved.
    func staleness(at now: MonotonicTime) -> Int {
        max(0, Int(now.milliseconds - lastAdvance.load(ordering: .relaxed)))
    }

    /// The date of a moment of the monotonic clock.
    func date(of moment: MonotonicTime) -> Date {
        date(ofMonotonic: moment.milliseconds)
    }

    func date(ofMonotonic milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(wall.date(of: milliseconds)) / 1000)
    }

    // MARK: Parts

    func makeID(room: String, shard: UInt8, exclusion: Exclusion? = nil) -> SessionID {
        let keys = keys.withLock { $0 }
        let second = UInt32(clamping: wall.date(of: clock.now.milliseconds) / 1000)
        let nonce = UInt64.random(in: 0...UInt64.max)
        return keys.makeID(room: room, shard: shard, exclusion: exclusion, issuedAt: second, nonce: nonce)
    }

    func verify(_ id: SessionID, room: String) -> Bool {
        let keys = keys.withLock { $0 }
        return keys.verify(id, room: room)
    }

    /// Whether the id is one of ours, whole: by a key in force, or by a former one if its session is known.
    func isGenuine(_ id: SessionID, room: String) -> Bool {
        if verify(id, room: room) { return true }
        guard let key = formerKeys.withLock({ $0.last { $0.version == id.version } }) else { return false }
        guard SessionKeys(current: key).verify(id, room: room) else { return false }
        return owners[id.shard].shard.withLock { $0.standing(of: id, room: room) != nil }
    }

    private func attribute(_ id: SessionID, room: String, key: ViewerKey) -> Bool {
        let now = clock.now.milliseconds
        return withShard(id.shard) { shard in
            shard.attribute(id, room: room, key: key, at: now) { verify(id, room: room) }
        }
    }

    /// One turn in a shard; what it did to the live counts goes to the book before the next turn of any shard can.
    func withShard<Result: Sendable>(_ index: Int, _ body: (inout AudienceShard) -> Result) -> Result {
        owners[index].shard.withLock { shard in
            let result = body(&shard)
            owners[index].requesters.store(shard.requesters, ordering: .relaxed)
            publishOutput(of: &shard)
            return result
        }
    }

    func publishOutput(of shard: inout AudienceShard) {
        guard !shard.output.isEmpty else { return }
        book.withLock { $0.apply(shard.output) }
        shard.output.clear()
    }
}
