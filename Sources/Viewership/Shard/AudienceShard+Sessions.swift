import Media
import Stage

/// What events do to a session.
extension AudienceShard {
    /// Milliseconds by which a moment may differ that two clocks tell.
    private static let clockError: Int64 = 20

    mutating func opened(_ place: Int, playback: PlaybackProtocol, rendition: String?, at: Int64) {
        sessions[place].connections += 1
        sessions[place].flags.remove(.isRemote)
        relocate(place, playback, rendition, at: at)
        // It was proven to watch before: it is back from the moment its connection is open.
        if sessions[place].phase == .ended {
            enter(place, since: at, at: at)
            if sessions[place].phase == .live { noteStep(.back, place, start: at, at: at) }
        }
        if sessions[place].phase == .new {
            sessions[place].since = at
            noteStep(.opened, place, start: at, at: at)
        }
    }

    mutating func watched(_ place: Int, since: Int64, at: Int64) {
        guard sessions[place].phase == .new, sessions[place].connections > 0 else { return }
        noteStartup(place, max(0, since - sessions[place].since))
        enter(place, since: since, at: at)
    }

    mutating func closed(_ place: Int, reason: AudienceEvent.CloseReason, at: Int64) {
        guard sessions[place].connections > 0 else { return }
        sessions[place].connections -= 1
        // A reconnect may overtake the end of the connection before it.
        guard sessions[place].connections == 0 else { return }
        switch sessions[place].phase {
        case .vacant, .ended: break
        case .new:
            noteStep(.gone, place, start: at, at: at)
            remove(place)
        case .live:
            noteStep(.gone, place, start: at, at: at)
            depart(place, endedAt: at, reason: reason, at: at)
        }
    }

    mutating func requested(_ place: Int, _ event: AudienceEvent, isPlaylist: Bool, at: Int64) {
        // As long as a connection is open it says all there is to say.
        guard sessions[place].connections == 0 else { return }
        if sessions[place].flags.contains(.isRemote) { sessions[place].flags.remove(.isRemote) }
        // Seen by its requests only, so the time since the last one is watched where that one was.
        if sessions[place].phase == .live, !playback(of: place).isContinuous { hit(place, at: at) }
        // One that began before the player went elsewhere, and that is told of only now, does not take it back.
        let began = event.began?.milliseconds ?? at
        let isLate = sessions[place].phase == .live && began < sessions[place].since
        let isOld = event.isLogged && at < sessions[place].lastHit && sessions[place].mark != ViewerSession.never
        if !isLate, !isOld {
            // A playlist says exactly which it is of, and that of the program as it is names none.
            let rendition = isPlaylist ? event.rendition ?? "" : event.rendition
            relocate(place, event.playback, rendition, at: at)
        }
        if isPlaylist, sessions[place].phase != .ended { notePlaylist(place, at: at) }
        if isPlaylist { noteAsked(place, event, at: at) }
        if isOld { extend(place, backTo: at) }
        switch sessions[place].phase {
        case .vacant: break
        case .new:
            sessions[place].lastHit = max(at, sessions[place].lastHit)
            // The line of a log that tells of its first request may come last.
            if isPlaylist, sessions[place].lastHit - sessions[place].since >= qualifyingGap,
                !event.isMediaSeen || isProvenByMedia(place, at: at)
            {
                // What it asks for is still to be told from what others of its client do.
                var receiver = event.isMediaSeen ? receivers[Int32(place)] : nil
                receiver?.hasConnection = waits[Int32(place)] != nil
                enter(place, since: sessions[place].since, at: at)
                if sessions[place].phase == .live { receivers[Int32(place)] = receiver }
            }
        case .live:
            sessions[place].lastHit = max(at, sessions[place].lastHit)
        case .ended:
            guard mayCount(place), !isOld else { break }
            // It was thought to be gone because a log was late: it was not away.
            let wasHere = event.isLogged && at - sessions[place].lastHit < timeout(of: place) - logLag
            if isPlaylist { goOn(place, at: at) }
            enter(place, since: wasHere ? min(sessions[place].mark, at) : at, at: at)
            if isPlaylist { sessions[place].mark = at }
        }
        // As a rule somebody looks at it already.
        guard !sessions[place].flags.contains(.isScheduled) else { return }
        schedule(place, deadline: sessions[place].lastHit + timeout(of: place))
    }

