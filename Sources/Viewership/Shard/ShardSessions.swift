import Media
import Stage

/// Effects of events on sessions.
extension AudienceShard {
    /// The tolerance between times of two clocks, in milliseconds.
    private static let clockError: Int64 = 20

    mutating func opened(_ index: Int, playback: PlaybackProtocol, rendition: String?, at: Int64) {
        sessions[index].connections += 1
        sessions[index].flags.remove(.isRemote)
        relocate(index, playback, rendition, at: at)
        // A qualified session resumes when its connection opens.
        if sessions[index].phase == .ended {
            enter(index, since: at, at: at)
            if sessions[index].phase == .live { recordStep(.reopened, index, start: at, at: at) }
        }
        if sessions[index].phase == .new {
            sessions[index].since = at
            recordStep(.opened, index, start: at, at: at)
        }
    }

    mutating func watched(_ index: Int, since: Int64, at: Int64) {
        guard sessions[index].phase == .new, sessions[index].connections > 0 else { return }
        recordStartup(index, max(0, since - sessions[index].since))
        enter(index, since: since, at: at)
    }

    mutating func closed(_ index: Int, reason: AudienceEvent.CloseReason, at: Int64) {
        guard sessions[index].connections > 0 else { return }
        sessions[index].connections -= 1
        // A reconnect may precede the close of the old connection.
        guard sessions[index].connections == 0 else { return }
        switch sessions[index].phase {
        case .vacant, .ended: break
        case .new:
            recordStep(.closed, index, start: at, at: at)
            remove(index)
        case .live:
            recordStep(.closed, index, start: at, at: at)
            depart(index, endedAt: at, reason: reason, at: at)
        }
    }

    mutating func requested(_ index: Int, _ event: AudienceEvent, isPlaylist: Bool, at: Int64) {
        // An open connection is authoritative.
        guard sessions[index].connections == 0 else { return }
        if sessions[index].flags.contains(.isRemote) { sessions[index].flags.remove(.isRemote) }
        // The time since the last request counts in the cell of that request.
        if sessions[index].phase == .live, !playback(of: index).isContinuous { hit(index, at: at) }
        // A delayed request from before a switch must not undo the switch.
        let began = event.began?.milliseconds ?? at
        let isLate = sessions[index].phase == .live && began < sessions[index].since
        let isOld = event.isLogged && at < sessions[index].lastHit && sessions[index].mark != ViewerSession.never
        if !isLate, !isOld {
            // A playlist names its rendition exactly; the source has no name.
            let rendition = isPlaylist ? event.rendition ?? "" : event.rendition
            relocate(index, event.playback, rendition, at: at)
        }
        if isPlaylist, sessions[index].phase != .ended { recordPlaylist(index, at: at) }
        if isPlaylist { recordPlaylistAnswer(index, event, at: at) }
        if isOld { extend(index, backTo: at) }
        switch sessions[index].phase {
        case .vacant: break
        case .new:
            sessions[index].lastHit = max(at, sessions[index].lastHit)
            // The log line of the first request may arrive last.
            if isPlaylist, sessions[index].lastHit - sessions[index].since >= qualifyingGap,
                !event.isMediaSeen || isProvenByMedia(index, at: at)
            {
                // Later media is still attributed among the sessions of the client.
                var receiver = event.isMediaSeen ? receivers[Int32(index)] : nil
                receiver?.hasConnection = startupTimes[Int32(index)] != nil
                enter(index, since: sessions[index].since, at: at)
                if sessions[index].phase == .live { receivers[Int32(index)] = receiver }
            }
        case .live:
            sessions[index].lastHit = max(at, sessions[index].lastHit)
        case .ended:
            guard mayCount(index), !isOld else { break }
            // The session timed out because a log was late: it was not interrupted.
            let wasHere = event.isLogged && at - sessions[index].lastHit < timeout(of: index) - logLag
            if isPlaylist { extendToBuffer(index, at: at) }
            enter(index, since: wasHere ? min(sessions[index].mark, at) : at, at: at)
            if isPlaylist { sessions[index].mark = at }
        }
        // Usually a timer is pending already.
        guard !sessions[index].flags.contains(.isScheduled) else { return }
        schedule(index, deadline: sessions[index].lastHit + timeout(of: index))
    }

