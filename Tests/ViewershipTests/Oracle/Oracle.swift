import FootlightTesting
import Media
import Stage
import TestSupport

@testable import Viewership

/// Plays a simulated audience to a ledger, and compares its reports with the ground truth second by second.
struct Oracle {
    /// A fault in the input or in the ledger, which the verdict must detect.
    enum Mutation {
        case none
        /// Closes of connections are lost.
        case lostCloses
        /// A reconnect comes with a new id.
        case newIDAfterBlip
        /// Most playlist requests are lost.
        case lostPolls
        /// Time does not advance.
        case stoppedClock
        /// Watching lasts until the timeout.
        case endNotBackDated
        /// A relay counts as a viewer.
        case countedRelay
        /// A rendition switch comes with a new id, and so counts as a join.
        case joinAtSwitch
        /// Forged ids are accepted.
        case unprovenIDs
        /// From the middle on another gateway counts half of the players, and the two are summed.
        case twoGateways
        /// The timeout is shorter than an interruption: an interrupted player is silent until it has passed.
        case shortTimeout
        /// The history is lost in a kill.
        case lostHistory
        /// After a kill restored sessions join again.
        case joinsAgain
        /// After a kill the time between a viewer's last playlist and the kill is lost.
        case lostPollAtKill
        /// A connection that returns is counted in its previous rendition.
        case lostTurns
        /// Sent media is not reported.
        case lostMedia
        /// Media may come from a cache in front, so that playlists alone qualify.
        case unseenMedia
        /// Log lines count when they are delivered.
        case linesOfNow
        /// Repeated log lines count when they are delivered.
        case repeatsOfNow
        /// The lag of the log is not reported.
        case unreportedLag
        /// A region counts only in the first log line.
        case firstPlace
    }

    /// Further behaviour of the players, and the input of the ledger.
    struct Features: OptionSet, Sendable {
        let rawValue: Int

        /// HLS viewers are reported by a log: late, some lines much later, half of its bundles twice, with the region
        /// in a later line only.
        static let logged = Features(rawValue: 1)
        /// Some poll every 13, 15, 30 or 60 seconds.
        static let rare = Features(rawValue: 2)
        /// HTTP-FLV viewers reconnect in another rendition, half of them before the old connection closes.
        static let turning = Features(rawValue: 4)
        /// Media of HLS viewers is seen, and a quarter as many clients request playlists only.
        static let seen = Features(rawValue: 8)
    }

    /// A kill and restart of the gateway, at whole seconds.
    struct Crash {
        var at: Int
        var downtime: Int
        /// The time in which connections and players return, in seconds.
        var returning = 5

        var back: Int { at + downtime }
        var over: Int { back + returning }
        /// The span from the last batch to the return, in milliseconds.
        var outage: Range<Int> { (at - 1) * 1000..<back * 1000 }
    }

    /// The number of violations of each rule.
    struct Verdict: Equatable, CustomStringConvertible {
        var joins = 0
        var belowTruth = 0
        var aboveTruth = 0
        var watchTime = 0
        var leftOver = 0
        var identities = 0
        var switches = 0
        var regions = 0
        var excluded = 0

        var description: String {
            "joins \(joins), below \(belowTruth), above \(aboveTruth), watch \(watchTime), left \(leftOver), "
                + "identities \(identities), switches \(switches), regions \(regions), excluded \(excluded)"
        }
    }

    struct Event {
        var at: Int
        var player: Int
        var kind: Kind

        enum Kind {
            case open
            case watched(since: Int)
            case close(AudienceEvent.CloseReason)
            /// The connection returns; the first time is 1.
            case reopen(number: Int)
            case playlist
            case segment
            /// Media was sent.
            case media
        }
    }

    static let rooms = ["one", "two", "three"]
    static let connectionKinds: [PlaybackProtocol] = [.rtmp, .flv]
    static let requestKinds: [PlaybackProtocol] = [.hls, .llhls]
    /// The intervals of rare polling, in milliseconds.
    private static let rareIntervals = [13_000, 15_000, 30_000, 60_000]

    let features: Features
    let seed: UInt64
    private(set) var players: [VirtualPlayer]
    private(set) var events: [Event]
    /// The spans of clients that request playlists only, every two seconds; seconds.
    let playlistOnlyClients: [Range<Int>]
    let end: Int