    /// Media that its client is sent next on a connection of which nobody knows whose it is may be its.
    private func noteAsked(_ place: Int, _ event: AudienceEvent, at: Int64) {
        let key = Int32(place)
        guard event.isMediaSeen, !event.isLogged, !event.isElsewhere, let receiver = receivers[key],
            let room = room(of: place)
        else { return }
        let standing: MediaCredits.Standing =
            if waits[key] != nil || receiver.hasConnection {
                .served
            } else {
                sessions[place].phase == .new ? .new : .counting
            }
        credits.asked(receiver.client, room: room, code: sessions[place].code, standing, at: at)
    }

    /// Whether a new session was sent media, or its client was sent some that proves nobody else.
    mutating func isProvenByMedia(_ place: Int, at: Int64) -> Bool {
        let key = Int32(place)
        guard waits[key] == nil, let receiver = receivers[key], let room = room(of: place) else { return true }
        guard credits.take(receiver.client, room: room, code: sessions[place].code, at: at) else {
            lackMedia.insert(key)
            return false
        }
        return true
    }

    /// Who asks rarely is back: it went on to watch for as long as its buffer lasted, if it is known to ask so rarely.
    private mutating func goOn(_ place: Int, at: Int64) {
        let session = sessions[place]
        let interval = at - session.lastHit
        let rest = min(at, session.lastHit + longestBuffer) - session.mark
        if session.interval > targetDuration * 2, interval <= session.interval * 3 / 2, rest > 0,
            session.endReason == .timedOut, !playback(of: place).isContinuous
        {
            cells[Int(session.cell)].counts.watch += rest
            date(place, from: session.mark, now: at, .watched(from: session.mark, to: session.mark + rest))
            sessions[place].noteWatched(rest)
            sessions[place].mark += rest
        }
        sessions[place].noteInterval(interval)
    }

    /// A log tells of a request before those that it told of already.
    private mutating func extend(_ place: Int, backTo at: Int64) {
        let session = sessions[place]
        switch session.phase {
        case .vacant, .ended: break
        case .new: sessions[place].since = min(at, session.since)
        case .live:
            let time = session.start - at
            // The same line, read by another clock, is a little off.
            guard time > Self.clockError, time < timeout(of: place) - logLag, !playback(of: place).isContinuous
            else { return }
            sessions[place].start = at
            sessions[place].noteWatched(time)
            cells[Int(session.cell)].counts.watch += time
            date(place, from: at, now: at, .watched(from: at, to: session.start))
            tell(place, end: nil, formerStart: session.start, isClosed: false)
        }
    }

    private mutating func notePlaylist(_ place: Int, at: Int64) {
        if sessions[place].mark == ViewerSession.never {
            if sessions[place].phase == .new {
                sessions[place].since = at
                // It may have become known only after that, by a log.
                sessions[place].lastHit = at
                noteStep(.asked, place, start: at, at: at)
            }
        } else {
            let isNew = sessions[place].phase == .new
            sessions[place].noteInterval(at - sessions[place].mark, isNew: isNew)
            sessions[place].notePoll(at - sessions[place].mark, limit: targetDuration, isNew: isNew)
        }
        sessions[place].mark = max(at, sessions[place].mark)
    }

    /// Books what a live viewer by requests watched since its last sign of life.
    mutating func hit(_ place: Int, at: Int64) {
        let before = sessions[place].lastHit
        let time = at - before
        guard time > 0 else { return }
        sessions[place].lastHit = at
        guard !sessions[place].flags.contains(.isPaused) else { return }
        sessions[place].noteWatched(time)
        cells[Int(sessions[place].cell)].counts.watch += time
        date(place, from: before, now: at, .watched(from: before, to: at))
    }

