import Media
import Stage

@testable import Viewership

/// The crowd played to a ledger.
extension Oracle {
    /// A ledger, the ids of the players at it, and what a disk would hold of it.
    private struct Run {
        var stand = Stand()
        var other: Stand?
        var history = MemoryHistory()
        var sids: [String] = []
        var next = 0
        /// When the gateway was last started, in milliseconds: nobody was sent media by it before.
        var began = 0
    }

    /// Plays everything, and gives the ledger and its history.
    func play() -> (stand: Stand, history: MemoryHistory) {
        var run = Run()
        run.stand.ledger.keepHistory()
        run.sids = players.map { run.stand.ledger.makeSession(room: Self.rooms[$0.room]) }
        for second in 0...end / 1000 + 60 {
            step(&run, second, .none)
            run.history.write(run.stand.ledger.takeHistory())
        }
        return (run.stand, run.history)
    }

    /// Plays everything and compares it with the truth at each second.
    func run(_ mutation: Mutation = .none, crash: Crash? = nil) -> Verdict {
        judged(mutation, crash: crash).verdict
    }

    /// The same, with the figures of the end.
    func judged(_ mutation: Mutation = .none, crash: Crash? = nil) -> (verdict: Verdict, end: ViewershipTotals) {
        var run = Run()
        var verdict = Verdict()
        run.stand.ledger.keepHistory()
        for room in Self.rooms { run.stand.ledger.roomBegan(room, sid: "RM-" + room) }
        run.sids = players.map { run.stand.ledger.makeSession(room: Self.rooms[$0.room]) }
        let intruders = Self.intruders(mutation)
        if mutation == .twoGateways { run.other = Stand(clock: run.stand.clock, start: run.stand.start) }
        var truth = Truth(players)
        // The last live count has gone after the longest time-out; the last leave is final after the grace time more.
        let gone = end / 1000 + 31
        for second in 0...gone + 15 {
            if let crash, second == crash.back { restart(&run, at: second, mutation) }
            if let crash, (crash.at..<crash.back).contains(second) {
                skip(&run, until: second)
                _ = truth.range(at: second * 1000)
                continue
            }
            step(&run, second, mutation)
            if second % 2 == 0, second < end / 1000 {
                for sid in intruders {
                    run.stand.record(sid, .playlistServed, at: Double(second), by: .hls, room: Self.rooms[0])
                }
            }
            let range = truth.range(at: second * 1000)
            // What is on disk is of the second before the kill.
            if crash != nil { run.history.write(run.stand.ledger.takeHistory()) }
            let totals = totals(of: run)
            let isReturning = crash.map { ($0.at..<$0.over + 31).contains(second) } ?? false
            isReturning ? judgeIdentities(totals, &verdict) : compare(totals, range, &verdict)
            if second >= gone, totals.total.concurrent != 0 { verdict.leftOver += 1 }
        }
        let end = totals(of: run)
        judgeEnd(end, crash, &verdict)
        return (verdict, end)
    }

    private func totals(of run: Run) -> ViewershipTotals {
        var totals = run.stand.ledger.totals()
        if let other = run.other?.ledger.totals() {
            totals.total.add(other.total)
            totals.rooms += other.rooms
        }
        return totals
    }

    private func step(_ run: inout Run, _ second: Int, _ mutation: Mutation) {
        while run.next < events.count, events[run.next].at <= second * 1000 {
            play(events[run.next], on: &run, mutation)
            run.next += 1
        }
        run.stand.clock.move(to: run.stand.moment(Double(second)))
        guard mutation != .stoppedClock else { return }
        run.stand.ledger.advance(to: run.stand.clock.now)
        run.other?.ledger.advance(to: run.stand.clock.now)
    }

    /// What happens while no gateway runs, nobody counts.
    private func skip(_ run: inout Run, until second: Int) {
        while run.next < events.count, events[run.next].at <= second * 1000 { run.next += 1 }
        run.stand.clock.move(to: run.stand.moment(Double(second)))
    }

