import Stage

/// Viewers that are known beyond a session, and participants that watch (RECV_ONLY, known by the API).
///
/// A participant counts as `sdk` unless a player of its own counts. When a player starts to count, the participant
/// stops, and it counts again when the last player ends; both share one join, so that a viewer is never counted twice.
/// Further players of a watching participant do not count until the counting one ends or the participant leaves; none
/// counts while the participant is on stage. A viewer and its sessions are in the same shard, so that each change is
/// atomic.
extension AudienceShard {
    /// Records that a participant watches; idempotent.
    mutating func participantWatching(room name: String, key: ViewerKey, at: Int64) {
        guard let room = makeRoom(name) else { return reject(.full) }
        guard let index = makeViewer(key, room: room) else { return reject(.full) }
        guard let viewer = viewers[Int(index)], !viewer.isWatching else { return }
        viewers[Int(index)]?.isWatching = true
        viewers[Int(index)]?.isHost = false
        roomCounters[Int(room)].attributed += Int(viewer.players)
        suspend(playersOf: index, beyond: 1, at: at)
        defer { if viewer.isHost { resume(playersOf: index, at: at) } }
        let recovered = recoveredParticipants.removeValue(forKey: key.value)
        if let recovered { roomCounters[Int(recovered.room)].resumable -= 1 }
        guard startCountingAsSDK(of: index, at: at) else {
            // A player counts for the participant: two joins were counted for one viewer.
            if recovered != nil { countSDKLeave(in: Int(room), .left) }
            return
        }
        changeLiveCount(Int(room), 1, at: at)
        if recovered == nil {
            cells[Int(sdkCell(in: room))].counts.joins += 1
            output.arrivals.append(.init(room: name, viewer: key, session: key.value))
        }
    }

    /// Records that a participant is on stage; idempotent.
    mutating func participantHosting(room name: String, key: ViewerKey, at: Int64) {
        guard let room = makeRoom(name), let index = makeViewer(key, room: room) else { return reject(.full) }
        guard let viewer = viewers[Int(index)], !viewer.isHost else { return }
        viewers[Int(index)]?.isHost = true
        stopWatching(index, reason: .left, at: at)
        suspend(playersOf: index, beyond: 0, at: at)
    }

    /// Records that a participant neither watches nor is on stage; its players may count.
    mutating func participantLeft(room name: String, key: ViewerKey, at: Int64) {
        guard roomIndices[name] != nil, let index = viewerIndices[key.value] else { return }
        viewers[Int(index)]?.isHost = false
        stopWatching(index, reason: .left, at: at)
        resume(playersOf: index, at: at)
        removeViewerIfUnused(index)
    }

    /// Whether the session at `index` may count once it qualifies.
    func mayCount(_ index: Int) -> Bool {
        let owner = sessions[index].viewer
        guard owner >= 0, let viewer = viewers[Int(owner)] else { return true }
        return !viewer.isHost && !(viewer.isWatching && viewer.players > 0)
    }

    /// Whether the session at `index` is a player of a host.
    func isHosts(_ index: Int) -> Bool {
        let owner = sessions[index].viewer
        return owner >= 0 && viewers[Int(owner)]?.isHost ?? false
    }

    /// Ends the counting players of a viewer beyond a number; they play on.
    private mutating func suspend(playersOf viewer: Int32, beyond count: Int32, at: Int64) {
        guard var surplus = viewers[Int(viewer)].map({ $0.players - count }), surplus > 0 else { return }
        for index in sessions.indices where surplus > 0 {
            guard sessions[index].phase == .live, sessions[index].viewer == viewer else { continue }
            depart(index, endedAt: at, reason: .left, at: at)
            surplus -= 1
        }
    }

    /// Starts to count the qualified connections of a viewer, as far as allowed; HLS players qualify by their next
    /// requests.
    mutating func resume(playersOf viewer: Int32, at: Int64) {
        guard viewer >= 0, var rest = viewers[Int(viewer)]?.sessions, rest > 0 else { return }
        for index in sessions.indices where rest > 0 {
            let session = sessions[index]
            guard session.phase != .vacant, session.viewer == viewer else { continue }
            rest -= 1
            guard session.phase != .live else { continue }
            if session.connections == 0 {
                if session.phase == .new { sessions[index].since = at }
            } else if session.flags.contains(.isTimed) || startupTimes[Int32(index)] != nil {
                enter(index, since: at, at: at)
            }
        }
    }