    /// NEW or ENDED to LIVE.
    ///
    /// `since` is where the watching is proven to have begun, at or before `at`.
    mutating func enter(_ place: Int, since: Int64, at: Int64) {
        guard !sessions[place].flags.contains(.isExcluded), mayCount(place) else { return }
        let session = sessions[place]
        let room = roomPlace(of: place)
        guard session.phase != .new || clients.mayWatch(place) else {
            // It plays on, and is counted with nobody's from now on.
            exclude(place, .surplus)
            clients.move(place, to: .none, isGone: true)
            return
        }
        // Where every place is taken it waits for one, and asks in vain meanwhile.
        guard let hasPlace = takePlace(for: place) else { return }
        let wasSeated = giveUpSeat(of: session.viewer, at: at)
        // The time before the change of seats was counted for the participant itself.
        let since = wasSeated ? at : since
        if session.phase == .new { noteStep(.proven, place, start: since, at: at) }
        let lastHit = max(at, session.lastHit)
        var estimate: UInt64?
        let wait = session.phase == .new ? waits.removeValue(forKey: Int32(place)) : nil
        receivers[Int32(place)] = nil
        lackMedia.remove(Int32(place))
        if session.phase == .new {
            sessions[place].start = since
            tallies[room].unproven -= 1
            if session.flags.contains(.isHeard) { tallies[room].counts.heard += 1 }
            estimate = announce(place)
        } else if let name = rooms[room], session.mark != ViewerSession.never, session.mark < since {
            output.gaps.append(.init(code: session.code, room: name, from: session.mark, to: since))
        }
        switch (session.flags.contains(.isCredited), wasSeated) {
        case (false, false):
            cells[Int(session.cell)].counts.joins += 1
            date(place, from: since, now: at, .joined(at: since))
        case (false, true):
            // It carries on with the participant's join.
            break
        case (true, false):
            tallies[room].resumable -= 1
        case (true, true):
            // Two joins were counted for what is one viewer again; one of them has left.
            tallies[room].resumable -= 1
            countSeatLeave(in: room, .left)
        }
        cells[Int(session.cell)].live += 1
        if playback(of: place).isContinuous {
            cells[Int(session.cell)].runStarts += since
            date(place, from: since, now: at, .watched(from: since, to: at))
            if session.phase == .new { goOnFromEarlierRun(place, at: since) }
        } else {
            cells[Int(session.cell)].counts.watch += lastHit - since
            sessions[place].noteWatched(lastHit - since)
            date(place, from: since, now: at, .watched(from: since, to: lastHit))
        }
        if session.phase == .ended { sessions[place].mark = ViewerSession.never }
        notePlayed(place)
        sessions[place].flags.insert(.isCredited)
        sessions[place].flags.remove(.isPaused)
        sessions[place].phase = .live
        recount(place)
        sessions[place].since = since
        sessions[place].lastHit = lastHit
        if let wait { noteStartup(place, Int64(wait)) }
        countPlayer(of: session.viewer, by: 1)
        if !wasSeated { note(room, 1, at: at, hasPlace: hasPlace) }
        tell(place, end: nil, estimate: estimate, isClosed: false)
    }

    /// LIVE to ENDED.
    ///
    /// `endedAt` is where the watching ended, at or before `at`.
    mutating func depart(_ place: Int, endedAt: Int64, reason: AudienceEvent.CloseReason, at: Int64) {
        settle(place, until: endedAt)
        let session = sessions[place]
        let room = roomPlace(of: place)
        cells[Int(session.cell)].live -= 1
        sessions[place].phase = .ended
        recount(place)
        sessions[place].endReason = reason
        sessions[place].since = at
        sessions[place].mark = endedAt
        countPlayer(of: session.viewer, by: -1)
        let goesOnSeated = takeSeat(of: session.viewer, at: at)
        if goesOnSeated {
            // Its join goes on with the participant.
            sessions[place].flags.remove(.isCredited)
        } else {
            tallies[room].resumable += 1
            note(room, -1, at: at)
        }
        tell(place, end: endedAt, isClosed: false)
        schedule(place, deadline: at + grace(of: place))
        // Another connection of the same participant counts in the place of this one.
        if goesOnSeated { resume(playersOf: session.viewer, at: at) }
    }