    /// Another gateway begins with what is on disk, and everybody who watches comes back to it.
    private func restart(_ run: inout Run, at second: Int, _ mutation: Mutation) {
        // What happened until now happened to nobody; those who watch now are told of below.
        skip(&run, until: second)
        let before = run.stand
        run.began = second * 1000
        run.stand = Stand(clock: before.clock, start: before.start)
        run.stand.ledger.keepHistory()
        switch mutation {
        case .lostHistory: break
        case .joinsAgain:
            // The counters come back, and the sessions do not.
            var recovered = run.history.recovered
            recovered.sessions = []
            run.stand.ledger.restore(recovered)
        case .lostPollAtKill:
            var recovered = run.history.recovered
            for index in recovered.sessions.indices where recovered.sessions[index].watchedUntil != nil {
                recovered.sessions[index].watchedUntil = recovered.lastSeen
            }
            run.stand.ledger.restore(recovered)
        default: run.stand.ledger.restore(run.history.recovered)
        }
        for room in Self.rooms { run.stand.ledger.roomBegan(room, sid: "RM-" + room) }
        for (index, player) in players.enumerated() where player.playback.isConnection {
            let now = second * 1000
            guard player.join <= now, now < player.leave, !player.blips.contains(where: { $0.contains(now) }) else {
                continue
            }
            tell(run.stand, run.sids[index], .opened, at: now, player)
            // Proven before the kill but not written, or while nobody ran: proven again at once.
            if player.qualified <= now {
                tell(run.stand, run.sids[index], .watched(since: run.stand.moment(Double(now) / 1000)), at: now, player)
            }
        }
    }

    /// Who asks for playlists from the first second to the last and never counts: a relay, and ids that somebody forged.
    ///
    /// Where a rule is broken the relay's id is like a viewer's, or whoever forges has the key.
    private static func intruders(_ mutation: Mutation) -> [String] {
        var random = SeededGenerator(seed: 77)
        let exclusion: Exclusion? = mutation == .countedRelay ? nil : .role
        let strange = SessionKeys(current: SessionKey(version: Stand.keys.current.version, secret: Array(2...33)))
        let forger = mutation == .unprovenIDs ? Stand.keys : strange
        func id(_ keys: SessionKeys, _ exclusion: Exclusion?) -> String {
            keys.makeID(
                room: rooms[0],
                shard: 3,
                exclusion: exclusion,
                issuedAt: 1_800_000_000,
                nonce: random.next()
            ).text
        }
        return [id(Stand.keys, exclusion)] + (0..<50).map { _ in id(forger, nil) }
    }

    private func play(_ event: Event, on run: inout Run, _ mutation: Mutation) {
        let player = players[event.player]
        let isSilent = mutation == .shortTimeout && !player.playback.isConnection
        if isSilent, player.isCutOff(at: event.at, for: 13_000) { return }
        let room = Self.rooms[player.room]
        var stand = run.stand
        if mutation == .twoGateways, event.player % 2 == 0, event.at > (player.join + player.leave) / 2 {
            stand = run.other ?? stand
        }
        let kind: AudienceEvent.Kind
        switch event.kind {
        case .open: kind = .opened
        case .reopen:
            kind = .opened
            if mutation == .newIDAfterBlip {
                run.sids[event.player] = stand.ledger.makeSession(room: room)
                tell(stand, run.sids[event.player], .opened, at: event.at, player)
                let since = stand.moment(Double(event.at) / 1000)
                return tell(stand, run.sids[event.player], .watched(since: since), at: event.at, player)
            }
        case .watched(let since): kind = .watched(since: stand.moment(Double(max(since, run.began)) / 1000))
        case .close(let reason):
            if mutation == .lostCloses { return }
            kind = .closed(reason)
        case .playlist:
            if mutation == .lostPolls, event.at / 1000 % 20 > 2 { return }
            if mutation == .joinAtSwitch, Self.rendition(of: event) != Self.rendition(at: event.at - 2000, event.player)
            {
                run.sids[event.player] = stand.ledger.makeSession(room: room)
            }
            kind = .playlistServed
        case .segment: kind = .segmentServed
        }
        let delay = mutation == .endNotBackDated && event.at == player.polls.last ? 11_000 : 0
        tell(stand, run.sids[event.player], kind, at: event.at + delay, player, rendition: Self.rendition(of: event))
    }

    private func tell(
        _ stand: Stand,
        _ sid: String,
        _ kind: AudienceEvent.Kind,
        at milliseconds: Int,
        _ player: VirtualPlayer,
        rendition: String? = nil
    ) {
        stand.record(
            sid,
            kind,
            at: Double(milliseconds) / 1000,
            by: player.playback,
            rendition: rendition,
            room: Self.rooms[player.room]
        )
    }

    /// A quarter of the viewers by requests change their rendition every half a minute.
    private static func rendition(of event: Event) -> String? {
        switch event.kind {
        case .playlist, .segment: rendition(at: event.at, event.player)
        default: nil
        }
    }

    private static func rendition(at milliseconds: Int, _ player: Int) -> String {
        let names = ["720p", "360p"]
        return names[player % 4 == 1 ? milliseconds / 30_000 % 2 : player % 2]
    }
}