    /// Attributes the session at `index` to a viewer.
    ///
    /// - Returns: False when the session belongs to another viewer.
    mutating func attribute(_ index: Int, to key: ViewerKey, at: Int64) -> Bool {
        let owner = sessions[index].viewer
        if owner >= 0 { return viewers[Int(owner)]?.key == key }
        let room = Int32(roomIndex(of: index))
        guard let viewer = makeViewer(key, room: room) else {
            reject(.full)
            return true
        }
        guard viewers[Int(viewer)].map({ $0.sessions < Self.sessionsPerViewer }) ?? false else {
            exclude(index, .surplus)
            return true
        }
        viewers[Int(viewer)]?.sessions += 1
        sessions[index].viewer = viewer
        assign(sessions[index].code, by: viewer)
        guard sessions[index].phase == .live else { return true }
        guard mayCount(index) else {
            // The viewer is on stage, or counts already.
            countPlayer(of: viewer, by: 1)
            depart(index, endedAt: at, reason: .left, at: at)
            return true
        }
        let wasCountedAsSDK = stopCountingAsSDK(of: viewer, at: at)
        countPlayer(of: viewer, by: 1)
        if wasCountedAsSDK {
            // Two counted viewers are one.
            countSDKLeave(in: Int(room), .left)
            changeLiveCount(Int(room), -1, at: at)
        }
        return true
    }

    /// Stops to count a participant as `sdk`, because a player of its own counts.
    ///
    /// - Returns: Whether it was counted.
    mutating func stopCountingAsSDK(of index: Int32, at: Int64) -> Bool {
        guard index >= 0, let viewer = viewers[Int(index)], viewer.isCountedAsSDK else { return false }
        viewers[Int(index)]?.isCountedAsSDK = false
        let cell = Int(sdkCell(in: viewer.room))
        cells[cell].live -= 1
        cells[cell].runStarts -= viewer.since
        cells[cell].counts.watched += max(0, at - viewer.since)
        outputRow(viewer, end: at)
        return true
    }

    /// Counts a participant as `sdk`, if it watches and no player of its own counts.
    ///
    /// - Returns: Whether it is counted now.
    mutating func startCountingAsSDK(of index: Int32, at: Int64) -> Bool {
        guard index >= 0, var viewer = viewers[Int(index)] else { return false }
        guard viewer.isWatching, !viewer.isCountedAsSDK, viewer.players == 0 else { return false }
        viewer.isCountedAsSDK = true
        viewer.since = at
        viewers[Int(index)] = viewer
        let cell = Int(sdkCell(in: viewer.room))
        cells[cell].live += 1
        cells[cell].runStarts += at
        outputRow(viewer, end: nil)
        return true
    }

    /// Changes the number of live sessions of a viewer by 1 or -1.
    mutating func countPlayer(of index: Int32, by change: Int32) {
        guard index >= 0, let viewer = viewers[Int(index)] else { return }
        let players = viewer.players + change
        let room = Int(viewer.room)
        if viewer.isWatching { roomCounters[room].attributed += Int(change) }
        roomCounters[room].surplus += Int(max(0, players - 1) - max(0, viewer.players - 1))
        viewers[Int(index)]?.players = players
    }

    /// Detaches a session that is removed from its viewer.
    mutating func releaseViewer(of index: Int) {
        let viewer = sessions[index].viewer
        guard viewer >= 0 else { return }
        sessions[index].viewer = -1
        viewers[Int(viewer)]?.sessions -= 1
        removeViewerIfUnused(viewer)
    }

