import Stage

/// Viewers who are known beyond a session, and participants who watch (RECV_ONLY, known by the API) among them.
///
/// A participant without a player of its own counts as `sdk`: it is *seated*. As soon as a player of its own counts, it
/// gives up the seat, and takes it back when the last of them ends; its one join goes along, so that a viewer is never
/// counted twice and never joins twice. Further players of a participant that watches do not count, until the one that
/// does has ended or the participant has left; none counts while it is on stage. A viewer and its sessions live in the
/// same shard, which makes this one step.
extension AudienceShard {
    /// The participant watches; saying it again changes nothing.
    mutating func participantWatching(room name: String, key: ViewerKey, at: Int64) {
        guard let room = makeRoom(name) else { return reject(.full) }
        guard let place = makeViewer(key, room: room) else { return reject(.full) }
        guard let viewer = viewers[Int(place)], !viewer.isWatching else { return }
        viewers[Int(place)]?.isWatching = true
        viewers[Int(place)]?.isHost = false
        tallies[Int(room)].attributed += Int(viewer.players)
        hold(playersOf: place, beyond: 1, at: at)
        defer { if viewer.isHost { resume(playersOf: place, at: at) } }
        let recovered = recoveredSeats.removeValue(forKey: key.value)
        if let recovered { tallies[Int(recovered.room)].resumable -= 1 }
        guard takeSeat(of: place, at: at) else {
            // A player of its own counts in its place: two joins were counted for what is one viewer again.
            if recovered != nil { countSeatLeave(in: Int(room), .left) }
            return
        }
        note(Int(room), 1, at: at)
        if recovered == nil {
            cells[Int(seatCell(in: room))].counts.joins += 1
            output.arrivals.append(.init(room: name, viewer: key, session: key.value))
        }
    }

    /// The participant is on stage; saying it again changes nothing.
    mutating func participantHosting(room name: String, key: ViewerKey, at: Int64) {
        guard let room = makeRoom(name), let place = makeViewer(key, room: room) else { return reject(.full) }
        guard let viewer = viewers[Int(place)], !viewer.isHost else { return }
        viewers[Int(place)]?.isHost = true
        standUp(place, reason: .left, at: at)
        hold(playersOf: place, beyond: 0, at: at)
    }

    /// The participant neither watches nor is on stage any more; players of its own count on, or count now.
    mutating func participantLeft(room name: String, key: ViewerKey, at: Int64) {
        guard roomPlaces[name] != nil, let place = viewerPlaces[key.value] else { return }
        viewers[Int(place)]?.isHost = false
        standUp(place, reason: .left, at: at)
        resume(playersOf: place, at: at)
        dropViewerIfUnused(place)
    }

    /// Whether the session at `place` may count, if it is proven to watch.
    func mayCount(_ place: Int) -> Bool {
        let owner = sessions[place].viewer
        guard owner >= 0, let viewer = viewers[Int(owner)] else { return true }
        return !viewer.isHost && !(viewer.isWatching && viewer.players > 0)
    }

    /// Whether the session at `place` is a player of somebody on stage.
    func isHosts(_ place: Int) -> Bool {
        let owner = sessions[place].viewer
        return owner >= 0 && viewers[Int(owner)]?.isHost ?? false
    }

    /// Players of the viewer that count, beyond so many, no longer do; they play on.
    private mutating func hold(playersOf viewer: Int32, beyond count: Int32, at: Int64) {
        guard var surplus = viewers[Int(viewer)].map({ $0.players - count }), surplus > 0 else { return }
        for place in sessions.indices where surplus > 0 {
            guard sessions[place].phase == .live, sessions[place].viewer == viewer else { continue }
            depart(place, endedAt: at, reason: .left, at: at)
            surplus -= 1
        }
    }