    init(players count: Int, seconds: Int, seed: UInt64, features: Features = []) {
        var random = SeededGenerator(seed: seed)
        var players: [VirtualPlayer] = (0..<count).map { _ in .random(within: seconds * 1000, using: &random) }
        for index in players.indices {
            if features.contains(.rare), players[index].playback == .hls, index % 4 == 2 {
                players[index].askRarely(every: Self.rareIntervals[index / 4 % 4], times: 3 + index / 16 % 4)
            }
            if features.contains(.turning), players[index].playback == .flv, index % 2 == 1 {
                players[index].overtake()
            }
        }
        let playlistOnlyCount = features.contains(.seen) ? count / 4 : 0
        playlistOnlyClients = (0..<playlistOnlyCount).map { _ in
            let join = Int.random(in: 0..<seconds, using: &random)
            return join..<join + Int.random(in: 10...90, using: &random)
        }
        end = players.map(\.leave).max() ?? 0
        var events: [Event] = []
        for (index, player) in players.enumerated() {
            events +=
                player.playback.isConnection ? Self.connection(player, index) : Self.requests(player, index, features)
        }
        (self.features, self.seed, self.players) = (features, seed, players)
        self.events = events.sorted { ($0.at, $0.player) < ($1.at, $1.player) }
    }

    /// Moves all players to one room.
    mutating func oneRoom() {
        for index in players.indices { players[index].room = 0 }
    }

    /// The true concurrent peak, from first media to leaving.
    var truePeak: Int {
        var moves: [(at: Int, change: Int)] = []
        for player in players {
            moves.append((player.join, 1))
            moves.append((player.leave, -1))
            for interruption in player.interruptions where player.playback.isConnection {
                moves.append((interruption.lowerBound, -1))
                moves.append((interruption.upperBound, 1))
            }
        }
        var (live, peak) = (0, 0)
        for move in moves.sorted(by: { ($0.at, $0.change) < ($1.at, $1.change) }) {
            live += move.change
            peak = max(peak, live)
        }
        return peak
    }

    private static func connection(_ player: VirtualPlayer, _ index: Int) -> [Event] {
        var events = [Event(at: player.join, player: index, kind: .open)]
        events.append(Event(at: player.qualified, player: index, kind: .watched(since: player.join)))
        for (number, interruption) in player.interruptions.enumerated() {
            events.append(Event(at: interruption.lowerBound, player: index, kind: .close(.timedOut)))
            events.append(Event(at: interruption.upperBound, player: index, kind: .reopen(number: number + 1)))
        }
        for (number, turn) in player.turns.enumerated() {
            events.append(Event(at: turn, player: index, kind: .reopen(number: number + 1)))
            events.append(Event(at: turn + 200, player: index, kind: .close(.left)))
        }
        events.append(Event(at: player.leave, player: index, kind: .close(.left)))
        return events
    }

    private static func requests(_ player: VirtualPlayer, _ index: Int, _ features: Features) -> [Event] {
        player.polls.flatMap { poll in
            var events = [Event(at: poll, player: index, kind: .playlist)]
            // A log has playlists only.
            guard !features.contains(.logged) else { return events }
            if index % 4 == 0, poll + 20 < player.leave {
                events.append(Event(at: poll + 20, player: index, kind: .segment))
            }
            // Rare polling is tolerated with media only.
            if features.contains(.seen) || player.interval > 0, poll + 30 < player.leave {
                events.append(Event(at: poll + 30, player: index, kind: .media))
            }
            return events
        }
    }
}

/// Plays the events to a ledger.
extension Oracle {
    /// A ledger with the ids of its players and its history.
    private struct Run {
        var fixture = LedgerFixture()
        var other: LedgerFixture?
        var history = InMemoryHistory()
        var sids: [String] = []
        var playlistOnlyClients: [String] = []
        /// The source of HLS requests; nil where players connect directly.
        var log: DelayedLog?
        var next = 0
        /// The last start of the gateway, in milliseconds; no media was sent by it before.
        var began = 0
    }

    /// Plays all events; returns the ledger and its history.
    func play() -> (fixture: LedgerFixture, history: InMemoryHistory) {
        var run = begin()
        for second in 0...end / 1000 + 60 {
            step(&run, second, .none)
            run.history.write(run.fixture.ledger.drainHistory())
        }
        return (run.fixture, run.history)
    }