    /// Registers the session for media that its client receives on an unknown connection.
    private func recordPlaylistAnswer(_ index: Int, _ event: AudienceEvent, at: Int64) {
        let key = Int32(index)
        guard event.isMediaSeen, !event.isLogged, !event.isServedElsewhere, let receiver = receivers[key],
            let room = room(of: index)
        else { return }
        let standing: MediaDeliveryTracker.Standing =
            if startupTimes[key] != nil || receiver.hasConnection {
                .served
            } else {
                sessions[index].phase == .new ? .new : .counting
            }
        mediaDeliveries.recordPlaylist(receiver.client, room: room, code: sessions[index].code, standing, at: at)
    }

    /// Whether a session is qualified by media, or is exempt.
    mutating func isProvenByMedia(_ index: Int, at: Int64) -> Bool {
        let key = Int32(index)
        guard startupTimes[key] == nil, let receiver = receivers[key], let room = room(of: index) else { return true }
        guard mediaDeliveries.consume(receiver.client, room: room, code: sessions[index].code, at: at) else {
            sessionsLackingMedia.insert(key)
            return false
        }
        return true
    }

    /// Extends watch time by the buffer of a session that is known to poll rarely and has resumed.
    private mutating func extendToBuffer(_ index: Int, at: Int64) {
        let session = sessions[index]
        let interval = at - session.lastHit
        let rest = min(at, session.lastHit + longestBuffer) - session.mark
        if session.interval > targetDuration * 2, interval <= session.interval * 3 / 2, rest > 0,
            session.endReason == .timedOut, !playback(of: index).isContinuous
        {
            cells[Int(session.cell)].counts.watched += rest
            backdate(index, from: session.mark, now: at, .watched(from: session.mark, to: session.mark + rest))
            sessions[index].addWatchTime(rest)
            sessions[index].mark += rest
        }
        sessions[index].addPlaylistInterval(interval)
    }

    /// Moves the start of a session back, for a log line about an earlier request.
    private mutating func extend(_ index: Int, backTo at: Int64) {
        let session = sessions[index]
        switch session.phase {
        case .vacant, .ended: break
        case .new: sessions[index].since = min(at, session.since)
        case .live:
            let time = session.start - at
            // The same line read by another clock differs a little.
            guard time > Self.clockError, time < timeout(of: index) - logLag, !playback(of: index).isContinuous
            else { return }
            sessions[index].start = at
            sessions[index].addWatchTime(time)
            cells[Int(session.cell)].counts.watched += time
            backdate(index, from: at, now: at, .watched(from: at, to: session.start))
            outputRow(index, end: nil, previousStart: session.start, isClosed: false)
        }
    }

    private mutating func recordPlaylist(_ index: Int, at: Int64) {
        if sessions[index].mark == ViewerSession.never {
            if sessions[index].phase == .new {
                sessions[index].since = at
                // The session may have become known later, by a log.
                sessions[index].lastHit = at
                recordStep(.requested, index, start: at, at: at)
            }
        } else {
            let isNew = sessions[index].phase == .new
            sessions[index].addPlaylistInterval(at - sessions[index].mark, isNew: isNew)
            sessions[index].addPollSample(at - sessions[index].mark, limit: targetDuration, isNew: isNew)
        }
        sessions[index].mark = max(at, sessions[index].mark)
    }

    /// Counts the time since the last activity of a live HLS viewer.
    mutating func hit(_ index: Int, at: Int64) {
        let before = sessions[index].lastHit
        let time = at - before
        guard time > 0 else { return }
        sessions[index].lastHit = at
        guard !sessions[index].flags.contains(.isPaused) else { return }
        sessions[index].addWatchTime(time)
        cells[Int(sessions[index].cell)].counts.watched += time
        backdate(index, from: before, now: at, .watched(from: before, to: at))
    }

