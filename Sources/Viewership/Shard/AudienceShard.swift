import Media
import Stage

/// One of sixteen shards of the audience: its sessions, timers and counters.
///
/// Events and times come in; counters and `output` come out. The shard has no lock, clock or I/O; its owner serializes
/// access. Times are milliseconds.
struct AudienceShard: ~Copyable {
    /// The reason why an event or id was rejected.
    enum Rejection: String, CaseIterable {
        case mac
        case malformed
        case full
    }

    /// The maximum number of counting sessions per viewer.
    static let sessionsPerViewer: Int32 = 20
    /// The maximum number of sessions with unsigned names per address, in this shard.
    static let unverifiedSessionsPerSource = 8
    /// Cells beyond this number are distinguished by room and protocol only.
    private static let cellLimit = 16_384
    /// The timeout of a player that is known by reports only: two and a half usual intervals.
    static let reportTimeout: Int64 = 50_000
    /// The usual interval of player reports.
    static let reportInterval: Int64 = 20_000
    /// The timeout of a session that was admitted and has not appeared.
    private static let announcedSessionTimeout: Int64 = 30_000

    /// The index of the shard.
    let number: UInt8
    let grace: Int64
    let qualifyingGap: Int64
    let targetDuration: Int64
    let hlsTimeout: Int64
    let llhlsTimeout: Int64
    /// The maximum playing time from a player's buffer.
    let longestBuffer: Int64
    let longestInterval: Int64
    let sessionLimit: Int
    let roomLimit: Int
    /// The second of the start; ids issued before are of an earlier run.
    let startSecond: UInt32

    var sessions = SessionTable()
    var sessionIndex = SessionIndex()
    var freeIndices: [Int32] = []
    /// The estimated viewers of unqualified sessions.
    var pendingEstimates: [Int32: UInt64] = [:]
    /// The startup times of unqualified sessions, in milliseconds.
    var startupTimes: [Int32: UInt32] = [:]
    /// The client that may receive a session's media.
    struct Receiver {
        /// A `PeerAddress.account`.
        var client: UInt64
        /// Whether the session receives media on the connection of its playlists.
        var hasConnection = false
    }

    /// Clients of unqualified sessions, and of sessions that media has qualified.
    var receivers: [Int32: Receiver] = [:]
    /// Unqualified sessions that requested playlists in time, but no media.
    var sessionsLackingMedia: Set<Int32> = []
    let mediaDeliveries: MediaDeliveryTracker
    /// Whether players with reports only and unsigned names count without media.
    let countsReportsAlone: Bool
    /// Sessions that are known by reports under unsigned names.
    var unverifiedSessions = UnverifiedSessionLimiter()
    /// The clients of the sessions.
    var clients: SessionClients
    /// The limits of rooms, over all shards.
    let audienceLimiter: AudienceLimiter
    /// Rooms with a limit, whose viewers are reported to `audienceLimiter`.
    var limitedRooms: Set<String> = []
    /// The names of rooms by index; nil where an index is free.
    var rooms: [String?] = []
    var roomCounters: [RoomCounters] = []
    var roomIndices: [String: Int32] = [:]
    var cells: [Cell] = []
    var cellIndices: [Cell.Key: Int32] = [:]
    var freeCells: [Int32] = []
    var names = StringInterner()
    var renditionHistories = RenditionHistories()
    var viewers: [Viewer?] = []
    var viewerIndices: [UInt64: Int32] = [:]
    var freeViewers: [Int32] = []
    /// The `RegionSource` of each session, by index.
    var regionSources: [UInt8] = []
    /// The lag of CDN logs, in milliseconds.
    var logLag: Int64 = 0
    /// The viewers of ids that were issued to participants, by code, as long as the participant is known.
    var ownedCodes: [UInt64: Int32] = [:]
    /// Participants of an earlier run that may return.
    var recoveredParticipants: [UInt64: RecoveredParticipant] = [:]
    var wheel: TimerWheel
    /// The changes since the owner last cleared it, in order.
    var output = ShardOutput()
    /// Playlist and segment requests of viewers, and player reports.
    private(set) var requests = 0
    /// Live HLS sessions that are served here.
    var requesters = 0
    /// Ids of an earlier run that were adopted.
    var adopted = 0
    /// Watch spans of connections that had not qualified when an earlier run was killed, by code.
    var interrupted: [UInt64: (start: Int64, end: Int64)] = [:]
    /// The start of the current minute of the wall clock, on the monotonic clock.
    private(set) var minuteStart: Int64 = .min
    /// Milliseconds since 1970 at the monotonic clock's zero.
    private let wallZero: Int64
    private(set) var rejected: [Rejection: Int] = [:]