    /// Plays all events and compares with the ground truth at each second.
    func run(_ mutation: Mutation = .none, crash: Crash? = nil) -> Verdict {
        judged(mutation, crash: crash).verdict
    }

    /// Plays all events; returns the verdict and the final totals.
    func judged(_ mutation: Mutation = .none, crash: Crash? = nil) -> (verdict: Verdict, end: ViewershipTotals) {
        var run = begin(mutation)
        var verdict = Verdict()
        for room in Self.rooms { run.fixture.ledger.roomBegan(room, sid: "RM-" + room) }
        let intruders = Self.intruders(mutation)
        if mutation == .twoGateways { run.other = LedgerFixture(clock: run.fixture.clock, start: run.fixture.start) }
        var truth = Truth(players)
        // The live count is zero after the longest timeout; the last leave is final after the grace time.
        let gone = end / 1000 + 31 + (features.contains(.logged) ? 31 : 0)
        for second in 0...gone + (features.contains(.rare) ? 55 : 15) {
            if let crash, second == crash.back { restart(&run, at: second, mutation) }
            if let crash, (crash.at..<crash.back).contains(second) {
                skip(&run, until: second)
                _ = truth.range(at: second * 1000)
                continue
            }
            step(&run, second, mutation)
            if second % 2 == 0, second < end / 1000 {
                for sid in intruders {
                    run.fixture.record(sid, .playlistServed, at: Double(second), by: .hls, room: Self.rooms[0])
                }
            }
            var range = truth.range(at: second * 1000)
            if let log = run.log { limit(&range, to: log, at: second * 1000) }
            // The history is of the second before the kill.
            if crash != nil { run.history.write(run.fixture.ledger.drainHistory()) }
            let totals = totals(of: run)
            let isReturning = crash.map { ($0.at..<$0.over + 31).contains(second) } ?? false
            isReturning ? judgeIdentities(totals, &verdict) : compare(totals, range, &verdict)
            if second >= gone, totals.total.concurrent != 0 { verdict.leftOver += 1 }
        }
        let end = totals(of: run)
        judgeEnd(end, crash, &verdict)
        if features.contains(.logged) { judgeRegions(run.fixture, &verdict) }
        return (verdict, end)
    }

    private func begin(_ mutation: Mutation = .none) -> Run {
        var run = Run()
        run.fixture.ledger.enableHistory()
        run.sids = players.map { run.fixture.ledger.makeSession(room: Self.rooms[$0.room]) }
        run.playlistOnlyClients = playlistOnlyClients.map { _ in "" }
        if features.contains(.logged) {
            let requests = events.filter { !players[$0.player].playback.isConnection }
            run.log = DelayedLog(requests, seed: seed, mutation)
        }
        return run
    }

    private func totals(of run: Run) -> ViewershipTotals {
        var totals = run.fixture.ledger.totals()
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
        run.fixture.clock.advance(to: run.fixture.moment(Double(second)))
        requestPlaylistsOnly(&run, second, mutation)
        deliverLog(&run, second, mutation)
        guard mutation != .stoppedClock else { return }
        run.fixture.ledger.advance(to: run.fixture.clock.now)
        run.other?.ledger.advance(to: run.fixture.clock.now)
    }

    /// Skips the events while no gateway runs.
    private func skip(_ run: inout Run, until second: Int) {
        while run.next < events.count, events[run.next].at <= second * 1000 { run.next += 1 }
        run.fixture.clock.advance(to: run.fixture.moment(Double(second)))
    }