    /// ENDED to gone: the leave is counted now.
    mutating func close(_ place: Int) {
        leave(place)
        remove(place)
    }

    /// ENDED to NEW: the leave is counted now, of one whose connection is open and who may not count at present.
    private mutating func renew(_ place: Int) {
        leave(place)
        sessions[place].renew()
        tallies[roomPlace(of: place)].unproven += 1
        recount(place)
    }

    private mutating func leave(_ place: Int) {
        let session = sessions[place]
        if session.flags.contains(.isCredited) {
            tallies[roomPlace(of: place)].resumable -= 1
            cells[Int(session.cell)].counts.leaves[session.endReason] += 1
            date(place, from: session.mark, now: session.mark, .left(session.endReason, at: session.mark))
        }
        tell(place, end: session.mark, isClosed: true)
    }

    /// A session goes on by another protocol or in another rendition: neither a leave nor a join.
    mutating func relocate(_ place: Int, _ playback: PlaybackProtocol, _ rendition: String?, at: Int64) {
        var key = cells[Int(sessions[place].cell)].key
        let isElsewhere = rendition.map { names[key.rendition] != $0 } ?? false
        guard isElsewhere || key.playback != playback else { return }
        key.playback = playback
        if isElsewhere { key.rendition = names.number(of: rendition) }
        move(place, to: makeCell(key), at: at)
    }

    /// Moves a session between cells; what it watched until now is booked where it was.
    mutating func move(_ place: Int, to cell: Int32, at: Int64) {
        let (old, new) = (Int(sessions[place].cell), Int(cell))
        guard old != new else { return }
        let isSwitch = isSwitch(from: cells[old].key, to: cells[new].key)
        guard sessions[place].phase == .live else {
            sessions[place].cell = cell
            // Who comes back elsewhere than where it was has switched; it is back in this same turn.
            if isSwitch, sessions[place].phase == .ended, sessions[place].flags.contains(.isCredited) {
                countSwitch(place)
                noteMove(place, from: old, at: at)
            }
            return
        }
        settle(place, until: at)
        cells[old].live -= 1
        cells[new].live += 1
        if cells[new].key.playback.isContinuous { cells[new].runStarts += at }
        sessions[place].cell = cell
        sessions[place].since = at
        sessions[place].lastHit = max(at, sessions[place].lastHit)
        if isSwitch {
            notePlayed(place)
            countSwitch(place)
        }
        if isSwitch || cells[old].key.playback != cells[new].key.playback { noteMove(place, from: old, at: at) }
        // So that a later run finds it where it is, and counts no switch twice.
        if isSwitch || cells[old].key.playback != cells[new].key.playback { tell(place, end: nil, isClosed: false) }
    }

    /// Whether who goes from one place to the other has switched its rendition or its protocol.
    ///
    /// HLS with and without low latency are one: a player of low latency begins without.
    private func isSwitch(from old: Cell.Key, to new: Cell.Key) -> Bool {
        let isByHLS = [old.playback, new.playback].allSatisfy { $0 == .hls || $0 == .llhls }
        return old.rendition != new.rendition || old.playback != new.playback && !isByHLS
    }

    private mutating func noteMove(_ place: Int, from cell: Int, at: Int64) {
        guard let room = room(of: place) else { return }
        let from = dimensions(of: cells[cell].key)
        output.moves.append(.init(code: sessions[place].code, room: room, at: at, from: from))
    }

    private mutating func countSwitch(_ place: Int) {
        cells[Int(sessions[place].cell)].counts.switches += 1
        if sessions[place].switches < .max { sessions[place].switches += 1 }
    }

    /// Its rendition is one of those that it played.
    private mutating func notePlayed(_ place: Int) {
        let rendition = names[cells[Int(sessions[place].cell)].key.rendition]
        sessions[place].trail = trails.trail(sessions[place].trail, adding: rendition)
    }