    /// Connections of the viewer that are proven to watch and did not count do so from now on, as far as they may; who is
    /// seen by its requests alone is proven by those to come.
    mutating func resume(playersOf viewer: Int32, at: Int64) {
        guard viewer >= 0, var rest = viewers[Int(viewer)]?.sessions, rest > 0 else { return }
        for place in sessions.indices where rest > 0 {
            let session = sessions[place]
            guard session.phase != .vacant, session.viewer == viewer else { continue }
            rest -= 1
            guard session.phase != .live else { continue }
            if session.connections == 0 {
                if session.phase == .new { sessions[place].since = at }
            } else if session.flags.contains(.isTimed) || waits[Int32(place)] != nil {
                enter(place, since: at, at: at)
            }
        }
    }

    /// Says that the session at `place` is one of the viewer's players.
    ///
    /// - Returns: false when the session is another viewer's.
    mutating func attribute(_ place: Int, to key: ViewerKey, at: Int64) -> Bool {
        let owner = sessions[place].viewer
        if owner >= 0 { return viewers[Int(owner)]?.key == key }
        let room = Int32(roomPlace(of: place))
        guard let viewer = makeViewer(key, room: room) else {
            reject(.full)
            return true
        }
        guard viewers[Int(viewer)].map({ $0.sessions < Self.sessionsPerViewer }) ?? false else {
            exclude(place, .surplus)
            return true
        }
        viewers[Int(viewer)]?.sessions += 1
        sessions[place].viewer = viewer
        own(sessions[place].code, by: viewer)
        guard sessions[place].phase == .live else { return true }
        guard mayCount(place) else {
            // It counts no more: its viewer is on stage, or counts already.
            countPlayer(of: viewer, by: 1)
            depart(place, endedAt: at, reason: .left, at: at)
            return true
        }
        let wasSeated = giveUpSeat(of: viewer, at: at)
        countPlayer(of: viewer, by: 1)
        if wasSeated {
            // Two viewers turn out to be one.
            countSeatLeave(in: Int(room), .left)
            note(Int(room), -1, at: at)
        }
        return true
    }

    /// The viewer stops to count by itself, because a player of its own does.
    ///
    /// - Returns: whether it did count by itself.
    mutating func giveUpSeat(of place: Int32, at: Int64) -> Bool {
        guard place >= 0, let viewer = viewers[Int(place)], viewer.isSeated else { return false }
        viewers[Int(place)]?.isSeated = false
        let cell = Int(seatCell(in: viewer.room))
        cells[cell].live -= 1
        cells[cell].runStarts -= viewer.since
        cells[cell].counts.watch += max(0, at - viewer.since)
        tell(viewer, end: at)
        return true
    }

    /// The viewer counts by itself, if it watches and no player of its own does.
    ///
    /// - Returns: whether it took the seat.
    mutating func takeSeat(of place: Int32, at: Int64) -> Bool {
        guard place >= 0, var viewer = viewers[Int(place)] else { return false }
        guard viewer.isWatching, !viewer.isSeated, viewer.players == 0 else { return false }
        viewer.isSeated = true
        viewer.since = at
        viewers[Int(place)] = viewer
        let cell = Int(seatCell(in: viewer.room))
        cells[cell].live += 1
        cells[cell].runStarts += at
        tell(viewer, end: nil)
        return true
    }

    /// A session of the viewer became live (1) or ended (-1).
    mutating func countPlayer(of place: Int32, by change: Int32) {
        guard place >= 0, let viewer = viewers[Int(place)] else { return }
        let players = viewer.players + change
        let room = Int(viewer.room)
        if viewer.isWatching { tallies[room].attributed += Int(change) }
        tallies[room].surplus += Int(max(0, players - 1) - max(0, viewer.players - 1))
        viewers[Int(place)]?.players = players
    }

    /// A session of the viewer is forgotten.
    mutating func releaseViewer(of place: Int) {
        let viewer = sessions[place].viewer
        guard viewer >= 0 else { return }
        sessions[place].viewer = -1
        viewers[Int(viewer)]?.sessions -= 1
        dropViewerIfUnused(viewer)
    }

    /// Participants of a room that ends: those in some places, and those of an earlier run who are not back.
    mutating func dismissViewers(_ places: Range<Int>, of room: Int32, at: Int64) {
        for place in places where viewers[place]?.room == room {
            viewers[place]?.isHost = false
            standUp(Int32(place), reason: .roomEnded, at: at)
        }
        for (key, seat) in recoveredSeats where seat.room == room { expire(seat, key: key, reason: .roomEnded) }
    }