    /// Starts another gateway with the history, to which all viewers return.
    private func restart(_ run: inout Run, at second: Int, _ mutation: Mutation) {
        // Earlier events are lost; present viewers return below.
        skip(&run, until: second)
        let before = run.fixture
        run.began = second * 1000
        run.fixture = LedgerFixture(clock: before.clock, start: before.start)
        run.fixture.ledger.enableHistory()
        switch mutation {
        case .lostHistory: break
        case .joinsAgain:
            // The counters are restored, and the sessions are not.
            var recovered = run.history.recovered
            recovered.sessions = []
            run.fixture.ledger.restore(recovered)
        case .lostPollAtKill:
            var recovered = run.history.recovered
            for index in recovered.sessions.indices where recovered.sessions[index].watchedUntil != nil {
                recovered.sessions[index].watchedUntil = recovered.lastSeen
            }
            run.fixture.ledger.restore(recovered)
        default: run.fixture.ledger.restore(run.history.recovered)
        }
        for room in Self.rooms { run.fixture.ledger.roomBegan(room, sid: "RM-" + room) }
        for (index, player) in players.enumerated() where player.playback.isConnection {
            let now = second * 1000
            guard player.join <= now, now < player.leave, !player.interruptions.contains(where: { $0.contains(now) })
            else {
                continue
            }
            record(run.fixture, run.sids[index], .opened, at: now, player)
            // Viewers that qualified without being written qualify again at once.
            if player.qualified <= now {
                record(
                    run.fixture,
                    run.sids[index],
                    .watched(since: run.fixture.moment(Double(now) / 1000)),
                    at: now,
                    player
                )
            }
        }
    }

    /// Makes clients that request playlists throughout and never count: a relay, and forged ids.
    ///
    /// With the fault in place, the relay's id is like a viewer's, or the forger has the key.
    private static func intruders(_ mutation: Mutation) -> [String] {
        var random = SeededGenerator(seed: 77)
        let exclusion: ExclusionReason? = mutation == .countedRelay ? nil : .role
        let strange = SessionKeys(
            current: SessionKey(version: LedgerFixture.keys.current.version, secret: Array(2...33))
        )
        let forger = mutation == .unprovenIDs ? LedgerFixture.keys : strange
        func id(_ keys: SessionKeys, _ exclusion: ExclusionReason?) -> String {
            keys.makeID(
                room: rooms[0],
                shard: 3,
                exclusion: exclusion,
                issuedAt: 1_800_000_000,
                nonce: random.next()
            ).text
        }
        return [id(LedgerFixture.keys, exclusion)] + (0..<50).map { _ in id(forger, nil) }
    }

    /// Requests playlists only; half of these clients share the address of a player.
    private func requestPlaylistsOnly(_ run: inout Run, _ second: Int, _ mutation: Mutation) {
        for (number, interval) in playlistOnlyClients.enumerated() where interval.contains(second) {
            guard (second - interval.lowerBound) % 2 == 0 else { continue }
            if second == interval.lowerBound {
                // Media of every third player uses the connection of its playlists.
                let address = number % 2 == 0 ? "172.16.\(number / 250).\(number % 250)" : Self.address(of: number * 3)
                run.playlistOnlyClients[number] = admit(address, room: Self.rooms[0], run.fixture)
            }
            run.fixture.ledger.record(
                AudienceEvent(
                    sid: run.playlistOnlyClients[number],
                    room: Self.rooms[0],
                    playback: .hls,
                    rendition: "720p",
                    kind: .playlistServed,
                    at: run.fixture.moment(Double(second)),
                    isMediaSeen: mutation != .unseenMedia
                )
            )
        }
    }

    /// Admits a player at an address; returns its id.
    private func admit(_ address: String, room: String, _ fixture: LedgerFixture) -> String {
        guard
            case .viewer(let sid) = fixture.ledger.admit(
                PlayerRequest(userAgent: "VLC/3.0", address: address),
                to: room
            )
        else { return "" }
        return sid
    }

    static func address(of player: Int) -> String { "10.\(player / 250).\(player % 250).1" }

    /// Delivers the lines of the log that are due, as a gateway does.
    private func deliverLog(_ run: inout Run, _ second: Int, _ mutation: Mutation) {
        guard let deliveries = run.log?.advance(to: second * 1000), let log = run.log else { return }
        if mutation != .unreportedLag { run.fixture.ledger.logsLag(milliseconds: Int64(log.lag)) }
        for delivery in deliveries {
            let index = delivery.event.player
            let player = players[index]
            let room = Self.rooms[player.room]
            var request = PlayerRequest(
                sid: run.sids[index],
                userAgent: "VLC/3.0",
                address: Self.address(of: index)
            )
            request.isLogged = true
            let isPlaced = player.polls.count > Self.placed && delivery.event.at >= player.polls[Self.placed]
            if isPlaced, mutation != .firstPlace { request.region = Self.country(of: index) }
            _ = run.fixture.ledger.admit(request, to: room)
            run.fixture.ledger.record(
                AudienceEvent(
                    sid: run.sids[index],
                    room: room,
                    playback: player.playback,
                    rendition: rendition(of: delivery.event),
                    kind: .playlistServed,
                    at: run.fixture.moment(Double(delivery.time) / 1000),
                    isServedElsewhere: true,
                    isLogged: true
                )
            )
        }
    }