    /// Changes a session from NEW or ENDED to LIVE.
    ///
    /// `since` is the start of watching, at or before `at`.
    mutating func enter(_ index: Int, since: Int64, at: Int64) {
        guard !sessions[index].flags.contains(.isExcluded), mayCount(index) else { return }
        let session = sessions[index]
        let room = roomIndex(of: index)
        guard session.phase != .new || clients.mayWatch(index) else {
            // The session plays on without counting.
            exclude(index, .surplus)
            clients.move(index, to: .none, isGone: true)
            return
        }
        // The session waits for a free slot.
        guard let hasSlot = reserveSlot(for: index) else { return }
        let wasCountedAsSDK = stopCountingAsSDK(of: session.viewer, at: at)
        // The time before was counted for the participant itself.
        let since = wasCountedAsSDK ? at : since
        if session.phase == .new { recordStep(.proven, index, start: since, at: at) }
        let lastHit = max(at, session.lastHit)
        var estimate: UInt64?
        let wait = session.phase == .new ? startupTimes.removeValue(forKey: Int32(index)) : nil
        receivers[Int32(index)] = nil
        sessionsLackingMedia.remove(Int32(index))
        if session.phase == .new {
            sessions[index].start = since
            roomCounters[room].unproven -= 1
            if session.flags.contains(.hasReported) { roomCounters[room].counts.reportingSessions += 1 }
            estimate = recordArrival(index)
        } else if let name = rooms[room], session.mark != ViewerSession.never, session.mark < since {
            output.gaps.append(.init(code: session.code, room: name, from: session.mark, to: since))
        }
        switch (session.flags.contains(.hasJoined), wasCountedAsSDK) {
        case (false, false):
            cells[Int(session.cell)].counts.joins += 1
            backdate(index, from: since, now: at, .joined(at: since))
        case (false, true):
            // The join of the participant is reused.
            break
        case (true, false):
            roomCounters[room].resumable -= 1
        case (true, true):
            // Two joins were counted for one viewer; one of them leaves.
            roomCounters[room].resumable -= 1
            countSDKLeave(in: room, .left)
        }
        cells[Int(session.cell)].live += 1
        if playback(of: index).isContinuous {
            cells[Int(session.cell)].runStarts += since
            backdate(index, from: since, now: at, .watched(from: since, to: at))
            if session.phase == .new { resumeInterrupted(index, at: since) }
        } else {
            cells[Int(session.cell)].counts.watched += lastHit - since
            sessions[index].addWatchTime(lastHit - since)
            backdate(index, from: since, now: at, .watched(from: since, to: lastHit))
        }
        if session.phase == .ended { sessions[index].mark = ViewerSession.never }
        recordRendition(index)
        sessions[index].flags.insert(.hasJoined)
        sessions[index].flags.remove(.isPaused)
        sessions[index].phase = .live
        recount(index)
        sessions[index].since = since
        sessions[index].lastHit = lastHit
        if let wait { recordStartup(index, Int64(wait)) }
        countPlayer(of: session.viewer, by: 1)
        if !wasCountedAsSDK { changeLiveCount(room, 1, at: at, hasSlot: hasSlot) }
        outputRow(index, end: nil, estimate: estimate, isClosed: false)
    }

    /// Changes a session from LIVE to ENDED.
    ///
    /// `endedAt` is the end of watching, at or before `at`.
    mutating func depart(_ index: Int, endedAt: Int64, reason: AudienceEvent.CloseReason, at: Int64) {
        settle(index, until: endedAt)
        let session = sessions[index]
        let room = roomIndex(of: index)
        cells[Int(session.cell)].live -= 1
        sessions[index].phase = .ended
        recount(index)
        sessions[index].endReason = reason
        sessions[index].since = at
        sessions[index].mark = endedAt
        countPlayer(of: session.viewer, by: -1)
        let continuesAsSDK = startCountingAsSDK(of: session.viewer, at: at)
        if continuesAsSDK {
            // The join stays with the participant.
            sessions[index].flags.remove(.hasJoined)
        } else {
            roomCounters[room].resumable += 1
            changeLiveCount(room, -1, at: at)
        }
        outputRow(index, end: endedAt, isClosed: false)
        schedule(index, deadline: at + grace(of: index))
        // Another connection of the same participant takes over.
        if continuesAsSDK { resume(playersOf: session.viewer, at: at) }
    }

