import Crypto
public import Foundation
public import Media
public import Stage
import Synchronization

/// Counts the viewers of all rooms.
///
/// Sixteen shards, each behind its own lock, hold the sessions; the session id names its shard. `record`, `admit` and
/// `accepts` run on event loops: they lock one shard briefly, and no queue can drop an event. Reports lock all shards
/// while they copy the counters, so that each report is a consistent snapshot.
public final class ViewershipLedger: Sendable, AudienceObserving {
    /// A shard with its lock.
    ///
    /// Locks are acquired in the order of the shards, then the one of the room reports.
    final class LockedShard: Sendable {
        let shard: Mutex<AudienceShard>
        /// A copy of the shard's count, readable without the lock.
        let requesters = Atomic<Int>(0)

        init(_ shard: consuming AudienceShard) {
            self.shard = Mutex(shard)
        }
    }

    /// The number of sessions to examine before a lock is released for event loops.
    private static let sessionsPerTurn = 512

    let configuration: ViewershipConfiguration
    let clock: any MonotonicClock
    let shards: [LockedShard]
    /// The sessions of clients, over all shards.
    let clients: ClientSessionLimiter
    /// Media that qualifies sessions, over all shards.
    private let mediaDeliveries: MediaDeliveryTracker
    /// The limits of rooms, over all shards.
    let audienceLimiter = AudienceLimiter()
    let roomReports: Mutex<RoomReports>
    /// The wall clock, read once at start and continued by the monotonic clock.
    let wallClock: RoomReports.WallClock
    let startTime: MonotonicTime
    let keys: Mutex<SessionKeys>
    /// Keys that no longer verify new ids, newest last.
    private let formerKeys = Mutex<[SessionKey]>([])
    private static let formerKeyLimit = 8
    let salt: Mutex<DailySalt>
    /// The watch time of the last `metrics()`.
    let publishedWatchTime = Mutex<[String: [Dimensions: Int64]]>([:])
    /// Writes the session steps.
    let stepWriting = Mutex<(@Sendable () -> Void)?>(nil)
    private let regions = Mutex<RegionDatabase?>(nil)
    private let robots = Mutex(RobotList())
    private let lastAdvance: Atomic<Int64>
    let hasRestored = Atomic<Bool>(false)
    /// Whether a server in front logs media, and not only playlists.
    let logsIncludeMedia = Atomic<Bool>(false)
    /// The lag of CDN logs, in milliseconds.
    let logLag = Atomic<Int64>(0)
    let refusedCodes = Atomic<Int>(0)
    let refusedForms = Atomic<Int>(0)
    let refusedLines = Atomic<Int>(0)
    let refusedSenders = Atomic<Int>(0)
    let refusedRooms = Atomic<Int>(0)
    /// Expired rooms that a shard cannot remove yet.
    private let roomsPendingRemoval = Mutex<Set<String>>([])

    /// - Parameters:
    ///   - keys: Sign the session ids; ids stay valid over a restart as long as one of the keys does.
    ///   - clock: The clock of timeouts and of the times in events.
    public convenience init(
        keys: SessionKeys,
        clock: any MonotonicClock = SystemClock(),
        configuration: ViewershipConfiguration = .init()
    ) {
        self.init(keys: keys, clock: clock, configuration: configuration, startDate: Date())
    }

    /// Creates a ledger with the date of its start.
    public init(keys: SessionKeys, clock: any MonotonicClock, configuration: ViewershipConfiguration, startDate: Date) {
        let start = clock.now
        let startMilliseconds = Int64((startDate.timeIntervalSince1970 * 1000).rounded())
        let wallClock = RoomReports.WallClock(zero: startMilliseconds - start.milliseconds)
        self.keys = Mutex(keys)
        self.clock = clock
        self.configuration = configuration
        self.wallClock = wallClock
        startTime = start
        salt = Mutex(DailySalt())
        roomReports = Mutex(RoomReports(wallClock: wallClock))
        lastAdvance = Atomic(start.milliseconds)
        let second = UInt32(clamping: Int64(startDate.timeIntervalSince1970))
        let clients = ClientSessionLimiter(
            unproven: configuration.unprovenPerClient,
            watching: configuration.viewersPerClient
        )
        self.clients = clients
        let audienceLimiter = audienceLimiter
        let mediaDeliveries = MediaDeliveryTracker(lifetime: Int64(configuration.longestInterval * 1000))
        self.mediaDeliveries = mediaDeliveries
        shards = (0..<SessionID.shardCount).map { number in
            LockedShard(
                AudienceShard(
                    number: UInt8(number),
                    configuration: configuration,
                    clients: clients,
                    audienceLimiter: audienceLimiter,
                    mediaDeliveries: mediaDeliveries,
                    now: start.milliseconds,
                    startSecond: second,
                    wallZero: wallClock.zero
                )
            )
        }
    }

