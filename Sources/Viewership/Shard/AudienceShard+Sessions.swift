import Stage

/// What events do to a session.
extension AudienceShard {
    mutating func opened(_ index: Int, playback: PlaybackProtocol, at: Int64) {
        if sessions[index].connections < .max { sessions[index].connections += 1 }
        switch sessions[index].phase {
        case .vacant: break
        case .new: sessions[index].playback = playback
        case .live: move(index, to: playback, at: at)
        case .ended:
            // It was proven to watch before: it is back from the moment its connection is open.
            sessions[index].playback = playback
            enter(index, since: at, at: at)
        }
    }

    mutating func watched(_ index: Int, since: Int64, at: Int64) {
        guard sessions[index].phase == .new, sessions[index].connections > 0 else { return }
        enter(index, since: since, at: at)
    }

    mutating func closed(_ index: Int, reason: AudienceEvent.CloseReason, at: Int64) {
        guard sessions[index].connections > 0 else { return }
        sessions[index].connections -= 1
        // A reconnect may overtake the end of the connection before it.
        guard sessions[index].connections == 0 else { return }
        switch sessions[index].phase {
        case .vacant, .ended: break
        case .new: remove(index)
        case .live: depart(index, endedAt: at, reason: reason, at: at)
        }
    }

    mutating func requested(_ index: Int, isPlaylist: Bool, playback: PlaybackProtocol, at: Int64) {
        // As long as a connection is open it says all there is to say.
        guard sessions[index].connections == 0 else { return }
        if isPlaylist {
            if sessions[index].lastPlaylist == ViewerSession.never {
                if sessions[index].phase == .new { sessions[index].since = at }
            } else {
                sessions[index].notePoll(at - sessions[index].lastPlaylist, limit: targetDuration)
            }
            sessions[index].lastPlaylist = max(at, sessions[index].lastPlaylist)
        }
        switch sessions[index].phase {
        case .vacant: break
        case .new:
            sessions[index].playback = playback
            sessions[index].lastHit = max(at, sessions[index].lastHit)
            if isPlaylist, at - sessions[index].since >= qualifyingGap {
                enter(index, since: sessions[index].since, at: at)
            }
        case .live:
            let since = sessions[index].lastHit
            if sessions[index].playback != playback {
                move(index, to: playback, at: at)
            } else if at > since {
                change(sessions[index].room) { $0.settledWatch[playback] += at - since }
                sessions[index].lastHit = at
            }
        case .ended:
            sessions[index].playback = playback
            enter(index, since: at, at: at)
        }
        schedule(index, deadline: sessions[index].lastHit + timeouts[playback])
    }

    /// NEW or ENDED to LIVE.
    ///
    /// `since` is where the watching is proven to have begun, at or before `at`.
    private mutating func enter(_ index: Int, since: Int64, at: Int64) {
        let session = sessions[index]
        let playback = session.playback
        let wasSeated = giveUpSeat(of: session.participant, at: at)
        // The time before the change of seats was counted for the participant itself.
        let since = wasSeated ? at : since
        let lastHit = max(at, session.lastHit)
        change(session.room) { counters in
            switch (session.isCredited, wasSeated) {
            case (false, false):
                counters.joins[playback] += 1
            case (false, true):
                // It carries on with the participant's join.
                break
            case (true, false):
                counters.resumable -= 1
            case (true, true):
                // Two joins were counted for what is one viewer again; one of them has left.
                counters.resumable -= 1
                counters.leaves[.sdk][.left] += 1
            }
            counters.live[playback] += 1
            if playback.isContinuous {
                counters.runStarts[playback] += since
            } else {
                counters.settledWatch[playback] += lastHit - since
            }
        }
        sessions[index].isCredited = true
        sessions[index].phase = .live
        sessions[index].since = since
        sessions[index].lastHit = lastHit
        countPlayer(of: session.participant, by: 1)
        if !wasSeated { note(session.room, 1, at: at) }
    }