    /// Removes an ENDED session and counts its leave.
    mutating func close(_ index: Int) {
        leave(index)
        remove(index)
    }

    /// Changes a session with an open connection from ENDED to NEW, because it may not count, and counts its leave.
    private mutating func renew(_ index: Int) {
        leave(index)
        sessions[index].renew()
        roomCounters[roomIndex(of: index)].unproven += 1
        recount(index)
    }

    private mutating func leave(_ index: Int) {
        let session = sessions[index]
        if session.flags.contains(.hasJoined) {
            roomCounters[roomIndex(of: index)].resumable -= 1
            cells[Int(session.cell)].counts.leaves[session.endReason] += 1
            backdate(index, from: session.mark, now: session.mark, .left(session.endReason, at: session.mark))
        }
        outputRow(index, end: session.mark, isClosed: true)
    }

    /// Moves a session to another protocol or rendition, without a leave or join.
    mutating func relocate(_ index: Int, _ playback: PlaybackProtocol, _ rendition: String?, at: Int64) {
        var key = cells[Int(sessions[index].cell)].key
        let isServedElsewhere = rendition.map { names[key.rendition] != $0 } ?? false
        guard isServedElsewhere || key.playback != playback else { return }
        key.playback = playback
        if isServedElsewhere { key.rendition = names.number(of: rendition) }
        move(index, to: makeCell(key), at: at)
    }

    /// Moves a session between cells; its watch time so far counts in the old one.
    mutating func move(_ index: Int, to cell: Int32, at: Int64) {
        let (old, new) = (Int(sessions[index].cell), Int(cell))
        guard old != new else { return }
        let isSwitch = isSwitch(from: cells[old].key, to: cells[new].key)
        guard sessions[index].phase == .live else {
            sessions[index].cell = cell
            // A session that resumes elsewhere has switched.
            if isSwitch, sessions[index].phase == .ended, sessions[index].flags.contains(.hasJoined) {
                countSwitch(index)
                recordMove(index, from: old, at: at)
            }
            return
        }
        settle(index, until: at)
        cells[old].live -= 1
        cells[new].live += 1
        if cells[new].key.playback.isContinuous { cells[new].runStarts += at }
        sessions[index].cell = cell
        sessions[index].since = at
        sessions[index].lastHit = max(at, sessions[index].lastHit)
        if isSwitch {
            recordRendition(index)
            countSwitch(index)
        }
        if isSwitch || cells[old].key.playback != cells[new].key.playback { recordMove(index, from: old, at: at) }
        // The next restart finds the new cell, and does not count the switch twice.
        if isSwitch || cells[old].key.playback != cells[new].key.playback {
            outputRow(index, end: nil, isClosed: false)
        }
    }

    /// Whether a move is a switch of rendition or protocol.
    ///
    /// HLS and LL-HLS are the same protocol here, because an LL-HLS player begins with HLS.
    private func isSwitch(from old: Cell.Key, to new: Cell.Key) -> Bool {
        let isByHLS = [old.playback, new.playback].allSatisfy { $0 == .hls || $0 == .llhls }
        return old.rendition != new.rendition || old.playback != new.playback && !isByHLS
    }

    private mutating func recordMove(_ index: Int, from cell: Int, at: Int64) {
        guard let room = room(of: index) else { return }
        let from = dimensions(of: cells[cell].key)
        output.moves.append(.init(code: sessions[index].code, room: room, at: at, from: from))
    }

    private mutating func countSwitch(_ index: Int) {
        cells[Int(sessions[index].cell)].counts.switches += 1
        if sessions[index].switches < .max { sessions[index].switches += 1 }
    }

    /// Adds the current rendition to the session's history.
    private mutating func recordRendition(_ index: Int) {
        let rendition = names[cells[Int(sessions[index].cell)].key.rendition]
        sessions[index].renditionHistory = renditionHistories.extend(
            sessions[index].renditionHistory,
            adding: rendition
        )
    }