    // MARK: Session ids

    /// Makes a session id for an anonymous viewer of `room`.
    public func makeSession(room: String) -> String {
        makeID(room: room, shard: UInt8.random(in: 0..<UInt8(SessionID.shardCount))).text
    }

    /// Makes a session id for a player of the participant `identity`; both count once.
    public func makeSession(room: String, identity: String) -> String {
        let key = ViewerKey(user: identity, room: room)
        let id = makeID(room: room, shard: UInt8(key.shard))
        _ = attribute(id, room: room, key: key)
        return id.text
    }

    /// Attributes the player with the id `sid` to the participant `identity`, whose token it presented.
    ///
    /// - Returns: False when `sid` was not made for this participant; the player then needs a new id.
    public func attribute(sid: String, room: String, identity: String) -> Bool {
        guard accepts(sid: sid, room: room), let id = SessionID(sid) else { return false }
        let key = ViewerKey(user: identity, room: room)
        guard id.shard == key.shard else { return false }
        return attribute(id, room: room, key: key)
    }

    /// Whether `sid` is authentic for `room`; counts a refusal.
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

    /// Whether `sid` is of a known session with at most one connection.
    public func mayReturn(sid: String, room: String) -> Bool {
        guard let id = SessionID(sid), isGenuine(id, room: room) else { return false }
        return withShard(id.shard) { shard in
            shard.mayReturn(id, room: room) { true }
        }
    }

    /// Rotates the keys: the current one signs, and both verify.
    ///
    /// Ids of a former key stay valid as long as their sessions are known.
    public func use(_ keys: SessionKeys) {
        let old = self.keys.withLock { current in
            let old = [current.current, current.previous].compactMap(\.self)
            current = keys
            return old
        }
        let gone = old.filter { $0.version != keys.current.version && $0.version != keys.previous?.version }
        formerKeys.withLock { $0 = ($0 + gone).suffix(Self.formerKeyLimit) }
    }

    /// Sets the database for viewers whose region no trusted proxy gives.
    public func useRegions(_ database: RegionDatabase) {
        regions.withLock { $0 = database }
    }

    /// Sets the list of robots.
    public func useRobots(_ list: RobotList) {
        robots.withLock { $0 = list }
    }

    var robotList: RobotList { robots.withLock { $0 } }

    /// Returns the region of a numeric address; empty when unknown.
    func region(of address: String) -> String {
        let database = regions.withLock { $0 }
        return database?.region(of: address) ?? ""
    }

    /// The number of HLS viewers that are served here.
    ///
    /// Excludes unqualified sessions, and those whose requests a server in front answers.
    public var requesters: Int { shards.reduce(0) { $0 + $1.requesters.load(ordering: .relaxed) } }

    /// Returns the sessions of one client, a `PeerAddress.account`.
    public func sessions(of client: UInt64) -> ClientSessions { clients.sessions(of: client) }

    /// Sessions refused because their client had too many unqualified ones.
    public var refusedSessions: UInt64 { clients.refused }

    // MARK: Events

    /// Records one event, on any thread.
    ///
    /// An event with an unknown id is accepted if the id is authentic, and otherwise counted as rejected.
    public func record(_ event: AudienceEvent) {
        guard let id = SessionID(event.sid) else {
            refusedForms.add(1, ordering: .relaxed)
            return
        }
        withShard(id.shard) { shard in
            shard.record(event, id: id) { verify(id, room: event.room) }
        }
    }