    /// LIVE to ENDED.
    ///
    /// `endedAt` is where the watching ended, at or before `at`.
    private mutating func depart(_ index: Int, endedAt: Int64, reason: AudienceEvent.CloseReason, at: Int64) {
        let session = sessions[index]
        let playback = session.playback
        settle(session, until: endedAt)
        change(session.room) { $0.live[playback] -= 1 }
        sessions[index].phase = .ended
        sessions[index].endReason = reason
        sessions[index].since = at
        sessions[index].lastPlaylist = ViewerSession.never
        countPlayer(of: session.participant, by: -1)
        if takeSeat(of: session.participant, at: at) {
            // Its join goes on with the participant.
            sessions[index].isCredited = false
        } else {
            change(session.room) { $0.resumable += 1 }
            note(session.room, -1, at: at)
        }
        schedule(index, deadline: at + grace)
    }

    /// ENDED to gone: the leave is counted now.
    private mutating func close(_ index: Int) {
        let session = sessions[index]
        if session.isCredited {
            change(session.room) { counters in
                counters.resumable -= 1
                counters.leaves[session.playback][session.endReason] += 1
            }
        }
        remove(index)
    }

    /// A live session goes on by another protocol: neither a leave nor a join.
    private mutating func move(_ index: Int, to playback: PlaybackProtocol, at: Int64) {
        let session = sessions[index]
        guard session.playback != playback else { return }
        settle(session, until: at)
        change(session.room) { counters in
            counters.live[session.playback] -= 1
            counters.live[playback] += 1
            if playback.isContinuous { counters.runStarts[playback] += at }
        }
        sessions[index].playback = playback
        sessions[index].since = at
        sessions[index].lastHit = max(at, session.lastHit)
    }

    /// Books what a live session watched until `end`.
    private mutating func settle(_ session: ViewerSession, until end: Int64) {
        change(session.room) { counters in
            if session.playback.isContinuous {
                counters.runStarts[session.playback] -= session.since
                counters.settledWatch[session.playback] += max(0, end - session.since)
            } else {
                counters.settledWatch[session.playback] += max(0, end - session.lastHit)
            }
        }
    }

    /// Changes the figures of a room in place.
    private mutating func change(_ room: Int32, _ body: (inout RoomCounters) -> Void) {
        body(&tallies[Int(room)])
    }

    // MARK: Time

    /// Lets the timers up to `now` fire, at most `limit` of them.
    ///
    /// - Returns: whether some are left.
    mutating func advance(to now: Int64, limit: Int) -> Bool {
        for _ in 0..<limit {
            guard let index = wheel.next(now: now) else { return false }
            fire(Int(index))
        }
        return true
    }

    private mutating func fire(_ index: Int) {
        sessions[index].isScheduled = false
        let session = sessions[index]
        let now = wheel.second * 1000
        let silence = session.lastHit + timeouts[session.playback]
        switch session.phase {
        case .vacant:
            freePlaces.append(Int32(index))
        case .new where session.connections == 0:
            silence <= now ? remove(index) : schedule(index, deadline: silence)
        case .live where session.connections == 0:
            guard silence <= now else { return schedule(index, deadline: silence) }
            // The last request was followed by half a poll of watching, on average.
            depart(index, endedAt: session.lastHit + Int64(session.poll) / 2, reason: .timedOut, at: now)
        case .ended:
            let end = session.since + grace
            end <= now ? close(index) : schedule(index, deadline: end)
        case .new, .live:
            // A connection needs no timer: it closes.
            break
        }
    }

    /// Ends every session of the room, for good.
    mutating func end(room name: String, at: Int64) {
        guard let room = roomPlaces[name] else { return }
        dismissParticipants(of: room, at: at)
        for index in sessions.indices where sessions[index].room == room && sessions[index].phase != .vacant {
            let session = sessions[index]
            if session.phase == .live {
                let end = session.playback.isContinuous ? at : min(at, session.lastHit + Int64(session.poll) / 2)
                depart(index, endedAt: end, reason: .roomEnded, at: at)
            }
            sessions[index].phase == .ended ? close(index) : remove(index)
        }
    }
}