    /// Counts the watch time of a live session until `end`.
    private mutating func settle(_ index: Int, until end: Int64) {
        let session = sessions[index]
        let cell = Int(session.cell)
        let time: Int64
        if playback(of: index).isContinuous {
            cells[cell].runStarts -= session.since
            time = max(0, end - session.since)
        } else {
            time = session.flags.contains(.isPaused) ? 0 : max(0, end - session.lastHit)
            if time > 0 { backdate(index, from: session.lastHit, now: end, .watched(from: session.lastHit, to: end)) }
        }
        cells[cell].counts.watched += time
        sessions[index].addWatchTime(time)
    }

    /// Counts the time before a kill of a connection that qualifies only now.
    private mutating func resumeInterrupted(_ index: Int, at since: Int64) {
        guard let earlier = interrupted.removeValue(forKey: sessions[index].code), earlier.end <= since else { return }
        let time = earlier.end - earlier.start
        sessions[index].start = earlier.start
        sessions[index].addWatchTime(time)
        cells[Int(sessions[index].cell)].counts.watched += time
        backdate(index, from: earlier.start, now: since, .watched(from: earlier.start, to: earlier.end))
        guard let room = room(of: index), earlier.end < since else { return }
        output.gaps.append(.init(code: sessions[index].code, room: room, from: earlier.end, to: since))
    }

    // MARK: Timers

    /// Fires at most `limit` timers that are due at `now`.
    ///
    /// - Returns: Whether more are due.
    mutating func advance(to now: Int64, limit: Int) -> Bool {
        expireRecoveredParticipants(at: now)
        interrupted = interrupted.isEmpty ? interrupted : interrupted.filter { $0.value.end + 2 * grace > now }
        for _ in 0..<limit {
            guard let index = wheel.next(now: now, in: sessions) else { return false }
            fire(Int(index))
        }
        return true
    }

    private mutating func fire(_ index: Int) {
        sessions[index].flags.remove(.isScheduled)
        let session = sessions[index]
        guard session.phase != .vacant else { return freeIndices.append(Int32(index)) }
        let now = wheel.second * 1000
        let silence = session.lastHit + timeout(of: index)
        switch session.phase {
        case .vacant: break
        case .new where session.connections == 0:
            silence <= now ? remove(index) : schedule(index, deadline: silence)
        case .live where session.connections == 0:
            guard silence <= now else { return schedule(index, deadline: silence) }
            depart(index, endedAt: settledEnd(of: session), reason: .timedOut, at: now)
        case .ended:
            let end = session.since + grace(of: Int(index))
            guard end <= now else { return schedule(index, deadline: end) }
            session.connections > 0 ? renew(index) : close(index)
        case .new, .live:
            // A connection ends by its close.
            break
        }
    }

    /// The last request was followed by half a polling interval of watching on average.
    func settledEnd(of session: ViewerSession) -> Int64 {
        guard !session.flags.contains(.isPaused) else { return session.lastHit }
        let isRare = session.interval > 2 * targetDuration
        return session.lastHit + (isRare ? min(session.interval, longestBuffer) : Int64(session.poll)) / 2
    }

    /// Ends the sessions of a room, a limited number at a time.
    ///
    /// - Parameters:
    ///   - progress: The progress; pass the same value each time.
    ///   - limit: The maximum number of entries to examine.
    /// - Returns: Whether entries are left.
    mutating func end(room name: String, at: Int64, _ progress: inout RoomEndProgress, limit: Int = .max) -> Bool {
        guard let room = roomIndices[name] else { return false }
        // Participants first, so that none counts again when its player ends.
        let participants = progress.viewers..<min(viewers.count, progress.viewers + min(limit, viewers.count))
        removeViewers(participants, of: room, at: at)
        progress.viewers = participants.upperBound
        let limit = limit - participants.count
        guard progress.viewers == viewers.count, limit > 0 else { return true }
        let range = progress.sessions..<min(sessions.count, progress.sessions + min(limit, sessions.count))
        for index in range where sessions[index].phase != .vacant && roomIndex(of: index) == Int(room) {
            let session = sessions[index]
            if session.phase == .live {
                depart(index, endedAt: lastMoment(of: index, at: at), reason: .roomEnded, at: at)
            }
            sessions[index].phase == .ended ? close(index) : remove(index)
        }
        progress.sessions = range.upperBound
        return progress.sessions < sessions.count
    }