    /// Records media that was sent to a client, which may qualify one of its sessions.
    public func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime) {
        if let connection {
            mediaDeliveries.add(client, room: room, over: connection, at: time.milliseconds)
        } else {
            mediaDeliveries.add(client, room: room, at: time.milliseconds)
        }
    }

    /// Records that the RECV_ONLY participant `identity` is in the room; it counts as `sdk` unless its own player
    /// counts.
    public func participantWatching(room: String, identity: String) {
        let now = clock.now.milliseconds
        let key = ViewerKey(user: identity, room: room)
        withShard(key.shard) { $0.participantWatching(room: room, key: key, at: now) }
    }

    /// Records that the participant `identity` is on stage, so that its players do not count.
    public func participantHosting(room: String, identity: String) {
        let now = clock.now.milliseconds
        let key = ViewerKey(user: identity, room: room)
        withShard(key.shard) { $0.participantHosting(room: room, key: key, at: now) }
    }

    /// Records that the participant left, or neither watches nor is on stage; its players continue to count.
    public func participantLeft(room: String, identity: String) {
        let now = clock.now.milliseconds
        let key = ViewerKey(user: identity, room: room)
        withShard(key.shard) { $0.participantLeft(room: room, key: key, at: now) }
    }

    /// Begins the broadcast of a room; `report` no longer returns the previous one under the same name.
    ///
    /// - Parameter sid: Identifies the room over restarts; its broadcast of an earlier run continues.
    public func roomBegan(_ room: String, sid: String = "") {
        let now = clock.now.milliseconds
        roomReports.withLock { $0.begin(room, sid: sid, at: now) }
    }

    /// Sets the bit rates of a room's renditions, which map the bit rate of player reports to a rendition.
    ///
    /// - Parameter bitrates: Bit rates in kbit/s by name; the source has the empty name.
    public func setBitrates(_ room: String, _ bitrates: [String: Int]) {
        roomReports.withLock { $0.setBitrates(room, bitrates) }
    }

    /// Ends the broadcast of a room: closes all sessions and makes the figures final.
    ///
    /// `report` returns them until a room of this name has a viewer again.
    public func roomEnded(_ room: String) {
        finish(room, at: clock.now)
    }

    /// Sets whether the room's program is on air; averages are over the time on air.
    public func setOnAir(_ room: String, _ isOn: Bool) {
        let now = clock.now.milliseconds
        roomReports.withLock { $0.setOnAir(room, isOn, at: now) }
    }

    /// Raises the lag of CDN logs; the lag never decreases.
    public func logsLag(milliseconds: Int64) {
        logLag.max(milliseconds, ordering: .relaxed)
        for index in shards.indices { withShard(index) { $0.logLag = max($0.logLag, milliseconds) } }
    }

    // MARK: Timers

    /// Expires everything that is due at `now`, to the second; call it once a second.
    public func advance(to now: MonotonicTime) {
        for index in shards.indices {
            var isBehind = true
            while isBehind {
                isBehind = withShard(index) { $0.advance(to: now.milliseconds, limit: Self.sessionsPerTurn) }
            }
        }
        lastAdvance.store(now.milliseconds, ordering: .relaxed)
        if hasRestored.load(ordering: .relaxed), now.seconds(since: startTime) > 2 * longestAbsence {
            for room in roomReports.withLock({ $0.abandoned }) { finish(room, at: now) }
        }
        forgetRooms(endedBefore: now.advanced(seconds: -configuration.retention).milliseconds)
    }

    private func forgetRooms(endedBefore limit: Int64) {
        var rooms = Set(roomReports.withLock { $0.removeRooms(endedBefore: limit) })
        rooms.formUnion(roomsPendingRemoval.withLock { $0 })
        guard !rooms.isEmpty else { return }
        // A room that has begun again stays.
        rooms = roomReports.withLock { roomReports in rooms.filter { roomReports.rooms[$0] == nil } }
        rooms = rooms.filter { room in
            shards.indices.count { index in withShard(index) { !$0.forget(room: room) } } > 0
        }
        roomsPendingRemoval.withLock { $0 = rooms }
    }

    /// Ends all sessions in a room, shard by shard and in limited turns.
    func clear(_ room: String, at now: MonotonicTime) {
        for index in shards.indices {
            var progress = RoomEndProgress()
            var isMore = true
            while isMore {
                isMore = withShard(index) { shard in
                    shard.end(room: room, at: now.milliseconds, &progress, limit: Self.sessionsPerTurn)
                }
            }
        }
    }

    /// The longest time that a viewer may be absent and still count or resume, in seconds.
    var longestAbsence: Double {
        max(configuration.grace, configuration.timeout(of: .hls), configuration.timeout(of: .llhls))
    }

    /// Milliseconds since the last `advance`.
    func staleness(at now: MonotonicTime) -> Int {
        max(0, Int(now.milliseconds - lastAdvance.load(ordering: .relaxed)))
    }

    /// Returns the date of a monotonic time.
    func date(of moment: MonotonicTime) -> Date {
        date(ofMonotonic: moment.milliseconds)
    }

    func date(ofMonotonic milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(wallClock.date(of: milliseconds)) / 1000)
    }

    // MARK: Helpers

    func makeID(room: String, shard: UInt8, exclusion: ExclusionReason? = nil) -> SessionID {
        let keys = keys.withLock { $0 }
        let second = UInt32(clamping: wallClock.date(of: clock.now.milliseconds) / 1000)
        let nonce = UInt64.random(in: 0...UInt64.max)
        return keys.makeID(room: room, shard: shard, exclusion: exclusion, issuedAt: second, nonce: nonce)
    }

    func verify(_ id: SessionID, room: String) -> Bool {
        let keys = keys.withLock { $0 }
        return keys.verify(id, room: room)
    }

    /// Whether the id is authentic: signed by a key in force, or by a former one if its session is known.
    func isGenuine(_ id: SessionID, room: String) -> Bool {
        if verify(id, room: room) { return true }
        guard let key = formerKeys.withLock({ $0.last { $0.version == id.version } }) else { return false }
        guard SessionKeys(current: key).verify(id, room: room) else { return false }
        return shards[id.shard].shard.withLock { $0.standing(of: id, room: room) != nil }
    }

    private func attribute(_ id: SessionID, room: String, key: ViewerKey) -> Bool {
        let now = clock.now.milliseconds
        return withShard(id.shard) { shard in
            shard.attribute(id, room: room, key: key, at: now) { verify(id, room: room) }
        }
    }

    /// Runs one turn in a shard, and publishes its output before another turn can begin.
    func withShard<Result: Sendable>(_ index: Int, _ body: (inout AudienceShard) -> Result) -> Result {
        shards[index].shard.withLock { shard in
            let result = body(&shard)
            shards[index].requesters.store(shard.requesters, ordering: .relaxed)
            publishOutput(of: &shard)
            return result
        }
    }

    func publishOutput(of shard: inout AudienceShard) {
        guard !shard.output.isEmpty else { return }
        roomReports.withLock { $0.apply(shard.output) }
        shard.output.clear()
    }
}