    init(
        number: UInt8,
        configuration: ViewershipConfiguration,
        clients: ClientSessionLimiter,
        audienceLimiter: AudienceLimiter = AudienceLimiter(),
        mediaDeliveries: MediaDeliveryTracker,
        now: Int64,
        startSecond: UInt32,
        wallZero: Int64 = 0
    ) {
        self.number = number
        self.wallZero = wallZero
        self.clients = SessionClients(clients)
        self.audienceLimiter = audienceLimiter
        grace = Int64(configuration.grace * 1000)
        qualifyingGap = Int64(configuration.qualifyingGap * 1000)
        targetDuration = Int64(configuration.targetDuration * 1000)
        hlsTimeout = Int64(configuration.timeout(of: .hls) * 1000)
        llhlsTimeout = Int64(configuration.timeout(of: .llhls) * 1000)
        longestBuffer = Int64(configuration.longestBuffer * 1000)
        longestInterval = Int64(configuration.longestInterval * 1000)
        self.mediaDeliveries = mediaDeliveries
        countsReportsAlone = configuration.countsReportsAlone
        sessionLimit = max(1, configuration.sessionLimit / SessionID.shardCount)
        roomLimit = configuration.roomLimit
        self.startSecond = startSecond
        wheel = TimerWheel(second: max(0, now / 1000))
    }

    /// Applies one event.
    ///
    /// - Parameter verify: Verifies the id; called when it is unknown, or not seen since the restart.
    mutating func record(_ event: AudienceEvent, id: SessionID, verify: () -> Bool) {
        let at = event.at.milliseconds
        guard let index = index(of: id, room: event.room, verify: verify) else {
            guard event.kind == .opened || event.kind == .playlistServed else { return countRequest(event.kind) }
            guard verify() else { return reject(.mac) }
            guard hasSpace(isConnection: event.kind == .opened), let room = makeRoom(event.room) else {
                return reject(.full)
            }
            let index = add(id, room: room, playback: event.playback, at: at)
            return apply(event, to: index, at: at)
        }
        apply(event, to: index, at: at)
    }

    private mutating func apply(_ event: AudienceEvent, to index: Int, at: Int64) {
        defer { recount(index) }
        if event.bytes > 0 { sessions[index].addBytes(event.bytes) }
        switch event.kind {
        case .opened:
            opened(index, playback: event.playback, rendition: event.rendition ?? "", at: at)
        case .watched(let since):
            watched(index, since: min(since.milliseconds, at), at: at)
        case .stalled(let milliseconds):
            recordStall(index, milliseconds)
        case .closed(let reason):
            closed(index, reason: reason, at: at)
        case .playlistServed:
            requests += 1
            sessions[index].isServedElsewhere = event.isServedElsewhere
            sessions[index].isLogged = event.isLogged
            requested(index, event, isPlaylist: true, at: at)
        case .segmentServed:
            requests += 1
            requested(index, event, isPlaylist: false, at: at)
        case .delivered:
            delivered(index, at: at)
        }
    }

    /// Emits that a count belongs to an earlier minute, if it does.
    ///
    /// - Parameters:
    ///   - from: The start of the counted span.
    ///   - now: The current time, or an earlier one of a log.
    mutating func backdate(_ index: Int, from: Int64, now: Int64, _ count: ShardOutput.Earlier.Count) {
        let now = max(now, wheel.second * 1000)
        if now >= minuteStart + 60_000 || minuteStart == .min {
            // Rounds down to whole minutes since 1970, for negative times too.
            let date = now + wallZero
            minuteStart = date - ((date % 60_000) + 60_000) % 60_000 - wallZero
        }
        guard from < minuteStart, let room = room(of: index) else { return }
        var count = count
        if case .watched(let from, let to) = count {
            // The part in the current minute needs no backdating.
            count = .watched(from: from, to: min(to, minuteStart))
        }
        output.earlier.append(.init(room: room, dimensions: dimensions(of: index), count: count))
    }

