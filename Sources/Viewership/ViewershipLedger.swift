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
public final class ViewershipLedger: Sendable, PrivateAudience {
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
    ///
    /// - Parameter grant: What admits the participant to a private room; nil for a public one.
    public func makeSession(room: String, identity: String, grant: PlaybackGrant? = nil) -> String {
        let key = ViewerKey(user: identity, room: room)
        let id = makeID(room: room, shard: UInt8(key.shard), grant: grant)
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

    /// Returns what an authentic session id of `room` says about itself; nil for any other text.
    public func statement(of sid: String, room: String) -> SessionStatement? {
        guard let id = SessionID(sid), isGenuine(id, room: room) else { return nil }
        return SessionStatement(grant: id.grant, issuedAt: Double(id.issuedAt))
    }

    /// Returns what a session id says about itself, without verifying it.
    public func unverifiedStatement(of sid: String) -> SessionStatement? {
        SessionID(sid).map { SessionStatement(grant: $0.grant, issuedAt: Double($0.issuedAt)) }
    }

    /// Whether the session watches, or is about to.
    public func isPresent(sid: String, room: String) -> Bool {
        guard let id = SessionID(sid) else { return false }
        return shards[id.shard].shard.withLock { $0.isPresent(id, room: room) }
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
    public func region(of address: String) -> String {
        let database = regions.withLock { $0 }
        return database?.region(of: address) ?? ""
    }

    /// The number of HLS viewers that are served here.
    ///
    /// Excludes unqualified sessions, and those whose requests a server in front answers.
    public var requesters: Int { shards.reduce(0) { $0 + $1.requesters.load(ordering: .relaxed) } }

    /// Returns the sessions of one client, a `PeerAddress.account`.
    public func sessions(of client: UInt64) -> ClientSessions { clients.sessions(of: client) }

    /// Changes the limits for sessions of one client that begin or qualify later; nil for no limit.
    public func limitClients(unproven: Int?, watching: Int?) {
        clients.setLimits(unproven: unproven, watching: watching)
    }

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

    /// Sets whether the audience sees a slate instead of the program, because the room has not gone live yet.
    ///
    /// That is no time on air, also while the program is published.
    public func setWithheld(_ room: String, _ isWithheld: Bool) {
        let now = clock.now.milliseconds
        roomReports.withLock { $0.setWithheld(room, isWithheld, at: now) }
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
    func date(of moment: MonotonicTime) -> Double {
        date(ofMonotonic: moment.milliseconds)
    }

    func date(ofMonotonic milliseconds: Int64) -> Double {
        Double(wallClock.date(of: milliseconds)) / 1000
    }

    // MARK: Helpers

    func makeID(
        room: String,
        shard: UInt8,
        exclusion: ExclusionReason? = nil,
        grant: PlaybackGrant? = nil
    ) -> SessionID {
        let keys = keys.withLock { $0 }
        let second = UInt32(clamping: wallClock.date(of: clock.now.milliseconds) / 1000)
        let nonce = UInt64.random(in: 0...UInt64.max)
        return keys.makeID(
            room: room,
            shard: shard,
            exclusion: exclusion,
            grant: grant,
            issuedAt: second,
            nonce: nonce
        )
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

/// Identification of requests, reports and log lines.
extension ViewershipLedger {
    /// Returns the session of a request, in order of trust: by the session id in its address, by the player's own
    /// session name (CMCD, `X-Playback-Session-Id`), or a new one.
    public func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        if request.isHead || request.isPrefetch { return admitUncounted(request, to: room) }
        if let offered = request.sid {
            guard let id = SessionID(offered) else {
                refusedForms.add(1, ordering: .relaxed)
                return .refused
            }
            // Verifies the whole id on each request, because the shard finds a session by its code only.
            guard isGenuine(id, room: room) else { return refuse() }
            // A log, a proxy or a direct request of the player may have facts that the first request lacked.
            let (standing, hasNewFacts) = shards[id.shard].shard.withLock { shard in
                let hasNewFacts =
                    request.isLogged || request.region != nil && shard.lacksRegion(id)
                    || request.isMediaSeen && shard.lacksReceiver(id)
                return (shard.standing(of: id, room: room), hasNewFacts)
            }
            if request.role != .viewer, id.exclusion == nil {
                // The token is of a machine; the id belongs to a viewer that may be playing.
                return admit(self.id(room: room, name: offered, key: nil, exclusion: .role), request, to: room)
            }
            guard let standing, !hasNewFacts else { return admit(id, request, to: room) }
            if request.isStarved { starved(id, room: room) }
            return standing ? .viewer(sid: offered) : .uncounted(sid: offered)
        }
        let key = viewerKey(of: request, room: room)
        let exclusion = exclusion(of: request)
        // In a private room only an id that was made here has the grant.
        if request.grant == nil, let name = request.playbackName {
            if let id = SessionID(name), verify(id, room: room) { return admit(id, request, to: room) }
            return admit(id(room: room, name: name, key: key, exclusion: exclusion), request, to: room)
        }
        let shard = key.map { UInt8($0.shard) } ?? UInt8.random(in: 0..<UInt8(SessionID.shardCount))
        return admit(makeID(room: room, shard: shard, exclusion: exclusion, grant: request.grant), request, to: room)
    }

    /// Records a stall that a media request signals.
    public func recordPlayerReport(_ request: PlayerRequest, in room: String, on sid: String?) {
        guard request.isStarved else { return }
        // The player's session name takes precedence over the connection, which viewers may share.
        let name = request.playbackName
        let named = name.map { id(room: room, name: $0, key: nil, exclusion: exclusion(of: request)) }
        let offered = name.flatMap { SessionID($0) }.flatMap { isGenuine($0, room: room) ? $0 : nil }
        let ids = [offered, named, sid.flatMap { SessionID($0) }].compactMap(\.self)
        guard let id = ids.first(where: { standing(of: $0, room: room) == true }) else { return }
        starved(id, room: room)
    }

    private func starved(_ id: SessionID, room: String) {
        let now = clock.now.milliseconds
        withShard(id.shard) { $0.starved(id, room: room, at: now) }
    }

    /// Records a report of a player.
    ///
    /// - Parameters:
    ///   - room: The room, when the report has none.
    ///   - player: The request of the report, with its user agent and address.
    /// - Returns: Whether the report is of a known session or of a room with a broadcast.
    @discardableResult
    public func receive(_ report: PlayerReport, room: String?, from player: PlayerRequest = PlayerRequest()) -> Bool {
        guard let sid = report.sid, !sid.isEmpty, sid.utf8.count <= 256 else {
            refusedForms.add(1, ordering: .relaxed)
            return false
        }
        let now = clock.now.milliseconds
        let offered = SessionID(sid)
        guard let room = room ?? offered.flatMap({ self.room(of: $0) }) ?? report.contentID, isOn(room) else {
            return offered == nil ? refuseName() : refuseRoom()
        }
        var report = report
        if report.rendition == nil, let bitrate = report.bitrate {
            report.rendition = roomReports.withLock { $0.rooms[room]?.rendition(of: bitrate) }
        }
        // A text in the form of an id that matches no room is the player's own name.
        if let id = offered, id.roomHash == SessionID.stableHash(room) || self.room(of: id) != nil {
            guard isGenuine(id, room: room) else {
                refusedCodes.add(1, ordering: .relaxed)
                return true
            }
            withShard(id.shard) { shard in
                shard.reported(report, id: id, room: room, at: now) { clientIdentity(of: player, id: id, room: room) }
            }
            return true
        }
        // An unsigned name can be forged, so its address is the source.
        let source = player.address.map { Self.source($0) }
        let id = id(reporting: sid, in: room, from: source, exclusion: exclusion(of: player))
        withShard(id.shard) { shard in
            shard.reported(report, id: id, room: room, source: source, at: now) {
                clientIdentity(of: player, id: id, room: room)
            }
        }
        return true
    }

    /// Records an access log line of a server in front.
    ///
    /// - Returns: Whether the room has a broadcast; a cache may continue to serve after its end.
    @discardableResult
    public func receive(_ line: AccessLogLine) -> Bool {
        guard isOn(line.room) else { return refuseRoom() }
        guard SessionID(line.sid).map({ isGenuine($0, room: line.room) }) ?? false else {
            refusedCodes.add(1, ordering: .relaxed)
            return true
        }
        let now = clock.now
        let kind: AudienceEvent.Kind = line.isPlaylist ? .playlistServed : .segmentServed
        let event = AudienceEvent(
            sid: line.sid,
            room: line.room,
            playback: line.isLowLatency ? .llhls : .hls,
            rendition: line.rendition,
            kind: kind,
            at: now,
            began: line.duration.map { now.advanced(milliseconds: Int64(-$0)) },
            bytes: line.bytes,
            isServedElsewhere: true,
            isMediaSeen: logsIncludeMedia.load(ordering: .relaxed)
        )
        record(event)
        return true
    }

    /// Records a media line of the access log of a server in front.
    ///
    /// From the first such line on, sessions in its logs need media to qualify.
    public func receive(_ line: MediaAccessLogLine) {
        logsIncludeMedia.store(true, ordering: .relaxed)
        mediaServed(in: line.room, to: line.client, over: nil, at: clock.now)
    }

    /// Counts a malformed log line or datagram.
    public func countMalformedLogLine() {
        refusedLines.add(1, ordering: .relaxed)
    }

    /// Counts a datagram of an untrusted sender.
    public func countUntrustedLogLine() {
        refusedSenders.add(1, ordering: .relaxed)
    }

    /// Counts a HEAD request or prefetch, without a session.
    private func admitUncounted(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        if let offered = request.sid {
            guard accepts(sid: offered, room: room) else { return .refused }
        }
        let id =
            request.sid.flatMap { SessionID($0) }
            ?? makeID(
                room: room,
                shard: UInt8.random(in: 0..<UInt8(SessionID.shardCount)),
                grant: request.grant
            )
        withShard(id.shard) { $0.countExcluded(room: room, request.isHead ? .head : .prefetch) }
        return .uncounted(sid: id.text)
    }

    private func admit(_ id: SessionID, _ request: PlayerRequest, to room: String) -> ViewerAdmission {
        let clientIdentity = clientIdentity(of: request, id: id, room: room)
        let now = clock.now.milliseconds
        let admission = withShard(id.shard) { shard in
            shard.admit(
                id,
                room: room,
                clientIdentity: clientIdentity,
                at: now,
                mayBegin: { clientIdentity.account.map { clients.mayBegin($0) } ?? true },
                verify: { verify(id, room: room) }
            )
        }
        switch admission {
        case .foreign: return .refused
        case .crowded: return .crowded
        case .viewer, .uncounted: break
        }
        if request.isStarved { starved(id, room: room) }
        return admission == .viewer ? .viewer(sid: id.text) : .uncounted(sid: id.text)
    }

    private func clientIdentity(of request: PlayerRequest, id: SessionID, room: String) -> ClientIdentity {
        let agent = UserAgent(request.userAgent, robots: robotList)
        var clientIdentity = ClientIdentity()
        clientIdentity.client = agent.client
        clientIdentity.region = Region.normalized(request.region)
        // All sessions of a viewer are in one shard; an id that was issued before may be in another.
        if let key = viewerKey(of: request, room: room), key.shard == id.shard { clientIdentity.key = key }
        if !clientIdentity.region.isEmpty { clientIdentity.regionSource = .declared }
        if clientIdentity.region.isEmpty, !request.isSharedAddress, let address = request.address {
            clientIdentity.region = self.region(of: address)
            clientIdentity.regionSource = .database
        }
        if clientIdentity.region.isEmpty {
            clientIdentity.region = Region.normalized(configuration.region)
            clientIdentity.regionSource = .configured
        }
        if !request.isSharedAddress { clientIdentity.receiver = request.address.flatMap { PeerAddress($0)?.account } }
        if request.identity == nil { clientIdentity.account = clientIdentity.receiver }
        // A shared address says nothing about its viewers.
        if let address = request.address, !request.isSharedAddress {
            let date = wallClock.date(of: clock.now.milliseconds)
            let salt = salt.withLock { $0.key(at: date) }
            clientIdentity.estimate =
                ViewerKey(address: address, userAgent: request.userAgent ?? "", room: room, salt: salt).value
        }
        clientIdentity.exclusion = exclusion(of: request, agent)
        return clientIdentity
    }

    /// Returns the exclusion by token and user agent; nil for a viewer.
    private func exclusion(of request: PlayerRequest, _ agent: UserAgent? = nil) -> ExclusionReason? {
        if request.role != .viewer { return .role }
        return (agent ?? UserAgent(request.userAgent, robots: robotList)).isUncounted ? .agent : nil
    }

    private func refuse() -> ViewerAdmission {
        refusedCodes.add(1, ordering: .relaxed)
        return .refused
    }

    /// Whether the room has a broadcast; in other rooms no viewers are counted.
    private func isOn(_ room: String) -> Bool {
        roomReports.withLock { roomReports in roomReports.rooms[room].map { $0.ended == nil } ?? false }
    }

    private func refuseName() -> Bool {
        refusedCodes.add(1, ordering: .relaxed)
        return false
    }

    private func refuseRoom() -> Bool {
        refusedRooms.add(1, ordering: .relaxed)
        return false
    }

    /// Returns the client of an address.
    private static func source(_ address: String) -> UInt64 {
        PeerAddress(address)?.account ?? ViewerKey.hash(address)
    }

    /// Whether a verified session may count; nil for an unknown or unverified id.
    private func standing(of id: SessionID, room: String) -> Bool? {
        shards[id.shard].shard.withLock { $0.standing(of: id, room: room) }
    }

    private func viewerKey(of request: PlayerRequest, room: String) -> ViewerKey? {
        if let identity = request.identity { return ViewerKey(user: identity, room: room) }
        guard let device = request.device, (16...64).contains(device.utf8.count) else { return nil }
        return ViewerKey(device: device, room: room)
    }

    /// Returns the id of a player with its own session name; during a key rotation the known one.
    private func id(room: String, name: String, key: ViewerKey?, exclusion: ExclusionReason?) -> SessionID {
        let keys = keys.withLock { $0 }
        let shard = key?.shard ?? SessionKeys.shard(room: room, name: name)
        let ids = keys.ids(room: room, name: name, shard: shard, exclusion: exclusion)
        return ids.dropFirst().first { standing(of: $0, room: room) != nil } ?? ids[0]
    }

    /// Returns the id of a reporting player, whose reports carry neither a token nor a device id.
    ///
    /// Its requests may have carried one; then its session is in the viewer's shard, or is excluded.
    private func id(
        reporting name: String,
        in room: String,
        from source: UInt64?,
        exclusion: ExclusionReason?
    ) -> SessionID {
        let usual = id(room: room, name: name, key: nil, exclusion: exclusion)
        guard standing(of: usual, room: room) == nil else { return usual }
        // A source beyond its limit of unsigned names is not looked up in all shards.
        if let source, withShard(usual.shard, { !$0.allowsUnverifiedSession(from: source) }) { return usual }
        let keys = keys.withLock { $0 }
        let hash = SessionKeys.hash(room: room, name: name)
        for shard in shards.indices {
            for reason in [exclusion, ExclusionReason.role] {
                let ids = keys.ids(room: room, hash: hash, shard: shard, exclusion: reason)
                if let known = ids.first(where: { standing(of: $0, room: room) != nil }) { return known }
            }
        }
        return usual
    }

    /// Returns the room that an id was signed for, if it has a broadcast.
    private func room(of id: SessionID) -> String? {
        roomReports.withLock { $0.rooms.keys.first { SessionID.stableHash($0) == id.roomHash } }
    }
}

extension PlayerRequest {
    /// Whether a browser prefetches or shows a preview.
    fileprivate var isPrefetch: Bool {
        guard let purpose = purpose?.lowercased() else { return false }
        return purpose.contains("prefetch") || purpose.contains("preview") || purpose.contains("prerender")
    }

    /// Whether the player signals buffer starvation since its previous request (CMCD version 1, `bs`).
    fileprivate var isStarved: Bool {
        // Few requests have the key, and parsing is expensive.
        guard [cmcd, cmcdStatus].contains(where: { $0?.contains("bs") ?? false }) else { return false }
        var items = cmcd.map { CMCDItems(query: $0) } ?? CMCDItems()
        if let cmcdStatus { items.merge(cmcdStatus) }
        return items.values["bs"].map { $0 != "false" && $0 != "?0" } ?? false
    }

    /// The player's own session name.
    fileprivate var playbackName: String? {
        var items = cmcd.map { CMCDItems(query: $0) } ?? CMCDItems()
        if let cmcdSession { items.merge(cmcdSession) }
        let name = items.values["sid"] ?? playbackSessionID
        guard let name, !name.isEmpty, name.utf8.count <= 256 else { return nil }
        return name
    }
}

/// Exchange with the history store.
extension ViewershipLedger {
    /// Enables the journal, from which `drainHistory` removes the changes.
    public func enableHistory() {
        roomReports.withLock { $0.journal.isEnabled = true }
    }

    /// Removes and returns the changes since the last call; call it once a second and write them in one transaction.
    public func drainHistory() -> HistoryBatch {
        let now = clock.now
        var generation = 0
        let snapshot = snapshot(at: now, hasLastHits: true) { roomReports in
            generation = roomReports.journal.generation
            roomReports.journal.snapshot()
            return roomReports.rooms
        }
        let figures = snapshot.figures()
        let groups = figures.mapValues(\.groups)
        return roomReports.withLock { roomReports in
            // A room ended meanwhile, and the history is newer than this snapshot; it is retried a second later.
            if roomReports.journal.generation == generation {
                let minute = minute(at: now)
                roomReports.writeTotal(minute: minute)
                let lag = logLag.load(ordering: .relaxed)
                roomReports.journal.add(
                    RunCounters(startups: snapshot.startups, requests: snapshot.requests, logLag: lag > 0 ? lag : nil)
                )
                for (shard, ages) in snapshot.lastHits.enumerated() {
                    let hits = LastHits(asOf: wallClock.date(of: now.milliseconds), ages: ages)
                    roomReports.journal.add(hits, shard: UInt8(shard))
                }
                var all: [ViewerGroup: Int] = [:]
                for (room, entry) in roomReports.rooms where entry.ended == nil {
                    let figures = figures[room] ?? RoomFigures()
                    all.merge(groups[room] ?? [:], uniquingKeysWith: +)
                    roomReports.journal.add(groups[room] ?? [:], epoch: entry.epoch, minute: minute)
                    let air = roomReports.air(of: room, until: now.milliseconds)
                    roomReports.journal.add(figures, room: room, entry: entry, air: air, minute: minute)
                    roomReports.journal.add(row(room, entry, figures, at: now))
                    roomReports.markWritten(room, at: now.milliseconds)
                }
                roomReports.journal.add(all, epoch: 0, minute: minute)
            }
            return roomReports.journal.drain(asOf: wallClock.date(of: now.milliseconds))
        }
    }

    /// Confirms that the last drained batch is on disk, before another one is drained.
    ///
    /// From then on reports include the watch time of HLS viewers up to that batch, so that a kill reverts nothing.
    public func confirmHistoryWritten() {
        let now = clock.now.milliseconds
        roomReports.withLock { $0.journal.confirm(at: now) }
    }

    /// Removes and returns the session steps, and the time until which this process declares to live (ms since 1970).
    ///
    /// Call it about twenty times a second and write the result at once: after a kill, connections count until then.
    /// The time is `livenessLead` ahead of the clock, so that no reported time is reverted.
    public func drainSteps() -> (aliveUntil: Int64, steps: [SessionStep]) {
        let moment = wallClock.date(of: clock.now.milliseconds) + Self.livenessLead
        return (moment, roomReports.withLock { $0.journal.drainSteps() })
    }

    /// Sets the function that drains and writes the steps before a report that depends on them.
    ///
    /// It is called on the thread of the report.
    public func setStepWriter(_ write: @escaping @Sendable () -> Void) {
        stepWriting.withLock { $0 = write }
    }

    /// Confirms that drained steps are written: reports count connections up to that time.
    ///
    /// - Parameter moment: The time that `drainSteps` returned.
    public func confirmStepsWritten(aliveUntil moment: Int64) {
        let (declaredAlive, now) = (wallClock.monotonic(of: moment), clock.now.milliseconds)
        roomReports.withLock { $0.journal.declaredAlive = (declaredAlive, now) }
    }

    /// Twice the interval of `drainSteps`, in milliseconds.
    private static let livenessLead: Int64 = 100

    /// Includes every broadcast in progress in the next batch, for a new database.
    public func rewriteBroadcasts() {
        roomReports.withLock { $0.journal.rewriteBroadcasts() }
    }

    /// Restores the state of an earlier run; call it after `enableHistory` and before any event.
    ///
    /// Restored joins are not counted again, counters continue, and HLS viewers count until their timeout.
    public func restore(_ recovered: RecoveredAudience) {
        guard let lastWritten = recovered.lastSeen else { return }
        hasRestored.store(true, ordering: .relaxed)
        let now = clock.now.milliseconds
        let lastSeen = max(lastWritten, min(recovered.livedUntil ?? lastWritten, wallClock.date(of: now)))
        // Logs are assumed to be as late as before.
        logsLag(milliseconds: recovered.logLag)
        let names = Dictionary(recovered.broadcasts.map { ($0.epoch, $0.room) }) { $1 }
        roomReports.withLock { roomReports in
            roomReports.restore(recovered, at: now)
            for row in recovered.totals {
                guard let dimensions = row.key.dimensions else { continue }
                roomReports.journal.restore(row.counts, room: row.key.room, dimensions: dimensions)
            }
        }
        let sessions = recovered.sessions.filter { names[$0.epoch] != nil && $0.shard < SessionID.shardCount }
        let steps = Dictionary(grouping: recovered.steps, by: \.code)
        let connections = sessions.filter(\.dimensions.playback.isContinuous).map { row in
            UnwrittenConnection(
                row,
                (steps[row.code] ?? []).filter { $0.epoch == row.epoch },
                from: lastWritten,
                to: lastSeen
            )
        }
        withShard(0) { shard in
            for row in recovered.totals {
                guard let dimensions = row.key.dimensions, names[row.key.epoch] != nil else { continue }
                shard.restore(row.counts, room: row.key.room, dimensions: dimensions)
            }
            for row in recovered.broadcasts { shard.restore(RoomCounters.Counts(row), room: row.room) }
            for connection in connections {
                for span in connection.spans {
                    let (from, to) = (
                        wallClock.monotonic(of: span.lowerBound), wallClock.monotonic(of: span.upperBound)
                    )
                    let row = connection.row
                    shard.restoreWatch(from: from, to: to, room: row.room, dimensions: row.dimensions)
                }
            }
        }
        roomReports.withLock { roomReports in
            for gap in connections.flatMap(\.gaps) { roomReports.journal.pending.add(gap) }
        }
        for row in connections.map(\.row) + sessions.filter({ !$0.dimensions.playback.isContinuous }) {
            let lastHit = recovered.lastHits[row.shard]?.moment(of: row.index)
            withShard(Int(row.shard)) { shard in
                shard.restore(
                    ShardOutput.Session(row, lastHit: lastHit, wallClock: wallClock),
                    lastSeen: wallClock.monotonic(of: lastSeen),
                    now: now
                )
            }
        }
        let known = Set(recovered.viewers.map(\.session))
        restore(recovered.steps.filter { !known.contains($0.code) }, names: names, lastSeen: lastSeen)
    }

    /// Restores sessions that began shortly before the kill, from their steps.
    private func restore(_ steps: [SessionStep], names: [Int64: String], lastSeen: Int64) {
        let now = clock.now.milliseconds
        let end = wallClock.monotonic(of: lastSeen)
        for (code, steps) in Dictionary(grouping: steps.filter { $0.at <= lastSeen }, by: \.code) {
            let proof = steps.last { $0.kind == .proven }
            guard let step = proof ?? steps.last, let room = names[step.epoch], Int(step.shard) < SessionID.shardCount
            else { continue }
            switch step.kind {
            case .closed, .reopened: continue
            case .requested:
                withShard(Int(step.shard)) { shard in
                    shard.restoreNew(step, room: room, since: wallClock.monotonic(of: step.start), now: now)
                }
                continue
            case .opened, .proven: break
            }
            // The qualification itself may have been too late to be written.
            let isProven = proof != nil || (5000..<5000 + 2 * Self.livenessLead).contains(lastSeen - step.start)
            let isGone = steps.last?.kind == .closed
            withShard(Int(step.shard)) { shard in
                guard isProven else {
                    let start = wallClock.monotonic(of: step.start)
                    shard.interrupted[code] = (start, min(end, start + 5000))
                    return
                }
                shard.restore(
                    step,
                    room: room,
                    start: wallClock.monotonic(of: step.start),
                    lastHit: wallClock.monotonic(of: step.at),
                    end: isGone ? steps.last.map { wallClock.monotonic(of: $0.at) } ?? end : end,
                    lastSeen: end,
                    now: now
                )
            }
            if isProven { roomReports.withLock { $0.arrived(in: room, step) } }
        }
    }

    func row(_ room: String, _ entry: RoomReports.Entry, _ figures: RoomFigures, at now: MonotonicTime) -> BroadcastRow
    {
        let counters = figures.counters.counts - figures.counters.baseline
        return BroadcastRow(
            epoch: entry.epoch,
            room: room,
            roomSID: entry.roomSID,
            began: wallClock.date(of: entry.began),
            ended: entry.ended.map { wallClock.date(of: $0.at) },
            onAir: entry.onAir(at: now.milliseconds),
            peak: entry.peak,
            peakAt: entry.peakAt.map { wallClock.date(of: $0) },
            uniques: entry.uniques.figures,
            reportingSessions: counters.reportingSessions,
            unusedIDs: counters.unusedIDs,
            excluded: ExclusionReason.allCases.map { counters.excluded[$0] }
        )
    }
}

/// The watch time of a connection between the last history batch and the kill.
private struct UnwrittenConnection {
    /// The row of the session at the kill.
    private(set) var row: SessionRow
    /// Watched spans, in milliseconds since 1970.
    private(set) var spans: [Range<Int64>] = []
    /// Interruptions.
    private(set) var gaps: [GapRow] = []

    /// - Parameters:
    ///   - steps: The steps of the session, in order.
    ///   - from: The time of the row.
    ///   - to: When the run was last known to live.
    init(_ row: SessionRow, _ steps: [SessionStep], from: Int64, to: Int64) {
        self.row = row
        var since = row.end == nil ? from : nil
        for step in steps where step.at > from && step.at <= to {
            switch step.kind {
            case .closed:
                guard let began = since, began <= step.at else { continue }
                watch(from: began, to: step.at)
                since = nil
                (self.row.end, self.row.reason) = (step.at, .left)
            case .reopened:
                guard since == nil, let end = self.row.end, end <= step.at else { continue }
                if end < step.at { gaps.append(GapRow(code: row.code, epoch: row.epoch, from: end, to: step.at)) }
                since = step.at
                (self.row.end, self.row.reason) = (nil, nil)
                self.row.watchedUntil = step.at
            case .opened, .proven, .requested: break
            }
        }
        // `AudienceShard.restore` adds this span to the row.
        if let since, since < to { spans.append(since..<to) }
    }

    private mutating func watch(from: Int64, to: Int64) {
        row.watched += max(0, to - (row.watchedUntil ?? from))
        row.watchedUntil = nil
        if from < to { spans.append(from..<to) }
    }
}

extension RoomCounters.Counts {
    fileprivate init(_ row: BroadcastRow) {
        self.init()
        reportingSessions = row.reportingSessions
        unusedIDs = row.unusedIDs
        for (reason, count) in zip(ExclusionReason.allCases, row.excluded) { excluded[reason] = count }
    }
}

extension ShardOutput.Session {
    fileprivate init(_ row: SessionRow, lastHit: Int64?, wallClock: RoomReports.WallClock) {
        self.init(
            code: row.code,
            shard: row.shard,
            room: row.room,
            start: wallClock.monotonic(of: row.start),
            end: row.end.map { wallClock.monotonic(of: $0) },
            watched: UInt32(clamping: row.watched),
            watchedUntil: row.watchedUntil.map { wallClock.monotonic(of: $0) },
            lastHit: lastHit.map { wallClock.monotonic(of: $0) },
            poll: UInt16(clamping: row.poll),
            stalled: UInt32(clamping: row.stalled),
            playback: row.dimensions.playback,
            rendition: row.dimensions.rendition,
            renditions: row.renditions,
            region: row.dimensions.region,
            client: row.dimensions.client,
            switches: UInt8(clamping: row.switches),
            bytes: row.bytes,
            viewer: ViewerKey(stored: row.viewer, isUser: row.isUser),
            hasReported: row.hasReported,
            isLogged: row.isLogged,
            reason: row.reason,
            isClosed: row.isClosed
        )
    }
}

/// Reports.
extension ViewershipLedger {
    /// Returns the report of one room; zeros for a room without viewers.
    ///
    /// For an ended room, these are the final figures of its last broadcast.
    public func report(room: String) -> RoomViewership {
        let now = clock.now
        let snapshot = publishedSnapshot(at: now) { $0.rooms[room].map { [room: $0] } ?? [:] }
        return view(room, snapshot.published(snapshot.figures(of: room), of: room), of: snapshot, at: now)
    }

    /// Returns the reports of all rooms with a broadcast, and their sum, in one snapshot.
    public func totals() -> ViewershipTotals {
        let now = clock.now
        let snapshot = publishedSnapshot(at: now)
        let rooms = snapshot.figures()
            .filter { snapshot.roomReports[$0.key]?.ended == nil }
            .map { view($0.key, snapshot.published($0.value, of: $0.key), of: snapshot, at: now) }
            .sorted { ($1.concurrent, $0.room) < ($0.concurrent, $1.room) }
        var total = RoomViewership(room: "", asOf: date(of: now), staleMs: staleness(at: now))
        total.recovering = isRecovering(snapshot, at: now)
        total.peak = snapshot.totalPeak
        total.peakAt = snapshot.totalPeakAt.map { date(ofMonotonic: $0) }
        for room in rooms { total.add(room) }
        return ViewershipTotals(rooms: rooms, total: total)
    }

    /// Returns a snapshot whose steps are written, so that a kill reverts nothing of it.
    func publishedSnapshot(
        at now: MonotonicTime,
        roomReports read: (inout RoomReports) -> [String: RoomReports.Entry] = { $0.rooms }
    ) -> AudienceSnapshot {
        let snapshot = snapshot(at: now, roomReports: read)
        if snapshot.hasSteps { stepWriting.withLock { $0 }?() }
        return snapshot
    }

    /// Returns a consistent snapshot of all shards and of the room reports.
    ///
    /// - Parameter hasLastHits: Whether to include the last requests of HLS viewers.
    func snapshot(
        at now: MonotonicTime,
        hasLastHits: Bool = false,
        roomReports read: (inout RoomReports) -> [String: RoomReports.Entry] = { $0.rooms }
    ) -> AudienceSnapshot {
        var snapshot = AudienceSnapshot(at: now.milliseconds)
        gather(into: &snapshot) { shard, snapshot in
            snapshot.parts.append(AudienceSnapshot.Part(shard))
            // Taken together with the counters, so that later requests add the time since then.
            if hasLastHits { snapshot.lastHits.append(shard.lastHits(at: now.milliseconds)) }
        } whenAllLocked: { snapshot in
            roomReports.withLock { roomReports in
                snapshot.roomReports = read(&roomReports)
                snapshot.hasSteps = roomReports.journal.hasSteps
                // While the disk fails for some seconds, reports include all known time.
                if let confirmed = roomReports.journal.confirmed,
                    now.milliseconds - confirmed.at < Self.longestUnwritten
                {
                    snapshot.confirmed = confirmed.watch
                }
                if let declaredAlive = roomReports.journal.declaredAlive,
                    now.milliseconds - declaredAlive.at < Self.longestUnwritten
                {
                    snapshot.overrun = max(0, now.milliseconds - declaredAlive.until)
                }
                (snapshot.totalPeak, snapshot.totalPeakAt) = (roomReports.totalPeak, roomReports.totalPeakAt)
                (snapshot.startups, snapshot.earlierRequests) = (roomReports.startups, roomReports.earlierRequests)
            }
        }
        return snapshot
    }

    /// Ends the sessions of a room, records its final figures, and starts a new broadcast in its counters.
    ///
    /// Sessions end a few at a time; then figures and counters change in one step.
    func finish(_ room: String, at now: MonotonicTime) {
        clear(room, at: now)
        var snapshot = AudienceSnapshot(at: now.milliseconds)
        gather(into: &snapshot) { shard, snapshot in
            // A viewer may have joined after its shard was cleared.
            if shard.hasViewers(room) {
                var progress = RoomEndProgress()
                _ = shard.end(room: room, at: now.milliseconds, &progress)
                publishOutput(of: &shard)
            }
            snapshot.parts.append(AudienceSnapshot.Part(shard))
            shard.rebase(room: room, at: now.milliseconds)
        } whenAllLocked: { snapshot in
            roomReports.withLock { roomReports in
                // A second end keeps the first figures.
                guard roomReports.rooms[room]?.ended == nil else { return }
                let figures = snapshot.figures(of: room)
                roomReports.journal.snapshot()
                snapshot.roomReports[room] = roomReports.rooms[room]
                roomReports.end(room, final: view(room, figures, of: snapshot, at: now), at: now.milliseconds)
                guard let entry = roomReports.rooms[room] else { return }
                let air = roomReports.air(of: room, until: now.milliseconds)
                roomReports.journal.add(figures, room: room, entry: entry, air: air, minute: minute(at: now))
                roomReports.journal.add(row(room, entry, figures, at: now))
                roomReports.journal.ended()
            }
        }
    }

    /// How long reports exclude time that is not on disk, in milliseconds.
    private static let longestUnwritten: Int64 = 5000

    private func view(
        _ room: String,
        _ figures: RoomFigures,
        of snapshot: AudienceSnapshot,
        at now: MonotonicTime
    ) -> RoomViewership {
        let entry = snapshot.roomReports[room]
        if let final = entry?.ended?.final { return final }
        var view = RoomViewership(room: room, figures: figures, asOf: date(of: now))
        view.peak = entry?.peak ?? 0
        view.peakAt = entry?.peakAt.map { date(ofMonotonic: $0) }
        view.uniques = entry?.uniques.figures ?? .init()
        view.beganAt = entry.map { date(ofMonotonic: $0.began) }
        view.onAirSeconds = Double(entry?.onAir(at: now.milliseconds) ?? 0) / 1000
        view.staleMs = staleness(at: now)
        view.recovering = isRecovering(snapshot, at: now)
        return view
    }

    /// An adopted id is evidence of a restart; more may follow until the longest timeout has passed.
    private func isRecovering(_ snapshot: AudienceSnapshot, at now: MonotonicTime) -> Bool {
        guard now.seconds(since: startTime) < longestAbsence else { return false }
        return hasRestored.load(ordering: .relaxed) || snapshot.adopted > 0
    }

    /// Returns minutes since 1970.
    func minute(at now: MonotonicTime) -> Int64 {
        wallClock.date(of: now.milliseconds) / 60_000
    }

    /// Reads all shards in order, each locked until the last one was read.
    ///
    /// So all figures are of the time at which `whenAllLocked` runs.
    func gather<Result>(
        from index: Int = 0,
        into result: inout Result,
        _ read: (inout AudienceShard, inout Result) -> Void,
        whenAllLocked: (inout Result) -> Void
    ) {
        guard index < shards.count else { return whenAllLocked(&result) }
        shards[index].shard.withLock { shard in
            read(&shard, &result)
            gather(from: index + 1, into: &result, read, whenAllLocked: whenAllLocked)
        }
    }
}
