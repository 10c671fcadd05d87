import Media
import Stage

@testable import Viewership

/// Plays a crowd whose truth is known to a ledger, and compares what the ledger says with the truth, second by second.
struct Oracle {
    /// A way to break what the ledger hears, as a faulty fan-out or ledger would: each must be found out.
    enum Mutation {
        case none
        /// Ends of connections are not told.
        case lostCloses
        /// A reconnect comes with a new id.
        case newIDAfterBlip
        /// Most playlist fetches are not told.
        case lostPolls
        /// Time does not move.
        case stoppedClock
        /// The watching is taken to go on until the time-out.
        case endNotBackDated
        /// A relay of ours counts as a viewer.
        case countedRelay
    }

    /// How often each rule was broken.
    struct Verdict: Equatable, CustomStringConvertible {
        var joins = 0
        var belowTruth = 0
        var aboveTruth = 0
        var watchTime = 0
        var leftOver = 0
        var identities = 0

        var description: String {
            "joins \(joins), below \(belowTruth), above \(aboveTruth), watch \(watchTime), left \(leftOver), "
                + "identities \(identities)"
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
            case reopen
            case playlist
            case segment
        }
    }

    static let rooms = ["one", "two", "three"]
    static let connectionKinds: [PlaybackProtocol] = [.rtmp, .flv]
    static let requestKinds: [PlaybackProtocol] = [.hls, .llhls]

    let players: [VirtualPlayer]
    let events: [Event]
    let end: Int

    init(players count: Int, seconds: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        players = (0..<count).map { _ in .random(within: seconds * 1000, using: &random) }
        end = players.map(\.leave).max() ?? 0
        var events: [Event] = []
        for (index, player) in players.enumerated() {
            events += player.playback.isConnection ? Self.connection(player, index) : Self.requests(player, index)
        }
        self.events = events.sorted { ($0.at, $0.player) < ($1.at, $1.player) }
    }

    private static func connection(_ player: VirtualPlayer, _ index: Int) -> [Event] {
        var events = [Event(at: player.join, player: index, kind: .open)]
        events.append(Event(at: player.qualified, player: index, kind: .watched(since: player.join)))
        for blip in player.blips {
            events.append(Event(at: blip.lowerBound, player: index, kind: .close(.timedOut)))
            events.append(Event(at: blip.upperBound, player: index, kind: .reopen))
        }
        events.append(Event(at: player.leave, player: index, kind: .close(.left)))
        return events
    }

    private static func requests(_ player: VirtualPlayer, _ index: Int) -> [Event] {
        player.polls.flatMap { poll in
            let playlist = Event(at: poll, player: index, kind: .playlist)
            guard poll + 20 < player.leave, index % 4 == 0 else { return [playlist] }
            return [playlist, Event(at: poll + 20, player: index, kind: .segment)]
        }
    }

    func run(_ mutation: Mutation = .none) -> Verdict {
        let stand = Stand()
        var verdict = Verdict()
        var sids = players.map { stand.ledger.makeSession(room: Self.rooms[$0.room]) }
        if mutation == .countedRelay {
            stand.watch(stand.ledger.makeSession(room: "one"), from: 0, by: .rtmp, room: "one")
        }
        var truth = Truth(players)
        var next = 0
        // The last live count has gone after the longest time-out; the last leave is final after the grace time more.
        let gone = end / 1000 + 31
        for second in 0...gone + 15 {
            let now = second * 1000
            while next < events.count, events[next].at <= now {
                play(events[next], on: stand, &sids, mutation)
                next += 1
            }
            stand.clock.move(to: stand.moment(Double(second)))
            if mutation != .stoppedClock { stand.ledger.advance(to: stand.clock.now) }
            let totals = stand.ledger.totals()
            compare(totals, truth.range(at: now), &verdict)
            if second >= gone, totals.total.concurrent != 0 { verdict.leftOver += 1 }
        }
        judgeEnd(stand.ledger.totals(), &verdict)
        return verdict
    }

    private func play(_ event: Event, on stand: Stand, _ sids: inout [String], _ mutation: Mutation) {
        let player = players[event.player]
        let kind: AudienceEvent.Kind
        switch event.kind {
        case .open: kind = .opened
        case .reopen:
            if mutation == .newIDAfterBlip {
                sids[event.player] = stand.ledger.makeSession(room: Self.rooms[player.room])
                stand.record(
                    sids[event.player],
                    .opened,
                    at: Double(event.at) / 1000,
                    by: player.playback,
                    room: Self.rooms[player.room]
                )
                kind = .watched(since: stand.moment(Double(event.at) / 1000))
            } else {
                kind = .opened
            }
        case .watched(let since): kind = .watched(since: stand.moment(Double(since) / 1000))
        case .close(let reason):
            if mutation == .lostCloses { return }
            kind = .closed(reason)
        case .playlist:
            if mutation == .lostPolls, event.at / 1000 % 20 > 2 { return }
            kind = .playlistServed
        case .segment: kind = .segmentServed
        }
        let delay = mutation == .endNotBackDated && event.at == player.polls.last ? 11_000 : 0
        stand.record(
            sids[event.player],
            kind,
            at: Double(event.at + delay) / 1000,
            by: player.playback,
            room: Self.rooms[player.room]
        )
    }

    private func compare(_ totals: ViewershipTotals, _ truth: Truth.Range, _ verdict: inout Verdict) {
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
        let sum = totals.rooms.map(\.concurrent).reduce(0, +)
        let peaks = totals.rooms.map(\.peak).reduce(0, +)
        if sum != totals.total.concurrent || totals.total.peak > peaks { verdict.identities += 1 }
        for figures in totals.rooms + [totals.total] where !figures.brokenIdentities.isEmpty { verdict.identities += 1 }
    }

    private func judgeEnd(_ totals: ViewershipTotals, _ verdict: inout Verdict) {
        if totals.total.joins != players.count { verdict.joins += 1 }
        if totals.total.resumable != 0 || totals.total.leaves != totals.total.joins { verdict.leftOver += 1 }
        let truth = Double(players.map(\.watched).reduce(0, +)) / 1000
        if abs(totals.total.watchTimeSeconds / truth - 1) >= 0.005 { verdict.watchTime += 1 }
    }
}