    /// Returns the end of watching of a session whose room ends; adds the lag of a log, which will report no more.
    private func lastMoment(of index: Int, at: Int64) -> Int64 {
        let session = sessions[index]
        guard !playback(of: index).isContinuous else { return at }
        return min(at, settledEnd(of: session) + (session.isLogged ? logLag : 0))
    }

    /// Whether the room has live sessions, or ended ones that may resume.
    func hasViewers(_ name: String) -> Bool {
        guard let room = roomIndices[name] else { return false }
        return roomCounters[Int(room)].resumable > 0 || cells.contains { $0.key.room == room && $0.live > 0 }
    }

    // MARK: Output

    /// Returns the history row of a session; nil before it qualifies.
    func row(of index: Int, end: Int64?, estimate: UInt64?, isClosed: Bool) -> ShardOutput.Session? {
        let session = sessions[index]
        let key = cells[Int(session.cell)].key
        guard let room = rooms[Int(key.room)], session.phase != .new else { return nil }
        let isWatching = end == nil && !session.flags.contains(.isPaused)
        return ShardOutput.Session(
            code: session.code,
            shard: number,
            index: Int32(index),
            room: room,
            start: session.start,
            end: end,
            watched: session.watched,
            watchedUntil: isWatching ? (key.playback.isContinuous ? session.since : session.lastHit) : nil,
            poll: session.poll,
            stalled: session.stalled,
            playback: key.playback,
            rendition: names[key.rendition],
            renditions: renditionHistories[session.renditionHistory],
            region: names[key.region],
            client: key.client,
            switches: session.switches,
            bytes: session.bytes,
            viewer: viewerKey(of: session.viewer),
            estimate: estimate,
            hasReported: session.flags.contains(.hasReported),
            isLogged: session.isLogged,
            reason: end == nil ? nil : session.endReason,
            isClosed: isClosed
        )
    }

    mutating func outputRow(
        _ index: Int,
        end: Int64?,
        previousStart: Int64? = nil,
        estimate: UInt64? = nil,
        isClosed: Bool
    ) {
        guard var row = row(of: index, end: end, estimate: estimate, isClosed: isClosed) else { return }
        row.previousStart = previousStart
        output.sessions.append(row)
    }

    /// Emits a qualified viewer.
    ///
    /// - Returns: The estimated viewer.
    private mutating func recordArrival(_ index: Int) -> UInt64? {
        let estimate = pendingEstimates.removeValue(forKey: Int32(index))
        guard let room = rooms[roomIndex(of: index)] else { return estimate }
        output.arrivals.append(
            .init(
                room: room,
                viewer: viewerKey(of: sessions[index].viewer),
                estimate: estimate,
                session: sessions[index].code
            )
        )
        return estimate
    }

    /// Records the first media of an unqualified session, which ends its startup.
    mutating func delivered(_ index: Int, at: Int64) {
        let session = sessions[index]
        guard session.phase == .new, session.connections == 0, session.mark != ViewerSession.never else { return }
        if startupTimes[Int32(index)] == nil { startupTimes[Int32(index)] = UInt32(clamping: at - session.start) }
    }

    /// Counts the startup time, once the session qualifies.
    mutating func recordStartup(_ index: Int, _ time: Int64) {
        guard !sessions[index].flags.contains(.isTimed) else { return }
        guard sessions[index].phase != .new else { return startupTimes[Int32(index)] = UInt32(clamping: time) }
        sessions[index].flags.insert(.isTimed)
        let cell = Int(sessions[index].cell)
        cells[cell].counts.startup += time
        cells[cell].counts.startups += 1
        output.startups.append(time)
    }
}
