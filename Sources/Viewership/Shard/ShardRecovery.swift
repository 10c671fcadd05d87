import Stage

/// Restoration of the state of an earlier run.
extension AudienceShard {
    /// Restores a session whose join was counted by the earlier run.
    ///
    /// An HLS viewer counts until its timeout; a connection has ended and may resume.
    ///
    /// - Parameters:
    ///   - lastSeen: When the earlier run was last known to live.
    ///   - now: The current time; expired sessions are closed at once.
    mutating func restore(_ row: ShardOutput.Session, lastSeen: Int64, now: Int64) {
        guard let room = makeRoom(row.room) else { return reject(.full) }
        if row.playback == .sdk { return restoreSDKSession(row, room: room, lastSeen: lastSeen, now: now) }
        guard sessionIndex.find(row.code, in: sessions) == nil else { return }
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
        session.flags = [.hasJoined, .isRecovered, .isTimed]
        if row.hasReported { session.flags.insert(.hasReported) }
        session.isLogged = row.isLogged
        session.start = row.start
        session.watched = row.watched
        session.stalled = row.stalled
        session.switches = row.switches
        session.addBytes(Int(clamping: row.bytes))
        for name in row.renditions {
            session.renditionHistory = renditionHistories.extend(session.renditionHistory, adding: name)
        }
        session.poll = row.poll
        session.endReason = row.reason ?? .timedOut
        session.phase = isLive ? .live : .ended
        session.mark = isLive ? ViewerSession.never : end
        if !isLive { session.since = row.end == nil ? now : end }
        if isLive { restorePlayback(&session, from: row, lastSeen: lastSeen) }
        // Log lines that were counted before may be delivered again.
        if isLive, row.isLogged { session.mark = session.lastHit }
        // The time between the last row and the end of the run was watched.
        if row.end == nil, let until = row.watchedUntil { session.addWatchTime(max(0, session.lastHit - until)) }
        guard hasSpace(isConnection: true) else { return reject(.full) }
        let index = insert(session)
        recount(index)
        if isLive {
            cells[Int(session.cell)].live += 1
            changeLiveCount(Int(room), 1, at: now)
            if let viewer = row.viewer { _ = attribute(index, to: viewer, at: now) }
            // Emits a row with the new index for the next restart.
            outputRow(index, end: nil, isClosed: false)
            schedule(index, deadline: session.lastHit + timeout(of: index))
        } else {
            roomCounters[Int(room)].resumable += 1
            if let viewer = row.viewer { _ = attribute(index, to: viewer, at: now) }
            // Emits a row with the end for the next restart.
            outputRow(index, end: session.mark, isClosed: false)
            end + grace <= now && row.end != nil ? close(index) : schedule(index, deadline: session.since + grace)
        }
        if lastSeen + max(grace, hlsTimeout, llhlsTimeout) <= now, sessions[index].phase != .vacant {
            if sessions[index].phase == .live {
                depart(index, endedAt: settledEnd(of: sessions[index]), reason: .timedOut, at: now)
            }
            if sessions[index].phase == .ended { close(index) }
        }
    }