    func dimensions(of index: Int) -> Dimensions { dimensions(of: cells[Int(sessions[index].cell)].key) }

    func dimensions(of key: Cell.Key) -> Dimensions {
        Dimensions(
            playback: key.playback,
            rendition: names[key.rendition],
            region: names[key.region],
            client: key.client
        )
    }

    /// Emits a step of a session.
    mutating func recordStep(_ kind: SessionStep.Kind, _ index: Int, start: Int64, at: Int64) {
        guard let room = room(of: index), !sessions[index].flags.contains(.isExcluded) else { return }
        output.steps.append(
            .init(
                kind: kind,
                code: sessions[index].code,
                shard: number,
                room: room,
                dimensions: dimensions(of: index),
                viewer: viewerKey(of: sessions[index].viewer),
                estimate: pendingEstimates[Int32(index)],
                isLogged: sessions[index].isLogged,
                start: start,
                at: at
            )
        )
    }

    mutating func reject(_ reason: Rejection) {
        rejected[reason, default: 0] += 1
    }

    private mutating func countRequest(_ kind: AudienceEvent.Kind) {
        if kind == .playlistServed || kind == .segmentServed { requests += 1 }
    }

    mutating func countReport() {
        requests += 1
    }

    // MARK: Sessions

    /// Finds a verified session of a room.
    ///
    /// A restored session is known by its code only: the first request with an authentic id verifies it.
    mutating func index(of id: SessionID, room: String, verify: () -> Bool) -> Int? {
        guard let index = sessionIndex.find(id.code, in: sessions), self.room(of: index) == room else { return nil }
        if sessions[index].matches(by: id), !sessions[index].flags.contains(.isRecovered) { return index }
        guard sessions[index].flags.contains(.isRecovered), verify() else { return nil }
        sessions[index].flags.remove(.isRecovered)
        sessions[index].adoptID(of: id)
        adopted += 1
        return index
    }

    func room(of index: Int) -> String? {
        rooms[Int(cells[Int(sessions[index].cell)].key.room)]
    }

    func roomIndex(of index: Int) -> Int {
        Int(cells[Int(sessions[index].cell)].key.room)
    }

    func playback(of index: Int) -> PlaybackProtocol {
        cells[Int(sessions[index].cell)].key.playback
    }

    /// Adds a session in phase NEW.
    mutating func add(_ id: SessionID, room: Int32, playback: PlaybackProtocol, at: Int64) -> Int {
        let cell = makeCell(Cell.Key(room: room, playback: playback))
        let index = insert(ViewerSession(id: id, cell: cell, at: at))
        roomCounters[Int(room)].unproven += 1
        if id.issuedAt < startSecond { adopted += 1 }
        if let exclusion = id.exclusion { exclude(index, exclusion) }
        // The id was issued to a participant, and its session has expired.
        if let owner = ownedCodes[id.code], let key = viewers[Int(owner)]?.key { _ = attribute(index, to: key, at: at) }
        recount(index)
        return index
    }

    /// Inserts a session into the table and the index.
    mutating func insert(_ session: ViewerSession) -> Int {
        let index: Int
        if let free = freeIndices.popLast() {
            index = Int(free)
            sessions[index] = session
            if index < regionSources.count { regionSources[index] = 0 }
        } else {
            index = sessions.append(session)
        }
        sessionIndex.insert(index, in: sessions)
        roomCounters[roomIndex(of: index)].occupants += 1
        return index
    }

    /// Whether another session fits.
    func hasSpace(isConnection: Bool = false) -> Bool {
        // The number of connections is limited where they are accepted.
        (isConnection || sessionIndex.count < sessionLimit)
            && (sessions.count < SessionTable.limit || !freeIndices.isEmpty)
    }