/// Rooms with a limited audience.
extension ViewershipLedger {
    /// Limits the number of viewers of a room; nil removes the limit.
    ///
    /// Present viewers stay.
    public func limitAudience(of room: String, to limit: Int?) {
        for index in shards.indices { withShard(index) { $0.untrackLimit(of: room) } }
        audienceLimiter.limit(room, to: limit)
        guard limit != nil else { return }
        for index in shards.indices { withShard(index) { $0.trackLimit(of: room) } }
    }

    /// Whether a player may enter: a slot is free, it has one, or it is no audience.
    public func hasFreeSlot(in room: String, for player: PlayerRequest) -> Bool {
        !audienceLimiter.isFull(room) || holdsSlot(in: room, player)
    }

    /// Reserves a slot for a connection until it qualifies; nil when none is free.
    public func reserveSlot(in room: String, for player: PlayerRequest) -> ViewerSlot? {
        guard audienceLimiter.isLimited(room), !holdsSlot(in: room, player) else { return .unlimited }
        return audienceLimiter.reserve(room)
    }

    private func holdsSlot(in room: String, _ player: PlayerRequest) -> Bool {
        if player.role != .viewer { return true }
        if let id = player.sid.flatMap({ SessionID($0) }), isGenuine(id, room: room),
            shards[id.shard].shard.withLock({ $0.holdsSlot(id, room: room) })
        {
            return true
        }
        guard let identity = player.identity else { return false }
        let key = ViewerKey(user: identity, room: room)
        return shards[key.shard].shard.withLock { $0.holdsSlot(key) }
    }
}

/// The sealed copy of the salt of viewer estimates, for a restart.
///
/// The copy is overwritten on every new UTC day, so that no estimate of an earlier day can be reproduced.
extension ViewershipLedger {
    /// Returns today's salt, sealed with `secret`, and its day since 1970.
    ///
    /// - Throws: Errors of the cipher.
    public func sealedSalt(secret: [UInt8]) throws -> (day: Int64, copy: [UInt8]) {
        let date = wallClock.date(of: clock.now.milliseconds)
        let copy = try salt.withLock { try $0.sealed(at: date, secret: secret) }
        return (DailySalt.day(of: date), copy)
    }

    /// The day of the current salt, since 1970.
    public var saltDay: Int64 { DailySalt.day(of: wallClock.date(of: clock.now.milliseconds)) }

    /// Restores the salt of an earlier run; call it before anyone is admitted.
    ///
    /// - Returns: False for a copy of another day or secret, which is to be destroyed.
    public func restoreSalt(_ copy: [UInt8], secret: [UInt8]) -> Bool {
        let date = wallClock.date(of: clock.now.milliseconds)
        return salt.withLock { $0.open(copy, at: date, secret: secret) }
    }
}