    /// Restores a session that qualified shortly before the kill, and whose join was not written.
    ///
    /// - Parameters:
    ///   - start: The start of watching.
    ///   - lastHit: When the session qualified.
    ///   - end: When the connection closed, or when the earlier run was last known to live.
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
        guard sessionIndex.find(step.code, in: sessions) == nil, let room = makeRoom(name) else { return }
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
        if let index = sessionIndex.find(step.code, in: sessions) {
            outputRow(index, end: sessions[index].phase == .ended ? sessions[index].mark : nil, isClosed: false)
        }
    }

    /// Restores an unqualified session that requested its first playlist shortly before the kill; once it qualifies,
    /// its watch time counts from then.
    ///
    /// - Parameter since: The time of that request.
    mutating func restoreNew(_ step: SessionStep, room name: String, since: Int64, now: Int64) {
        guard sessionIndex.find(step.code, in: sessions) == nil, hasSpace(), let room = makeRoom(name) else { return }
        let cell = makeCell(room, step.dimensions)
        var session = ViewerSession(nonce: 0, code: step.code, cell: cell, since: since, lastHit: since)
        session.flags = [.isRecovered, .isTimed]
        session.isLogged = step.isLogged
        session.mark = since
        let index = insert(session)
        roomCounters[Int(room)].unproven += 1
        recount(index)
        if let estimate = step.estimate { pendingEstimates[Int32(index)] = estimate }
        let viewer = ViewerKey(stored: step.viewer, isUser: step.isUser)
        if let viewer { _ = attribute(index, to: viewer, at: now) }
        schedule(index, deadline: since + timeout(of: index))
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

    /// Adds watch time of a cell that the earlier run did not write.
    mutating func restoreWatch(from: Int64, to: Int64, room name: String, dimensions: Dimensions) {
        guard from < to, let room = makeRoom(name) else { return }
        cells[Int(makeCell(room, dimensions))].counts.watched += to - from
        output.earlier.append(.init(room: name, dimensions: dimensions, count: .watched(from: from, to: to)))
    }

    /// Restores the playback of an HLS viewer between its last row and its last request.
    ///
    /// The counters include the time up to that request, so the next request counts the rest; a viewer that does not
    /// return left at its last request. Without the time of that request, as in histories of earlier versions, it is
    /// assumed to be half a polling interval before the end, which is the average.
    private func restorePlayback(_ session: inout ViewerSession, from row: ShardOutput.Session, lastSeen: Int64) {
        guard let until = row.watchedUntil else {
            session.flags.insert(.isPaused)
            session.lastHit = min(lastSeen, max(row.start, row.lastHit ?? lastSeen))
            return
        }
        // Without a playlist the session is known by reports only.
        let isRemote = row.poll == 0 && row.hasReported
        if isRemote { session.flags.insert(.isRemote) }
        let interval = isRemote ? Self.reportInterval : row.poll > 0 ? Int64(row.poll) : targetDuration
        // The row may be later than the last request that was written.
        session.lastHit = min(lastSeen, max(until, row.lastHit ?? lastSeen - interval / 2))
    }

    /// Returns the ages of the last requests of HLS viewers, by table index; empty without any.
    func lastHits(at now: Int64) -> [UInt16] {
        guard cells.contains(where: { $0.live > 0 && !$0.key.playback.isContinuous }) else { return [] }
        var ages = [UInt16](repeating: LastHits.vacant, count: sessions.count)
        var end = 0
        for index in sessions.indices where sessions[index].phase == .live && !playback(of: index).isContinuous {
            ages[index] = LastHits.age(now - sessions[index].lastHit)
            end = index + 1
        }
        ages.removeSubrange(end...)
        return ages
    }

    private mutating func restoreSDKSession(_ row: ShardOutput.Session, room: Int32, lastSeen: Int64, now: Int64) {
        var closed = row
        closed.end = row.end ?? lastSeen
        closed.reason = .left
        closed.isClosed = true
        closed.watched = UInt32(clamping: max(0, (closed.end ?? lastSeen) - row.start))
        output.sessions.append(closed)
        guard row.end == nil, let viewer = row.viewer else { return }
        let cell = Int(sdkCell(in: room))
        guard lastSeen + grace > now else {
            cells[cell].counts.leaves[.timedOut] += 1
            return
        }
        roomCounters[Int(room)].resumable += 1
        recoveredParticipants[viewer.value] = RecoveredParticipant(
            room: room,
            code: row.code,
            start: row.start,
            end: lastSeen,
            deadline: now + grace
        )
    }

    /// Adds counts of an earlier run.
    mutating func restore(_ counts: AudienceCounts, room name: String, dimensions: Dimensions) {
        guard let room = makeRoom(name) else { return reject(.full) }
        cells[Int(makeCell(room, dimensions))].counts += counts
    }

    mutating func restore(_ counts: RoomCounters.Counts, room name: String) {
        guard let room = makeRoom(name) else { return reject(.full) }
        roomCounters[Int(room)].counts += counts
    }
}