    /// Books what a live session watched until `end`.
    private mutating func settle(_ place: Int, until end: Int64) {
        let session = sessions[place]
        let cell = Int(session.cell)
        let time: Int64
        if playback(of: place).isContinuous {
            cells[cell].runStarts -= session.since
            time = max(0, end - session.since)
        } else {
            time = session.flags.contains(.isPaused) ? 0 : max(0, end - session.lastHit)
            if time > 0 { date(place, from: session.lastHit, now: end, .watched(from: session.lastHit, to: end)) }
        }
        cells[cell].counts.watch += time
        sessions[place].noteWatched(time)
    }

    /// A connection that an earlier run did not live to prove is proven now: what it watched there counts.
    private mutating func goOnFromEarlierRun(_ place: Int, at since: Int64) {
        guard let earlier = interrupted.removeValue(forKey: sessions[place].code), earlier.end <= since else { return }
        let time = earlier.end - earlier.start
        sessions[place].start = earlier.start
        sessions[place].noteWatched(time)
        cells[Int(sessions[place].cell)].counts.watch += time
        date(place, from: earlier.start, now: since, .watched(from: earlier.start, to: earlier.end))
        guard let room = room(of: place), earlier.end < since else { return }
        output.gaps.append(.init(code: sessions[place].code, room: room, from: earlier.end, to: since))
    }

    // MARK: Time

    /// Lets the timers up to `now` fire, at most `limit` of them.
    ///
    /// - Returns: whether some are left.
    mutating func advance(to now: Int64, limit: Int) -> Bool {
        expireRecoveredSeats(at: now)
        interrupted = interrupted.isEmpty ? interrupted : interrupted.filter { $0.value.end + 2 * grace > now }
        for _ in 0..<limit {
            guard let place = wheel.next(now: now, in: sessions) else { return false }
            fire(Int(place))
        }
        return true
    }

    private mutating func fire(_ place: Int) {
        sessions[place].flags.remove(.isScheduled)
        let session = sessions[place]
        guard session.phase != .vacant else { return freePlaces.append(Int32(place)) }
        let now = wheel.second * 1000
        let silence = session.lastHit + timeout(of: place)
        switch session.phase {
        case .vacant: break
        case .new where session.connections == 0:
            silence <= now ? remove(place) : schedule(place, deadline: silence)
        case .live where session.connections == 0:
            guard silence <= now else { return schedule(place, deadline: silence) }
            depart(place, endedAt: settledEnd(of: session), reason: .timedOut, at: now)
        case .ended:
            let end = session.since + grace(of: Int(place))
            guard end <= now else { return schedule(place, deadline: end) }
            session.connections > 0 ? renew(place) : close(place)
        case .new, .live:
            // A connection needs no timer: it closes.
            break
        }
    }

    /// The last request was followed by half a poll of watching, on average.
    func settledEnd(of session: ViewerSession) -> Int64 {
        guard !session.flags.contains(.isPaused) else { return session.lastHit }
        let isRare = session.interval > 2 * targetDuration
        return session.lastHit + (isRare ? min(session.interval, longestBuffer) : Int64(session.poll)) / 2
    }

    /// Ends every session of the room, for good, a number of places at a time.
    ///
    /// - Parameters:
    ///   - progress: how far that has come; the same one each time.
    ///   - limit: places that are looked at.
    /// - Returns: whether some are left to look at.
    mutating func end(room name: String, at: Int64, _ progress: inout RoomEnding, limit: Int = .max) -> Bool {
        guard let room = roomPlaces[name] else { return false }
        // Participants first: none takes its seat again when its player ends.
        let participants = progress.viewers..<min(viewers.count, progress.viewers + min(limit, viewers.count))
        dismissViewers(participants, of: room, at: at)
        progress.viewers = participants.upperBound
        let limit = limit - participants.count
        guard progress.viewers == viewers.count, limit > 0 else { return true }
        let places = progress.sessions..<min(sessions.count, progress.sessions + min(limit, sessions.count))
        for place in places where sessions[place].phase != .vacant && roomPlace(of: place) == Int(room) {
            let session = sessions[place]
            if session.phase == .live {
                depart(place, endedAt: lastMoment(of: place, at: at), reason: .roomEnded, at: at)
            }
            sessions[place].phase == .ended ? close(place) : remove(place)
        }
        progress.sessions = places.upperBound
        return progress.sessions < sessions.count
    }