    /// Removes a session that no longer counts.
    mutating func remove(_ index: Int) {
        if sessions[index].phase == .new {
            let room = roomIndex(of: index)
            roomCounters[room].unproven -= 1
            if !sessions[index].flags.contains(.isExcluded) {
                // The id was issued and never used for media here.
                if playback(of: index) == .sdk {
                    roomCounters[room].counts.unusedIDs += 1
                } else if !mayCount(index) {
                    roomCounters[room].counts.excluded[isHosts(index) ? .role : .surplus] += 1
                } else if sessionsLackingMedia.contains(Int32(index)) {
                    roomCounters[room].counts.excluded[.noMedia] += 1
                } else {
                    roomCounters[room].counts.excluded[.unqualified] += 1
                }
            }
            pendingEstimates[Int32(index)] = nil
            startupTimes[Int32(index)] = nil
            sessionsLackingMedia.remove(Int32(index))
        }
        receivers[Int32(index)] = nil
        unverifiedSessions.release(index)
        sessionIndex.remove(sessions[index].code, in: sessions)
        roomCounters[roomIndex(of: index)].occupants -= 1
        releaseViewer(of: index)
        sessions[index].phase = .vacant
        recount(index)
        // The index stays reserved while the timer wheel refers to it.
        if !sessions[index].flags.contains(.isScheduled) { freeIndices.append(Int32(index)) }
    }

    /// Schedules a timer for the session at `deadline` or earlier.
    ///
    /// The timer is never farther away than the shortest timeout, so that a deadline after a change of phase is not
    /// missed and the entry need not move.
    mutating func schedule(_ index: Int, deadline: Int64) {
        guard !sessions[index].flags.contains(.isScheduled) else { return }
        sessions[index].flags.insert(.isScheduled)
        let horizon = wheel.second * 1000 + min(hlsTimeout, llhlsTimeout)
        wheel.schedule(Int32(index), deadline: min(deadline, horizon), in: &sessions)
    }

    /// Returns how long a session counts after its last activity.
    func timeout(of index: Int) -> Int64 {
        let session = sessions[index]
        switch playback(of: index) {
        case _ where session.flags.contains(.isRemote): return Self.reportTimeout
        // A connection has no timeout of its own; a log may arrive late.
        case .sdk, .rtmp, .flv: return Self.announcedSessionTimeout + logLag
        case .hls, .llhls: return silence(of: index) + (session.isLogged ? logLag : 0)
        }
    }

    /// Returns how long an HLS viewer counts after its last request.
    ///
    /// A player that polls rarely counts as long as its buffer lasts. An unqualified one that has media, or may have it
    /// from a server in front, may poll as rarely as allowed.
    private func silence(of index: Int) -> Int64 {
        let session = sessions[index]
        let usual = playback(of: index) == .llhls ? llhlsTimeout : hlsTimeout
        guard session.phase != .new else {
            let hasMedia = startupTimes[Int32(index)] != nil || session.isServedElsewhere
            return hasMedia ? max(usual, longestInterval) : usual
        }
        return max(usual, min(session.interval * 3 / 2, longestBuffer))
    }

    /// Returns how long a session may resume after its end.
    func grace(of index: Int) -> Int64 {
        playback(of: index).isContinuous ? grace : max(grace, sessions[index].interval + 5000)
    }

    // MARK: Rooms and cells

    /// Returns the index of a room; adds the room if there is space.
    mutating func makeRoom(_ name: String) -> Int32? {
        if let index = roomIndices[name] { return index }
        guard roomIndices.count < roomLimit else { return nil }
        let index: Int32
        if let free = rooms.firstIndex(where: { $0 == nil }) {
            index = Int32(free)
            rooms[free] = name
            roomCounters[free] = RoomCounters()
        } else {
            index = Int32(rooms.count)
            rooms.append(name)
            roomCounters.append(RoomCounters())
        }
        roomIndices[name] = index
        return index
    }

    /// Returns the index of a cell; adds the cell if there is none.
    mutating func makeCell(_ key: Cell.Key) -> Int32 {
        if let index = cellIndices[key] { return index }
        guard cellIndices.count < Self.cellLimit || key == Cell.Key(room: key.room, playback: key.playback) else {
            return makeCell(Cell.Key(room: key.room, playback: key.playback))
        }
        let index: Int32
        if let free = freeCells.popLast() {
            index = free
            cells[Int(free)] = Cell(key: key)
        } else {
            index = Int32(cells.count)
            cells.append(Cell(key: key))
        }
        cellIndices[key] = index
        return index
    }