    /// Removes the participants of a room that ends: a range of viewers, and those of an earlier run.
    mutating func removeViewers(_ range: Range<Int>, of room: Int32, at: Int64) {
        for index in range where viewers[index]?.room == room {
            viewers[index]?.isHost = false
            stopWatching(Int32(index), reason: .roomEnded, at: at)
        }
        for (key, participant) in recoveredParticipants where participant.room == room {
            expire(participant, key: key, reason: .roomEnded)
        }
    }

    func viewerKey(of index: Int32) -> ViewerKey? {
        index >= 0 ? viewers[Int(index)]?.key : nil
    }

    /// Counts the final leave of a participant as `sdk`.
    mutating func countSDKLeave(in room: Int, _ reason: AudienceEvent.CloseReason) {
        cells[Int(sdkCell(in: Int32(room)))].counts.leaves[reason] += 1
    }

    /// Expires participants of an earlier run that did not return.
    mutating func expireRecoveredParticipants(at now: Int64) {
        guard !recoveredParticipants.isEmpty else { return }
        for (key, participant) in recoveredParticipants where participant.deadline <= now {
            expire(participant, key: key, reason: .timedOut)
        }
    }

    private mutating func expire(_ participant: RecoveredParticipant, key: UInt64, reason: AudienceEvent.CloseReason) {
        recoveredParticipants[key] = nil
        roomCounters[Int(participant.room)].resumable -= 1
        countSDKLeave(in: Int(participant.room), reason)
    }

    mutating func sdkCell(in room: Int32) -> Int32 {
        makeCell(Cell.Key(room: room, playback: .sdk))
    }

    private mutating func stopWatching(_ index: Int32, reason: AudienceEvent.CloseReason, at: Int64) {
        defer { removeViewerIfUnused(index) }
        guard let viewer = viewers[Int(index)], viewer.isWatching else { return }
        viewers[Int(index)]?.isWatching = false
        roomCounters[Int(viewer.room)].attributed -= Int(viewer.players)
        if stopCountingAsSDK(of: index, at: at) {
            countSDKLeave(in: Int(viewer.room), reason)
            changeLiveCount(Int(viewer.room), -1, at: at)
        }
    }

    /// Assigns a new id to a viewer.
    ///
    /// - Returns: False when the id belongs to another viewer, or the shard is full.
    mutating func expect(_ id: SessionID, of key: ViewerKey, room name: String) -> Bool {
        if let owner = ownedCodes[id.code] { return viewers[Int(owner)]?.key == key }
        guard let room = makeRoom(name), let viewer = makeViewer(key, room: room) else {
            reject(.full)
            return false
        }
        assign(id.code, by: viewer)
        return true
    }

    /// Assigns an id by its code to a viewer, before its session exists and after it is removed.
    private mutating func assign(_ code: UInt64, by viewer: Int32) {
        guard ownedCodes.updateValue(viewer, forKey: code) == nil else { return }
        viewers[Int(viewer)]?.codes.append(code)
        guard let codes = viewers[Int(viewer)]?.codes, codes.count > Int(Self.sessionsPerViewer) else { return }
        ownedCodes[codes[0]] = nil
        viewers[Int(viewer)]?.codes.removeFirst()
    }

    /// - Returns: Nil when the shard is full.
    private mutating func makeViewer(_ key: ViewerKey, room: Int32) -> Int32? {
        if let index = viewerIndices[key.value] { return index }
        // Links to viewers have as many bits as links to sessions.
        guard viewers.count < SessionTable.limit || !freeViewers.isEmpty else { return nil }
        let viewer = Viewer(room: room, key: key)
        let index: Int32
        if let free = freeViewers.popLast() {
            index = free
            viewers[Int(free)] = viewer
        } else {
            index = Int32(viewers.count)
            viewers.append(viewer)
        }
        viewerIndices[key.value] = index
        roomCounters[Int(room)].occupants += 1
        return index
    }

    private mutating func removeViewerIfUnused(_ index: Int32) {
        guard let viewer = viewers[Int(index)], viewer.sessions == 0, !viewer.isWatching, !viewer.isHost else { return }
        for code in viewer.codes { ownedCodes[code] = nil }
        viewerIndices[viewer.key.value] = nil
        roomCounters[Int(viewer.room)].occupants -= 1
        viewers[Int(index)] = nil
        freeViewers.append(index)
    }