    /// Sends media to a player: on its own connection, on another persistent one, or on one per file.
    private func sendMedia(_ event: Event, _ sid: String, _ fixture: LedgerFixture) {
        let player = players[event.player]
        let way = player.interval > 0 || !features.contains(.seen) ? 0 : event.player % 3
        guard way > 0 else { return record(fixture, sid, .delivered, at: event.at, player) }
        guard let client = PeerAddress(Self.address(of: event.player))?.account else { return }
        fixture.ledger.mediaServed(
            in: Self.rooms[player.room],
            to: client,
            over: UInt64(way == 1 ? event.player : event.at << 20 | event.player),
            at: fixture.moment(Double(event.at) / 1000)
        )
    }

    private func play(_ event: Event, on run: inout Run, _ mutation: Mutation) {
        let player = players[event.player]
        // The log reports it.
        if features.contains(.logged), !player.playback.isConnection { return }
        let isSilent = mutation == .shortTimeout && !player.playback.isConnection
        if isSilent, player.isCutOff(at: event.at, for: 13_000) { return }
        let room = Self.rooms[player.room]
        var fixture = run.fixture
        if mutation == .twoGateways, event.player % 2 == 0, event.at > (player.join + player.leave) / 2 {
            fixture = run.other ?? fixture
        }
        if features.contains(.seen), event.at == player.join, !player.playback.isConnection {
            fixture.clock.advance(to: max(fixture.clock.now, fixture.moment(Double(event.at) / 1000)))
            run.sids[event.player] = admit(Self.address(of: event.player), room: room, fixture)
        }
        let kind: AudienceEvent.Kind
        switch event.kind {
        case .open: kind = .opened
        case .reopen:
            kind = .opened
            if mutation == .newIDAfterBlip {
                run.sids[event.player] = fixture.ledger.makeSession(room: room)
                record(fixture, run.sids[event.player], .opened, at: event.at, player)
                let since = fixture.moment(Double(event.at) / 1000)
                return record(fixture, run.sids[event.player], .watched(since: since), at: event.at, player)
            }
        case .watched(let since): kind = .watched(since: fixture.moment(Double(max(since, run.began)) / 1000))
        case .close(let reason):
            if mutation == .lostCloses { return }
            kind = .closed(reason)
        case .playlist:
            if mutation == .lostPolls, event.at / 1000 % 20 > 2 { return }
            if mutation == .joinAtSwitch, rendition(of: event) != Self.rendition(at: event.at - 2000, event.player) {
                run.sids[event.player] = fixture.ledger.makeSession(room: room)
            }
            kind = .playlistServed
        case .segment: kind = .segmentServed
        case .media:
            if mutation != .lostMedia { sendMedia(event, run.sids[event.player], fixture) }
            return
        }
        let delay = mutation == .endNotBackDated && event.at == player.polls.last ? 11_000 : 0
        let isTurnLost = mutation == .lostTurns && player.playback.isConnection
        let rendition = isTurnLost ? "720p" : rendition(of: event)
        record(
            fixture,
            run.sids[event.player],
            kind,
            at: event.at + delay,
            player,
            rendition: rendition,
            isMediaSeen: features.contains(.seen) && mutation != .unseenMedia
        )
    }

