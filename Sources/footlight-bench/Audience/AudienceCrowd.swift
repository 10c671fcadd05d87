import Foundation
import Media
import Stage
import Synchronization
import Viewership

/// Players whose lives are known beforehand, played to a ledger on a clock that is moved by hand.
struct AudienceCrowd {
    struct Result {
        var joins = 0
        var below = 0
        var above = 0
        var broken = 0
        var left = 0
        var watched = 0.0
        var truth = 0.0
        var livePeak = 0
        var settledPeak = 0

        /// The rules that do not hold.
        func brokenRules(players: Int) -> [String] {
            [
                ("joins", joins == players), ("never below the truth", below == 0),
                ("never above it and its departures", above == 0), ("identities", broken == 0),
                ("nobody left", left == 0), ("watch time", abs(watched / truth - 1) < 0.005),
            ].filter { !$0.1 }.map(\.0)
        }
    }

    /// The ledgers of a run, and the ids that the players have there.
    private struct Run {
        let clock = HandMovedClock()
        let start: MonotonicTime
        private let keys: SessionKeys
        private let startDate = Date()
        private(set) var ledger: ViewershipLedger
        /// Another gateway that nobody told of the first one.
        let other: ViewershipLedger
        var sids: [String]
        /// Who plays and never counts: a relay, and those who forged their ids.
        let intruders: [String]
        private var history = RememberedAudience()

        init(players: Int, mutant: AudienceMutant?) {
            let (clock, date, keys) = (clock, startDate, SessionKeys(current: .random(version: 1)))
            self.keys = keys
            start = clock.now
            func makeLedger(_ keys: SessionKeys) -> ViewershipLedger {
                ViewershipLedger(keys: keys, clock: clock, configuration: .init(), startDate: date)
            }
            let ledger = makeLedger(keys)
            self.ledger = ledger
            other = makeLedger(keys)
            sids = (0..<players).map { _ in ledger.makeSession(room: AudienceCrowd.room) }
            let role: PlayerRequest.Role = mutant == .countedRelay ? .viewer : .relay
            var intruders: [String] = []
            switch ledger.admit(PlayerRequest(role: role), to: AudienceCrowd.room) {
            case .viewer(let sid), .uncounted(let sid): intruders.append(sid)
            case .refused, .crowded: break
            }
            // Whoever has the key makes ids that are as good as ours.
            let forger = makeLedger(mutant == .unprovenIDs ? keys : SessionKeys(current: .random(version: 1)))
            intruders += (0..<50).map { _ in forger.makeSession(room: AudienceCrowd.room) }
            self.intruders = intruders
        }

        /// What happens from now on could be found on disk.
        func keepHistory() {
            ledger.keepHistory()
            ledger.roomBegan(AudienceCrowd.room, sid: "RM1")
        }

        /// Another ledger begins where this one is killed, in the moment behind a write.
        mutating func restart(_ mutant: AudienceMutant?) {
            history.write(ledger.takeHistory())
            let date = startDate.addingTimeInterval(clock.now.seconds(since: start))
            ledger = ViewershipLedger(keys: keys, clock: clock, configuration: .init(), startDate: date)
            ledger.keepHistory()
            if mutant != .lostHistory { ledger.restore(history.recovered(mutant)) }
            ledger.roomBegan(AudienceCrowd.room, sid: "RM1")
        }
    }

    private struct Player {
        var playback: PlaybackProtocol
        var join: Int
        var leave: Int
        var blip: Range<Int>?

        var isConnection: Bool { playback.isConnection }
        var watched: Int { leave - join - (isConnection ? blip?.count ?? 0 : 0) }
    }

    private struct Event {
        var at: Int
        var player: Int32
        var kind: UInt8
    }

    /// How long a viewer by requests still counts after its last one, in seconds, and what passes between two of them.
    private static let tail = 12
    private static let room = "show"
    private static let poll = 2_000
    private static let qualifying = 5_000

    private let players: [Player]
    private let events: [Event]
    private let end: Int

