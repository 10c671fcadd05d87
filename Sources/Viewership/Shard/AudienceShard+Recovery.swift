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
        let isLive = row.end == nil && !row.playback.isContinuous
        var session = ViewerSession(nonce: 0, code: row.code, cell: makeCell(key), since: end, lastHit: end)
        session.flags = [.isCredited, .isRecovered, .isTimed]
        if row.isHeard { session.flags.insert(.isHeard) }
        session.isLogged = row.isLogged
        session.start = row.start
        session.watched = row.watched
        session.stalled = row.stalled
        session.switches = row.switches
        session.noteBytes(Int(clamping: row.bytes))
        for name in row.renditions { session.trail = trails.trail(session.trail, adding: name) }
        session.poll = row.poll
        session.endReason = row.reason ?? .timedOut
        session.phase = isLive ? .live : .ended
        session.mark = isLive ? ViewerSession.never : end
        if !isLive { session.since = row.end == nil ? now : end }
        if isLive { followOn(&session, from: row, lastSeen: lastSeen) }
        // Lines of its log that were told of already may come once more.
        if isLive, row.isLogged { session.mark = session.lastHit }
        // What passed between the last row and the end of the run was watched.
        if row.end == nil, let until = row.watchedUntil { session.noteWatched(max(0, session.lastHit - until)) }
        guard hasSpace(isConnection: true) else { return reject(.full) }
        let place = insert(session)
        recount(place)
        if isLive {
            cells[Int(session.cell)].live += 1
            note(Int(room), 1, at: now)
            if let viewer = row.viewer { _ = attribute(place, to: viewer, at: now) }
            // It stands elsewhere now, and a third run is to find it there.
            tell(place, end: nil, isClosed: false)
            schedule(place, deadline: session.lastHit + timeout(of: place))
        } else {
            tallies[Int(room)].resumable += 1
            if let viewer = row.viewer { _ = attribute(place, to: viewer, at: now) }
            // A third run is to know where it ended, and not to take it for one that went on to the end of this one.
            tell(place, end: session.mark, isClosed: false)
            end + grace <= now && row.end != nil ? close(place) : schedule(place, deadline: session.since + grace)
        }
        if lastSeen + max(grace, hlsTimeout, llhlsTimeout) <= now, sessions[place].phase != .vacant {
            if sessions[place].phase == .live {
                depart(place, endedAt: settledEnd(of: sessions[place]), reason: .timedOut, at: now)
            }
            if sessions[place].phase == .ended { close(place) }
        }
    }

    /// Puts back a session that was proven to watch shortly before an earlier run ended, and whose join it had not written.
    ///
    /// - Parameters:
    ///   - start: Where its watching began.
    ///   - lastHit: When it was proven.
    ///   - end: When a connection closed, or when the earlier run was last known to live.
    ///   - lastSeen: When the earlier run was last known to live.
    mutating func restore(
        _ step: SessionStep,
        room name: String,
        start: Int64,
        lastHit: Int64,
        end: Int64,
        lastSeen: Int64,
        now: Int64
    ) {
        guard index.find(step.code, in: sessions) == nil, let room = makeRoom(name) else { return }
        let dimensions = step.dimensions
        let isConnection = dimensions.playback.isContinuous
        let isGone = isConnection && end < lastSeen
        let until = isConnection ? end : lastHit
        cells[Int(makeCell(room, dimensions))].counts.joins += 1
        restoreWatch(from: start, to: until, room: name, dimensions: dimensions)
        let row = ShardOutput.Session(
            code: step.code,
            shard: number,
            room: name,
            start: start,
            end: isGone ? end : nil,
            watched: UInt32(clamping: max(0, isConnection && !isGone ? 0 : until - start)),
            watchedUntil: isGone ? nil : isConnection ? start : until,
            lastHit: isConnection ? nil : lastHit,
            stalled: 0,
            playback: dimensions.playback,
            rendition: dimensions.rendition,
            renditions: [dimensions.rendition],
            region: dimensions.region,
            client: dimensions.client,
            switches: 0,
            viewer: ViewerKey(stored: step.viewer, isUser: step.isUser),
            estimate: step.estimate,
            isLogged: step.isLogged,
            reason: isGone ? .left : nil,
            isClosed: false
        )
        restore(row, lastSeen: lastSeen, now: now)
        if let place = index.find(step.code, in: sessions) {
            tell(place, end: sessions[place].phase == .ended ? sessions[place].mark : nil, isClosed: false)
        }
    }

    /// Puts back a session that had asked for its first playlist shortly before an earlier run ended, and was not proven to
    /// watch: what it watches counts from there once it is.
    ///
    /// - Parameter since: When it asked.
    mutating func restoreNew(_ step: SessionStep, room name: String, since: Int64, now: Int64) {
        guard index.find(step.code, in: sessions) == nil, hasSpace(), let room = makeRoom(name) else { return }
        let cell = makeCell(room, step.dimensions)
        var session = ViewerSession(nonce: 0, code: step.code, cell: cell, since: since, lastHit: since)
        session.flags = [.isRecovered, .isTimed]
        session.isLogged = step.isLogged
        session.mark = since
        let place = insert(session)
        tallies[Int(room)].unproven += 1
        recount(place)
        if let estimate = step.estimate { hellos[Int32(place)] = estimate }
        let viewer = ViewerKey(stored: step.viewer, isUser: step.isUser)
        if let viewer { _ = attribute(place, to: viewer, at: now) }
        schedule(place, deadline: since + timeout(of: place))
    }

    private mutating func makeCell(_ room: Int32, _ dimensions: Dimensions) -> Int32 {
        makeCell(
            Cell.Key(
                room: room,
                playback: dimensions.playback,
                rendition: names.number(of: dimensions.rendition),
                region: names.number(of: dimensions.region),
                client: dimensions.client
            )
        )
    }

    /// Adds what viewers of a place watched that an earlier run did not write.
    mutating func restoreWatch(from: Int64, to: Int64, room name: String, dimensions: Dimensions) {
        guard from < to, let room = makeRoom(name) else { return }
        cells[Int(makeCell(room, dimensions))].counts.watch += to - from
        output.earlier.append(.init(room: name, dimensions: dimensions, count: .watched(from: from, to: to)))
    }

    /// Of a viewer by requests: the time from its last row to its last request was in no row yet.
    ///
    /// Up to that request the counters have it, so the next one books what they do not have; and who had left before the
    /// end of the run, and is not back, has left where its last request says. Where that is not known, which is so of
    /// histories of an earlier version, it is taken to have been half a poll before the end, as it is on average of
    /// those who watch.
    private func followOn(_ session: inout ViewerSession, from row: ShardOutput.Session, lastSeen: Int64) {
        guard let until = row.watchedUntil else {
            session.flags.insert(.isPaused)
            session.lastHit = min(lastSeen, max(row.start, row.lastHit ?? lastSeen))
            return
        }
        // Known by its player's reports alone: there was never a playlist.
        let isRemote = row.poll == 0 && row.isHeard
        if isRemote { session.flags.insert(.isRemote) }
        let interval = isRemote ? Self.beaconInterval : row.poll > 0 ? Int64(row.poll) : targetDuration
        // A row may be later than what its shard said last.
        session.lastHit = min(lastSeen, max(until, row.lastHit ?? lastSeen - interval / 2))
    }

    /// How long ago each viewer by requests who counts was last heard of, by its place; nothing where there is none.
    func lastHits(at now: Int64) -> [UInt16] {
        guard cells.contains(where: { $0.live > 0 && !$0.key.playback.isContinuous }) else { return [] }
        var ages = [UInt16](repeating: LastHits.nobody, count: sessions.count)
        var end = 0
        for place in sessions.indices where sessions[place].phase == .live && !playback(of: place).isContinuous {
            ages[place] = LastHits.age(now - sessions[place].lastHit)
            end = place + 1
        }
        ages.removeSubrange(end...)
        return ages
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
        cells[Int(makeCell(room, dimensions))].counts += counts
    }

    mutating func restore(_ counts: RoomTally.Counts, room name: String) {
        guard let room = makeRoom(name) else { return reject(.full) }
        tallies[Int(room)].counts += counts
    }
}
