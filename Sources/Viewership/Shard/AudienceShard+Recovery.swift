import Stage

/// What an earlier run left behind.
extension AudienceShard {
    /// Puts a session of an earlier run back: its join was counted then.
    ///
    /// A viewer by requests goes on to count until its time-out; a connection is gone and may come back.
    ///
    /// - Parameters:
    ///   - lastSeen: when the earlier run was last known to live.
    ///   - now: what is too long ago is closed at once.
    mutating func restore(_ row: ShardOutput.Session, lastSeen: Int64, now: Int64) {
        guard let room = makeRoom(row.room) else { return reject(.full) }
        if row.playback == .sdk { return restoreSeat(row, room: room, lastSeen: lastSeen, now: now) }
        guard index.find(row.code, in: sessions) == nil else { return }
        let key = Cell.Key(
            room: room,
            playback: row.playback,
            rendition: names.number(of: row.rendition),
            region: names.number(of: row.region),
            client: row.client
        )
        let end = row.end ?? lastSeen
        var session = ViewerSession(tail: 0, code: row.code, cell: makeCell(key), since: end, lastHit: end)
        session.flags = row.isHeard ? [.isCredited, .isRecovered, .isHeard] : [.isCredited, .isRecovered]
        session.start = row.start
        session.watched = row.watched
        session.stalled = row.stalled
        session.switches = row.switches
        session.endReason = row.reason ?? .timedOut
        let isLive = row.end == nil && !row.playback.isContinuous
        session.phase = isLive ? .live : .ended
        session.mark = isLive ? ViewerSession.never : end
        if !isLive { session.since = row.end == nil ? now : end }
        guard hasSpace(isConnection: true) else { return reject(.full) }
        let place = insert(session)
        if row.end == nil {
            // What passed between the last row and the end of the run was watched.
            let unbooked = max(0, lastSeen - row.start - Int64(row.watched))
            if row.playback.isContinuous || isLive { sessions[place].noteWatched(unbooked) }
        }
        if isLive {
            cells[Int(session.cell)].live += 1
            note(Int(room), 1, at: now)
            schedule(place, deadline: end + timeout(of: place))
        } else {
            tallies[Int(room)].resumable += 1
            end + grace <= now && row.end != nil ? close(place) : schedule(place, deadline: session.since + grace)
        }
        if lastSeen + max(grace, hlsTimeout, llhlsTimeout) <= now, sessions[place].phase != .vacant {
            if sessions[place].phase == .live { depart(place, endedAt: end, reason: .timedOut, at: now) }
            if sessions[place].phase == .ended { close(place) }
        }
    }

    private mutating func restoreSeat(_ row: ShardOutput.Session, room: Int32, lastSeen: Int64, now: Int64) {
        var closed = row
        closed.end = row.end ?? lastSeen
        closed.reason = .left
        closed.isClosed = true
        closed.watched = UInt32(clamping: max(0, (closed.end ?? lastSeen) - row.start))
        output.sessions.append(closed)
        guard row.end == nil, let viewer = row.viewer else { return }
        let cell = Int(seatCell(in: room))
        guard lastSeen + grace > now else {
            cells[cell].counts.leaves[.timedOut] += 1
            return
        }
        tallies[Int(room)].resumable += 1
        recoveredSeats[viewer.value] = RecoveredSeat(
            room: room,
            code: row.code,
            start: row.start,
            end: lastSeen,
            deadline: now + grace
        )
    }

    /// Takes over what an earlier run counted.
    mutating func restore(_ counts: Cell.Counts, room name: String, dimensions: Dimensions) {
        guard let room = makeRoom(name) else { return reject(.full) }
        let key = Cell.Key(
            room: room,
            playback: dimensions.playback,
            rendition: names.number(of: dimensions.rendition),
            region: names.number(of: dimensions.region),
            client: dimensions.client
        )
        cells[Int(makeCell(key))].counts += counts
    }

    mutating func restore(_ counts: RoomTally.Counts, room name: String) {
        guard let room = makeRoom(name) else { return reject(.full) }
        tallies[Int(room)].counts += counts
    }
}
