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
        var lurkers: [String] = []
        /// What tells of viewers by requests; nil where they come here themselves.
        var log: LateLog?
        var next = 0
        /// When the gateway was last started, in milliseconds: nobody was sent media by it before.
        var began = 0
    }

    /// Plays everything, and gives the ledger and its history.
    func play() -> (stand: Stand, history: MemoryHistory) {
        var run = begin()
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
        var run = begin(mutation)
        var verdict = Verdict()
        for room in Self.rooms { run.stand.ledger.roomBegan(room, sid: "RM-" + room) }
        let intruders = Self.intruders(mutation)
        if mutation == .twoGateways { run.other = Stand(clock: run.stand.clock, start: run.stand.start) }
        var truth = Truth(players)
        // The last live count has gone after the longest time-out; the last leave is final after the grace time more.
        let gone = end / 1000 + 31 + (manner.contains(.logged) ? 31 : 0)
        for second in 0...gone + (manner.contains(.rare) ? 55 : 15) {
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
            var range = truth.range(at: second * 1000)
            if let log = run.log { limit(&range, to: log, at: second * 1000) }
            // What is on disk is of the second before the kill.
            if crash != nil { run.history.write(run.stand.ledger.takeHistory()) }
            let totals = totals(of: run)
            let isReturning = crash.map { ($0.at..<$0.over + 31).contains(second) } ?? false
            isReturning ? judgeIdentities(totals, &verdict) : compare(totals, range, &verdict)
            if second >= gone, totals.total.concurrent != 0 { verdict.leftOver += 1 }
        }
        let end = totals(of: run)
        judgeEnd(end, crash, &verdict)
        if manner.contains(.logged) { judgeRegions(run.stand, &verdict) }
        return (verdict, end)
    }

    private func begin(_ mutation: Mutation = .none) -> Run {
        var run = Run()
        run.stand.ledger.keepHistory()
        run.sids = players.map { run.stand.ledger.makeSession(room: Self.rooms[$0.room]) }
        run.lurkers = lurkers.map { _ in "" }
        if manner.contains(.logged) {
            let requests = events.filter { !players[$0.player].playback.isConnection }
            run.log = LateLog(requests, seed: seed, mutation)
        }
        return run
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
        lurk(&run, second, mutation)
        tellLog(&run, second, mutation)
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

    /// Who asks for playlists alone does so; half of them where somebody plays.
    private func lurk(_ run: inout Run, _ second: Int, _ mutation: Mutation) {
        for (number, lurker) in lurkers.enumerated() where lurker.contains(second) {
            guard (second - lurker.lowerBound) % 2 == 0 else { continue }
            if second == lurker.lowerBound {
                // Media of every third player comes by the connection on which it asks.
                let address = number % 2 == 0 ? "172.16.\(number / 250).\(number % 250)" : Self.address(of: number * 3)
                run.lurkers[number] = admit(address, room: Self.rooms[0], run.stand)
            }
            run.stand.ledger.record(
                AudienceEvent(
                    sid: run.lurkers[number],
                    room: Self.rooms[0],
                    playback: .hls,
                    rendition: "720p",
                    kind: .playlistServed,
                    at: run.stand.moment(Double(second)),
                    isMediaSeen: mutation != .unseenMedia
                )
            )
        }
    }

    /// A player comes from there, and is given an id.
    private func admit(_ address: String, room: String, _ stand: Stand) -> String {
        guard
            case .viewer(let sid) = stand.ledger.admit(PlayerRequest(userAgent: "VLC/3.0", address: address), to: room)
        else { return "" }
        return sid
    }

    static func address(of player: Int) -> String { "10.\(player / 250).\(player % 250).1" }

    /// What is due of the log is told of, as a gateway does it.
    private func tellLog(_ run: inout Run, _ second: Int, _ mutation: Mutation) {
        guard let tellings = run.log?.advance(to: second * 1000), let log = run.log else { return }
        if mutation != .untoldLag { run.stand.ledger.logsLag(milliseconds: Int64(log.lag)) }
        for telling in tellings {
            let index = telling.event.player
            let player = players[index]
            let room = Self.rooms[player.room]
            var request = PlayerRequest(
                sid: run.sids[index],
                userAgent: "VLC/3.0",
                address: Self.address(of: index)
            )
            request.isLogged = true
            let isPlaced = player.polls.count > Self.placed && telling.event.at >= player.polls[Self.placed]
            if isPlaced, mutation != .firstPlace { request.region = Self.country(of: index) }
            _ = run.stand.ledger.admit(request, to: room)
            run.stand.ledger.record(
                AudienceEvent(
                    sid: run.sids[index],
                    room: room,
                    playback: player.playback,
                    rendition: rendition(of: telling.event),
                    kind: .playlistServed,
                    at: run.stand.moment(Double(telling.time) / 1000),
                    isElsewhere: true,
                    isLogged: true
                )
            )
        }
    }

    /// A player was sent media: by its own connection, by another one that it keeps, or by one for each file.
    private func sendMedia(_ event: Event, _ sid: String, _ stand: Stand) {
        let player = players[event.player]
        let way = player.interval > 0 || !manner.contains(.seen) ? 0 : event.player % 3
        guard way > 0 else { return tell(stand, sid, .delivered, at: event.at, player) }
        guard let client = PeerAddress(Self.address(of: event.player))?.account else { return }
        stand.ledger.mediaServed(
            in: Self.rooms[player.room],
            to: client,
            over: UInt64(way == 1 ? event.player : event.at << 20 | event.player),
            at: stand.moment(Double(event.at) / 1000)
        )
    }

    private func play(_ event: Event, on run: inout Run, _ mutation: Mutation) {
        let player = players[event.player]
        // A log tells of it.
        if manner.contains(.logged), !player.playback.isConnection { return }
        let isSilent = mutation == .shortTimeout && !player.playback.isConnection
        if isSilent, player.isCutOff(at: event.at, for: 13_000) { return }
        let room = Self.rooms[player.room]
        var stand = run.stand
        if mutation == .twoGateways, event.player % 2 == 0, event.at > (player.join + player.leave) / 2 {
            stand = run.other ?? stand
        }
        if manner.contains(.seen), event.at == player.join, !player.playback.isConnection {
            stand.clock.move(to: max(stand.clock.now, stand.moment(Double(event.at) / 1000)))
            run.sids[event.player] = admit(Self.address(of: event.player), room: room, stand)
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
            if mutation == .joinAtSwitch, rendition(of: event) != Self.rendition(at: event.at - 2000, event.player) {
                run.sids[event.player] = stand.ledger.makeSession(room: room)
            }
            kind = .playlistServed
        case .segment: kind = .segmentServed
        case .media:
            if mutation != .lostMedia { sendMedia(event, run.sids[event.player], stand) }
            return
        }
        let delay = mutation == .endNotBackDated && event.at == player.polls.last ? 11_000 : 0
        let isTurnLost = mutation == .lostTurns && player.playback.isConnection
        let rendition = isTurnLost ? "720p" : rendition(of: event)
        tell(
            stand,
            run.sids[event.player],
            kind,
            at: event.at + delay,
            player,
            rendition: rendition,
            isMediaSeen: manner.contains(.seen) && mutation != .unseenMedia
        )
    }

    private func tell(
        _ stand: Stand,
        _ sid: String,
        _ kind: AudienceEvent.Kind,
        at milliseconds: Int,
        _ player: VirtualPlayer,
        rendition: String? = nil,
        isMediaSeen: Bool = false
    ) {
        let moment = stand.moment(Double(milliseconds) / 1000)
        if moment > stand.clock.now { stand.clock.move(to: moment) }
        stand.ledger.record(
            AudienceEvent(
                sid: sid,
                room: Self.rooms[player.room],
                playback: player.playback,
                rendition: rendition,
                kind: kind,
                at: moment,
                isMediaSeen: isMediaSeen
            )
        )
    }

    /// A quarter of the viewers by requests change their rendition every half a minute; a connection may when it comes back.
    private func rendition(of event: Event) -> String? {
        let isTurning = manner.contains(.turning) && players[event.player].playback == .flv
        return switch event.kind {
        case .playlist, .segment: Self.rendition(at: event.at, event.player)
        case .open: isTurning ? Self.renditions[0] : nil
        case .reopen(let number): isTurning ? Self.renditions[number % 2] : nil
        case .watched, .close, .media: nil
        }
    }

    private static let renditions = ["720p", "360p"]

    private static func rendition(at milliseconds: Int, _ player: Int) -> String {
        renditions[player % 4 == 1 ? milliseconds / 30_000 % 2 : player % 2]
    }

    /// How often viewers who counted truly changed their rendition.
    var switches: Int {
        var switches = 0
        for (index, player) in players.enumerated() {
            if player.playback == .flv, manner.contains(.turning) {
                switches += player.blips.count + player.turns.count
            }
            let names = player.polls.filter { $0 >= player.qualified }.map { Self.rendition(at: $0, index) }
            switches += zip(names, names.dropFirst()).count { $0 != $1 }
        }
        return switches
    }
}