    /// Until when somebody watched whose room ends; of one whom a log tells of nothing more will be known.
    private func lastMoment(of place: Int, at: Int64) -> Int64 {
        let session = sessions[place]
        guard !playback(of: place).isContinuous else { return at }
        return min(at, settledEnd(of: session) + (session.isLogged ? logLag : 0))
    }

    /// Whether somebody in the room counts, or has ended and may still come back.
    func isPeopled(_ name: String) -> Bool {
        guard let room = roomPlaces[name] else { return false }
        return tallies[Int(room)].resumable > 0 || cells.contains { $0.key.room == room && $0.live > 0 }
    }

    // MARK: News

    /// Says what became of a session, for the history.
    func row(of place: Int, end: Int64?, estimate: UInt64?, isClosed: Bool) -> ShardOutput.Session? {
        let session = sessions[place]
        let key = cells[Int(session.cell)].key
        guard let room = rooms[Int(key.room)], session.phase != .new else { return nil }
        let isWatching = end == nil && !session.flags.contains(.isPaused)
        return ShardOutput.Session(
            code: session.code,
            shard: number,
            place: Int32(place),
            room: room,
            start: session.start,
            end: end,
            watched: session.watched,
            watchedUntil: isWatching ? (key.playback.isContinuous ? session.since : session.lastHit) : nil,
            poll: session.poll,
            stalled: session.stalled,
            playback: key.playback,
            rendition: names[key.rendition],
            renditions: trails[session.trail],
            region: names[key.region],
            client: key.client,
            switches: session.switches,
            bytes: session.bytes,
            viewer: viewerKey(of: session.viewer),
            estimate: estimate,
            isHeard: session.flags.contains(.isHeard),
            isLogged: session.isLogged,
            reason: end == nil ? nil : session.endReason,
            isClosed: isClosed
        )
    }

    mutating func tell(
        _ place: Int,
        end: Int64?,
        formerStart: Int64? = nil,
        estimate: UInt64? = nil,
        isClosed: Bool
    ) {
        guard var row = row(of: place, end: end, estimate: estimate, isClosed: isClosed) else { return }
        row.formerStart = formerStart
        output.sessions.append(row)
    }

    /// A viewer was proven to watch: it is one of the distinct ones.
    ///
    /// - Returns: who it may be.
    private mutating func announce(_ place: Int) -> UInt64? {
        let estimate = hellos.removeValue(forKey: Int32(place))
        guard let room = rooms[roomPlace(of: place)] else { return estimate }
        output.arrivals.append(
            .init(
                room: room,
                viewer: viewerKey(of: sessions[place].viewer),
                estimate: estimate,
                session: sessions[place].code
            )
        )
        return estimate
    }

    /// It was sent media: the first of it ends the wait that began with its first request.
    mutating func delivered(_ place: Int, at: Int64) {
        let session = sessions[place]
        guard session.phase == .new, session.connections == 0, session.mark != ViewerSession.never else { return }
        if waits[Int32(place)] == nil { waits[Int32(place)] = UInt32(clamping: at - session.start) }
    }

    /// How long it waited for its first media; counted once, when it is proven to watch.
    mutating func noteStartup(_ place: Int, _ time: Int64) {
        guard !sessions[place].flags.contains(.isTimed) else { return }
        guard sessions[place].phase != .new else { return waits[Int32(place)] = UInt32(clamping: time) }
        sessions[place].flags.insert(.isTimed)
        let cell = Int(sessions[place].cell)
        cells[cell].counts.startup += time
        cells[cell].counts.startups += 1
        output.startups.append(time)
    }
}