    /// Emits a history row for each span counted as `sdk`.
    private mutating func outputRow(_ viewer: Viewer, end: Int64?) {
        guard let room = rooms[Int(viewer.room)] else { return }
        output.sessions.append(
            ShardOutput.Session(
                code: viewer.key.value &+ UInt64(bitPattern: viewer.since) &* 0x9E37_79B9_7F4A_7C15,
                shard: number,
                room: room,
                start: viewer.since,
                end: end,
                watched: UInt32(clamping: max(0, (end ?? viewer.since) - viewer.since)),
                stalled: 0,
                playback: .sdk,
                rendition: "",
                region: "",
                client: .unknown,
                switches: 0,
                viewer: viewer.key,
                reason: end == nil ? nil : .left,
                isClosed: end != nil
            )
        )
    }
}

/// Rooms with a limited audience.
extension AudienceShard {
    /// Starts to report the viewers of a room to the limiter, present ones included.
    mutating func trackLimit(of name: String) {
        guard limitedRooms.insert(name).inserted, let room = roomIndices[name] else { return }
        let live = cells.reduce(0) { $0 + ($1.key.room == room ? $1.live : 0) }
        audienceLimiter.count(name, live)
    }

    /// Stops to report the viewers of a room.
    mutating func untrackLimit(of name: String) {
        limitedRooms.remove(name)
    }

    /// Whether a session needs no further slot: it has one, or is no audience.
    func holdsSlot(_ id: SessionID, room: String) -> Bool {
        if let owner = ownedCodes[id.code], isPresent(owner) { return true }
        guard let index = sessionIndex.find(id.code, in: sessions), self.room(of: index) == room else { return false }
        let session = sessions[index]
        if session.flags.contains(.isExcluded) || isPresent(session.viewer) { return true }
        // A recent viewer resumes with its one connection.
        return session.phase != .new && session.connections <= 1
    }

    /// Whether the participant is in the room, as audience or on stage.
    func holdsSlot(_ key: ViewerKey) -> Bool {
        viewerIndices[key.value].map { isPresent($0) } ?? false
    }

    /// Reserves a slot for an HLS player that qualifies.
    ///
    /// A player that another server answers cannot be refused and counts anyway; a connection reserved its slot on
    /// admission, and a participant that counts keeps its slot.
    ///
    /// - Returns: Nil when no slot is free; otherwise whether one was reserved.
    mutating func reserveSlot(for index: Int) -> Bool? {
        guard !limitedRooms.isEmpty, let name = room(of: index), limitedRooms.contains(name) else { return false }
        let session = sessions[index]
        guard session.phase == .new, session.connections == 0, !isPresent(session.viewer) else { return false }
        guard !session.isServedElsewhere, !session.isLogged, !session.flags.contains(.isRemote) else { return false }
        return audienceLimiter.reserveForViewer(name) ? true : nil
    }

    private func isPresent(_ viewer: Int32) -> Bool {
        guard viewer >= 0, let viewer = viewers[Int(viewer)] else { return false }
        return viewer.isWatching || viewer.isHost
    }
}

/// A viewer that is known beyond one session.
struct Viewer {
    var room: Int32
    var key: ViewerKey
    /// Whether the participant watches, known by the API.
    var isWatching = false
    /// Whether the participant is on stage: none of its players counts.
    var isHost = false
    /// Whether the participant counts as `sdk`: it watches, and none of its players counts.
    var isCountedAsSDK = false
    /// The number of its live sessions.
    var players: Int32 = 0
    /// The number of its sessions in any phase.
    var sessions: Int32 = 0
    /// The codes of its latest ids.
    var codes: [UInt64] = []
    /// The start of the current span counted as `sdk`.
    var since: Int64 = 0
}

/// A participant that counted as `sdk` when an earlier run ended.
struct RecoveredParticipant {
    var room: Int32
    /// The code of its history row.
    var code: UInt64
    var start: Int64
    /// The end of watching, if it does not return.
    var end: Int64
    /// The deadline of its return.
    var deadline: Int64
}