    func viewerKey(of place: Int32) -> ViewerKey? {
        place >= 0 ? viewers[Int(place)]?.key : nil
    }

    /// A participant's seat is no longer taken, for good.
    mutating func countSeatLeave(in room: Int, _ reason: AudienceEvent.CloseReason) {
        cells[Int(seatCell(in: Int32(room)))].counts.leaves[reason] += 1
    }

    /// Participants of an earlier run who did not come back in time.
    mutating func expireRecoveredSeats(at now: Int64) {
        guard !recoveredSeats.isEmpty else { return }
        for (key, seat) in recoveredSeats where seat.deadline <= now { expire(seat, key: key, reason: .timedOut) }
    }

    private mutating func expire(_ seat: RecoveredSeat, key: UInt64, reason: AudienceEvent.CloseReason) {
        recoveredSeats[key] = nil
        tallies[Int(seat.room)].resumable -= 1
        countSeatLeave(in: Int(seat.room), reason)
    }

    mutating func seatCell(in room: Int32) -> Int32 {
        makeCell(Cell.Key(room: room, playback: .sdk))
    }

    private mutating func standUp(_ place: Int32, reason: AudienceEvent.CloseReason, at: Int64) {
        defer { dropViewerIfUnused(place) }
        guard let viewer = viewers[Int(place)], viewer.isWatching else { return }
        viewers[Int(place)]?.isWatching = false
        tallies[Int(viewer.room)].attributed -= Int(viewer.players)
        if giveUpSeat(of: place, at: at) {
            countSeatLeave(in: Int(viewer.room), reason)
            note(Int(viewer.room), -1, at: at)
        }
    }

    /// An id was made for the viewer, which may use it for a player.
    ///
    /// - Returns: false when it is another one's, or there is no place for the viewer.
    mutating func expect(_ id: SessionID, of key: ViewerKey, room name: String) -> Bool {
        if let owner = ownedCodes[id.code] { return viewers[Int(owner)]?.key == key }
        guard let room = makeRoom(name), let viewer = makeViewer(key, room: room) else {
            reject(.full)
            return false
        }
        own(id.code, by: viewer)
        return true
    }

    /// The id with this proof is the viewer's, before its session is known and when that is forgotten.
    private mutating func own(_ code: UInt64, by viewer: Int32) {
        guard ownedCodes.updateValue(viewer, forKey: code) == nil else { return }
        viewers[Int(viewer)]?.codes.append(code)
        guard let codes = viewers[Int(viewer)]?.codes, codes.count > Int(Self.sessionsPerViewer) else { return }
        ownedCodes[codes[0]] = nil
        viewers[Int(viewer)]?.codes.removeFirst()
    }

    /// - Returns: nil when there is no place for another one.
    private mutating func makeViewer(_ key: ViewerKey, room: Int32) -> Int32? {
        if let place = viewerPlaces[key.value] { return place }
        // A session tells its viewer by as many bits as it tells another session.
        guard viewers.count < SessionTable.limit || !freeViewers.isEmpty else { return nil }
        let viewer = Viewer(room: room, key: key)
        let place: Int32
        if let free = freeViewers.popLast() {
            place = free
            viewers[Int(free)] = viewer
        } else {
            place = Int32(viewers.count)
            viewers.append(viewer)
        }
        viewerPlaces[key.value] = place
        tallies[Int(room)].occupants += 1
        return place
    }

    private mutating func dropViewerIfUnused(_ place: Int32) {
        guard let viewer = viewers[Int(place)], viewer.sessions == 0, !viewer.isWatching, !viewer.isHost else { return }
        for code in viewer.codes { ownedCodes[code] = nil }
        viewerPlaces[viewer.key.value] = nil
        tallies[Int(viewer.room)].occupants -= 1
        viewers[Int(place)] = nil
        freeViewers.append(place)
    }

    /// Each time in a seat is a row of its own in the history.
    private mutating func tell(_ viewer: Viewer, end: Int64?) {
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