    /// - Parameter seed: The same crowd for the same one.
    init(players count: Int, seconds: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let players = (0..<count).map { _ -> Player in
            let kinds: [PlaybackProtocol] = [.hls, .hls, .hls, .llhls, .rtmp, .flv]
            let join = Int.random(in: 0..<seconds * 1000, using: &random)
            let stay = 10_000 + Int.random(in: 0..<490, using: &random) * Int.random(in: 0..<490, using: &random)
            let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
            var player = Player(playback: kind, join: join, leave: join + stay)
            let away = join + 6000 + Int.random(in: 0..<60_000, using: &random)
            let length = Int.random(in: 500...7000, using: &random)
            if away + length < player.leave - 500 { player.blip = away..<away + length }
            return player
        }
        self.players = players
        end = (players.map(\.leave).max() ?? 0) / 1000
        var events: [Event] = []
        for (index, player) in players.enumerated() {
            let index = Int32(index)
            if player.isConnection {
                events.append(Event(at: player.join, player: index, kind: 0))
                events.append(Event(at: player.join + Self.qualifying, player: index, kind: 1))
                if let blip = player.blip {
                    events.append(Event(at: blip.lowerBound, player: index, kind: 2))
                    events.append(Event(at: blip.upperBound, player: index, kind: 0))
                }
                events.append(Event(at: player.leave, player: index, kind: 2))
            } else {
                let polls = Self.polls(of: player, using: &random)
                for at in polls { events.append(Event(at: at, player: index, kind: at == polls.last ? 4 : 3)) }
            }
        }
        self.events = events.sorted { ($0.at, $0.player) < ($1.at, $1.player) }
    }

    private static func polls(of player: Player, using random: inout some RandomNumberGenerator) -> [Int] {
        var polls: [Int] = []
        var next = player.join
        while next < player.leave {
            polls.append(next)
            next += poll + Int.random(in: -poll / 10...poll / 10, using: &random)
            if let blip = player.blip, blip.contains(next) { next = blip.upperBound }
        }
        return polls
    }

    /// Plays everything; what is compared is what the ledger says at each second.
    ///
    /// - Parameters:
    ///   - mutant: The one fault in what is told to it, or in what is done with it.
    ///   - isKilled: Whether the gateway is killed in the middle, and started again at once.
    func run(_ mutant: AudienceMutant? = nil, isKilled: Bool = false) -> Result {
        let kill = isKilled || mutant?.isOfKill == true ? end / 2 : nil
        var run = Run(players: players.count, mutant: mutant)
        if kill != nil { run.keepHistory() }
        let truth = truths()
        var result = Result()
        var next = 0
        for second in 0...end + 62 {
            while next < events.count, events[next].at <= second * 1000 {
                record(events[next], &run, mutant)
                next += 1
            }
            let now = run.start.advanced(seconds: Double(second))
            run.clock.move(to: now)
            if second % 2 == 0, second < end {
                for sid in run.intruders {
                    let kind = AudienceEvent.Kind.playlistServed
                    run.ledger.record(AudienceEvent(sid: sid, room: Self.room, playback: .hls, kind: kind, at: now))
                }
            }
            if mutant != .stoppedClock {
                run.ledger.advance(to: now)
                if mutant == .twoGateways { run.other.advance(to: now) }
            }
            if second == kill { restart(&run, at: second * 1000, mutant) }
            let report = report(of: run, mutant)
            let connected = (report.byProtocol[.rtmp] ?? 0) + (report.byProtocol[.flv] ?? 0)
            let polling = (report.byProtocol[.hls] ?? 0) + (report.byProtocol[.llhls] ?? 0)
            let (low, high) = (truth.polling[second], truth.pollingHigh[second])
            // Who was not proven to watch before the kill is a little later, and who had left may be a little longer.
            let isReturning = kill.map { ($0..<$0 + 2 * Self.tail).contains(second) } ?? false
            if !isReturning, connected < truth.connected[second] || polling < low { result.below += 1 }
            if !isReturning, connected > truth.connected[second] || polling > high { result.above += 1 }
            let sums = [
                report.byProtocol.values.reduce(0, +), report.byRegion.values.reduce(0, +),
                report.byRendition.values.reduce(0, +), report.byClient.values.reduce(0, +),
            ]
            if sums.contains(where: { $0 != report.concurrent })
                || report.joins - report.leaves != report.concurrent + report.resumable
            {
                result.broken += 1
            }
        }
        let report = report(of: run, mutant)
        result.joins = report.joins
        result.left = report.concurrent + report.resumable
        result.watched = report.watchTimeSeconds
        result.truth = Double(players.map(\.watched).reduce(0, +)) / 1000
        result.livePeak = report.peak
        result.settledPeak = truth.peak
        return result
    }

    /// The gateway is killed and begins anew; all connections are back at once.
    private func restart(_ run: inout Run, at now: Int, _ mutant: AudienceMutant?) {
        run.restart(mutant)
        let moment = run.clock.now
        for (index, player) in players.enumerated() where player.isConnection {
            guard player.join <= now, now < player.leave, player.blip?.contains(now) != true else { continue }
            let isProven = player.join + Self.qualifying <= now
            for kind in [.opened] + (isProven ? [.watched(since: moment)] : []) as [AudienceEvent.Kind] {
                run.ledger.record(
                    AudienceEvent(
                        sid: run.sids[index],
                        room: Self.room,
                        playback: player.playback,
                        rendition: Self.rendition(of: Int32(index), at: now),
                        kind: kind,
                        at: moment
                    )
                )
            }
        }
    }