    /// Removes a room without sessions.
    ///
    /// - Returns: False while the room has sessions or viewers.
    mutating func forget(room name: String) -> Bool {
        guard let room = roomIndices[name] else { return true }
        guard roomCounters[Int(room)].occupants == 0, roomCounters[Int(room)].resumable == 0 else { return false }
        roomIndices[name] = nil
        rooms[Int(room)] = nil
        for index in cells.indices where cells[index].key.room == room {
            cellIndices[cells[index].key] = nil
            cells[index] = Cell(key: Cell.Key(room: -1, playback: .sdk))
            freeCells.append(Int32(index))
        }
        return true
    }

    /// Starts a new broadcast: the counts until now belong to the previous one.
    mutating func rebase(room name: String, at now: Int64) {
        guard let room = roomIndices[name] else { return }
        for index in cells.indices where cells[index].key.room == room {
            cells[index].baseline = cells[index].counts(at: now)
        }
        roomCounters[Int(room)].baseline = roomCounters[Int(room)].counts
    }

    /// Emits a change of a room's live count.
    ///
    /// - Parameter hasSlot: Whether the slot was reserved before.
    mutating func changeLiveCount(_ room: Int, _ delta: Int, at: Int64, hasSlot: Bool = false) {
        guard let name = rooms[room] else { return }
        if !hasSlot, limitedRooms.contains(name) { audienceLimiter.count(name, delta) }
        output.changes.append(ShardOutput.Change(room: name, delta: delta, at: at))
    }
}

/// Live HLS sessions that occupy resources here without a counted connection.
extension AudienceShard {
    /// Updates the counts of local HLS viewers and client sessions; call it when the phase, the connections or the
    /// serving of a session change.
    mutating func recount(_ index: Int) {
        let session = sessions[index]
        let isHere = session.connections == 0 && !session.isServedElsewhere && !session.flags.contains(.isRemote)
        let isOne =
            switch session.phase {
            case .vacant, .new, .ended: false
            case .live: isHere && !playback(of: index).isContinuous
            }
        switch session.phase {
        case .vacant: clients.move(index, to: .none, isGone: true)
        case .new: clients.move(index, to: .unproven)
        case .live, .ended: clients.move(index, to: .watching)
        }
        guard isOne != session.isRequester else { return }
        sessions[index].isRequester = isOne
        requesters += isOne ? 1 : -1
    }
}

/// The progress of ending a room in a shard: the entries that were examined.
struct RoomEndProgress {
    var viewers = 0
    var sessions = 0
}

/// Schedules sessions by the second of their next timeout check.
///
/// A session has at most one entry, which does not move on activity: when it fires, the session's own deadline is
/// checked and the entry scheduled again. So activity costs nothing here. The slots are lists linked through the
/// sessions.
struct TimerWheel {
    private static let slotCount: Int64 = 64
    private static let end: Int32 = -1

    private var slots = [Int32](repeating: end, count: Int(slotCount))
    /// Entries that were removed from their slot and not returned yet.
    private var due = end
    /// The last second whose slot was emptied.
    private(set) var second: Int64

    init(second: Int64) {
        self.second = second
    }

    /// Schedules `index` in the first slot at or after `deadline` (milliseconds), or in the farthest one.
    mutating func schedule(_ index: Int32, deadline: Int64, in sessions: inout SessionTable) {
        let dueSecond = (deadline + 999) / 1000
        let slot = Int(min(max(dueSecond, second + 1), second + Self.slotCount - 1) % Self.slotCount)
        sessions[Int(index)].next = slots[slot]
        slots[slot] = index
    }

    /// Returns the next session that is due at `now` (milliseconds); nil when none is left.
    mutating func next(now: Int64, in sessions: borrowing SessionTable) -> Int32? {
        let target = now / 1000
        while due == Self.end {
            guard second < target else { return nil }
            // After a long suspension one turn of the wheel visits every slot.
            second = max(second + 1, target - Self.slotCount + 1)
            swap(&due, &slots[Int(second % Self.slotCount)])
        }
        let index = due
        due = sessions[Int(index)].next
        return index
    }
}