    private func record(
        _ fixture: LedgerFixture,
        _ sid: String,
        _ kind: AudienceEvent.Kind,
        at milliseconds: Int,
        _ player: VirtualPlayer,
        rendition: String? = nil,
        isMediaSeen: Bool = false
    ) {
        let moment = fixture.moment(Double(milliseconds) / 1000)
        if moment > fixture.clock.now { fixture.clock.advance(to: moment) }
        fixture.ledger.record(
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

    /// A quarter of the HLS viewers switch their rendition every 30 s; a connection may when it returns.
    private func rendition(of event: Event) -> String? {
        let isTurning = features.contains(.turning) && players[event.player].playback == .flv
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

    /// The true number of rendition switches of qualified viewers.
    var switches: Int {
        var switches = 0
        for (index, player) in players.enumerated() {
            if player.playback == .flv, features.contains(.turning) {
                switches += player.interruptions.count + player.turns.count
            }
            let names = player.polls.filter { $0 >= player.qualified }.map { Self.rendition(at: $0, index) }
            switches += zip(names, names.dropFirst()).count { $0 != $1 }
        }
        return switches
    }
}

/// Compares reports with the ground truth.
extension Oracle {
    func compare(_ totals: ViewershipTotals, _ truth: Truth.Range, _ verdict: inout Verdict) {
        for playback in Self.connectionKinds {
            let live = totals.total.byProtocol[playback] ?? 0
            if live < truth.low[playback] { verdict.belowTruth += 1 }
            if live > truth.low[playback] { verdict.aboveTruth += 1 }
        }
        for playback in Self.requestKinds {
            let live = totals.total.byProtocol[playback] ?? 0
            if live < truth.low[playback] { verdict.belowTruth += 1 }
            if live > truth.high[playback] { verdict.aboveTruth += 1 }
        }
        judgeIdentities(totals, &verdict)
    }

    /// Limits the range to what a late log has reported.
    func limit(_ range: inout Truth.Range, to log: DelayedLog, at now: Int) {
        let moment = now - log.lag
        for kind in Self.requestKinds { (range.low[kind], range.high[kind]) = (0, 0) }
        for player in players where !player.playback.isConnection {
            // A session whose first line arrives after later ones qualifies a little later.
            if player.qualified <= moment - 4500, moment < player.leave { range.low[player.playback] += 1 }
            if player.qualified <= log.deliveredUntil, moment < player.leave + player.tail + 1000 {
                range.high[player.playback] += 1
            }
        }
    }

    func judgeIdentities(_ totals: ViewershipTotals, _ verdict: inout Verdict) {
        let sum = totals.rooms.map(\.concurrent).reduce(0, +)
        let peaks = totals.rooms.map(\.peak).reduce(0, +)
        if sum != totals.total.concurrent || totals.total.peak > peaks { verdict.identities += 1 }
        for figures in totals.rooms + [totals.total] where !figures.brokenIdentities.isEmpty { verdict.identities += 1 }
    }

    func judgeEnd(_ totals: ViewershipTotals, _ crash: Crash?, _ verdict: inout Verdict) {
        if totals.total.joins != players.count { verdict.joins += 1 }
        if totals.total.resumable != 0 || totals.total.leaves != totals.total.joins { verdict.leftOver += 1 }
        if abs(totals.total.watchTimeSeconds / truth(crash) - 1) >= 0.005 { verdict.watchTime += 1 }
        if totals.total.excluded[.noMedia] != playlistOnlyClients.count { verdict.excluded += 1 }
        // Switches during an outage are not counted.
        if crash == nil, totals.total.counts.switches != switches { verdict.switches += 1 }
    }

    /// The index of the first playlist whose log line has the region.
    static let placed = 5

    static func country(of player: Int) -> String { ["DE", "FR", "US"][player % 3] }

    /// Checks that watch time counts in the region from the playlist before its first mention.
    func judgeRegions(_ fixture: LedgerFixture, _ verdict: inout Verdict) {
        var truth: [String: Double] = [:]
        for (index, player) in players.enumerated() where player.polls.count > Self.placed {
            let (first, last) = (player.polls[Self.placed - 1], player.polls[player.polls.count - 1])
            let half = player.playback == .llhls ? 500 : 1000
            truth[Self.country(of: index), default: 0] += Double(last + half - first) / 1000
        }
        let samples =
            fixture.ledger.metrics().first { $0.name == "footlight_viewer_watch_seconds_total" }?.samples ?? []
        for (country, watched) in truth {
            let here = samples.filter { sample in
                sample.labels.contains { $0.name == "region" && $0.value == country }
            }
            let counted = here.reduce(0) { $0 + $1.value }
            if abs(counted / watched - 1) >= 0.005 { verdict.regions += 1 }
        }
    }

    /// The true watch time of all players, in seconds.
    func truth(_ crash: Crash? = nil) -> Double {
        let watched = players.map { player in
            crash.map { player.watched(besides: $0.outage) } ?? player.watched
        }
        return Double(watched.reduce(0, +)) / 1000
    }
}