    /// The figures of the room, of two gateways their sums.
    private func report(of run: Run, _ mutant: AudienceMutant?) -> RoomViewership {
        var report = run.ledger.report(room: Self.room)
        guard mutant == .twoGateways else { return report }
        let other = run.other.report(room: Self.room)
        report.concurrent += other.concurrent
        report.joins += other.joins
        report.leaves += other.leaves
        report.resumable += other.resumable
        report.watchTimeSeconds += other.watchTimeSeconds
        report.byProtocol.merge(other.byProtocol, uniquingKeysWith: +)
        report.byRegion.merge(other.byRegion, uniquingKeysWith: +)
        report.byRendition.merge(other.byRendition, uniquingKeysWith: +)
        report.byClient.merge(other.byClient, uniquingKeysWith: +)
        return report
    }

    private static func rendition(of player: Int32, at milliseconds: Int) -> String {
        player % 3 == 0 && milliseconds / 30_000 % 2 == 0 ? "720p" : "360p"
    }

    private func record(_ event: Event, _ run: inout Run, _ mutant: AudienceMutant?) {
        let index = Int(event.player)
        let player = players[index]
        var at = event.at
        switch mutant {
        case .lostCloses where event.kind == 2: return
        case .lostPolls where event.kind == 3 && at / 1000 % 20 > 2: return
        case .shortTimeout where event.kind == 3:
            if let blip = player.blip, at >= blip.lowerBound, at < blip.lowerBound + (Self.tail + 1) * 1000 { return }
        case .endNotBackDated where event.kind == 4: at += 11_000
        case .newIDAfterBlip where event.kind == 0 && at > player.join:
            run.sids[index] = run.ledger.makeSession(room: Self.room)
        case .joinAtSwitch where event.kind == 3:
            let before = Self.rendition(of: event.player, at: at - Self.poll)
            if before != Self.rendition(of: event.player, at: at) {
                run.sids[index] = run.ledger.makeSession(room: Self.room)
            }
        default: break
        }
        let isElsewhere = mutant == .twoGateways && index % 2 == 0 && at > (player.join + player.leave) / 2
        let ledger = isElsewhere ? run.other : run.ledger
        func tell(_ kind: AudienceEvent.Kind) {
            ledger.record(
                AudienceEvent(
                    sid: run.sids[index],
                    room: Self.room,
                    playback: player.playback,
                    rendition: Self.rendition(of: event.player, at: event.at),
                    kind: kind,
                    at: run.start.advanced(milliseconds: Int64(at))
                )
            )
        }
        switch event.kind {
        case 0: tell(.opened)
        case 1: tell(.watched(since: run.start.advanced(milliseconds: Int64(player.join))))
        case 2: tell(.closed(.left))
        default: tell(.playlistServed)
        }
        // It plays on at once, and its new self is proven to.
        if mutant == .newIDAfterBlip, event.kind == 0, at > player.join {
            tell(.watched(since: run.start.advanced(milliseconds: Int64(at))))
        }
    }

    /// Who truly watches at each whole second.
    private func truths() -> (connected: [Int], polling: [Int], pollingHigh: [Int], peak: Int) {
        var (connected, polling, high) = (Changes(end), Changes(end), Changes(end))
        for player in players {
            if player.isConnection {
                connected.add(player.join + Self.qualifying, player.leave)
                if let blip = player.blip { connected.add(blip.upperBound, blip.lowerBound) }
            } else {
                // Proven by the second or third playlist; above the truth are those not yet timed out.
                polling.add(player.join + 2 * Self.poll + Self.poll / 2, player.leave)
                high.add(player.join + Self.poll - Self.poll / 10, player.leave + Self.tail * 1000)
            }
        }
        let sums = (connected.sums, polling.sums, high.sums)
        let peak = zip(sums.0, sums.1).map(+).max() ?? 0
        return (sums.0, sums.1, sums.2, peak)
    }

    private struct Changes {
        private var changes: [Int]

        init(_ end: Int) {
            changes = Array(repeating: 0, count: end + 80)
        }

        mutating func add(_ from: Int, _ to: Int) {
            changes[(from + 999) / 1000] += 1
            changes[(to + 999) / 1000] -= 1
        }

        var sums: [Int] {
            var sum = 0
            return changes.map { change in
                sum += change
                return sum
            }
        }
    }
}

/// A clock that is moved by hand.
final class HandMovedClock: MonotonicClock {
    private let time = Atomic<Int64>(1_000_000_000_000)

    var now: MonotonicTime { MonotonicTime(nanoseconds: time.load(ordering: .relaxed)) }

    func move(to moment: MonotonicTime) {
        time.store(moment.nanoseconds, ordering: .relaxed)
    }
}
