import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Viewership

/// Simulated players with predetermined join and leave times, recorded by a ledger on a manually advanced clock.
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

        /// Returns the names of the rules that the result breaks.
        func brokenRules(players: Int) -> [String] {
            [
                ("joins", joins == players), ("never below the truth", below == 0),
                ("never above it and its departures", above == 0), ("identities", broken == 0),
                ("none left over", left == 0), ("watch time", abs(watched / truth - 1) < 0.005),
            ].filter { !$0.1 }.map(\.0)
        }
    }

    /// The ledgers of one run, and the players' session ids.
    private struct Run {
        let clock = ManualClock(start: MonotonicTime(nanoseconds: 1_000_000_000_000))
        let start: MonotonicTime
        private let keys: SessionKeys
        private let startDate = Date()
        private(set) var ledger: ViewershipLedger
        /// A second gateway's ledger, without any data of the first.
        let other: ViewershipLedger
        var sids: [String]
        /// Sessions that play and must never count: a relay, and viewers with forged ids.
        let intruders: [String]
        private var history = StoredAudience()

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
            case .refused, .crowded, .denied: break
            }
            // A holder of the key issues ids that are indistinguishable from the gateway's own.
            let forger = makeLedger(mutant == .unprovenIDs ? keys : SessionKeys(current: .random(version: 1)))
            intruders += (0..<50).map { _ in forger.makeSession(room: AudienceCrowd.room) }
            self.intruders = intruders
        }

        /// Enables the history, so that a restart finds it on disk.
        func enableHistory() {
            ledger.enableHistory()
            ledger.roomBegan(AudienceCrowd.room, sid: "RM1")
        }

        /// Replaces the ledger with a new one, as after a kill immediately after a history write.
        mutating func restart(_ mutant: AudienceMutant?) {
            history.write(ledger.drainHistory())
            let date = startDate.addingTimeInterval(clock.now.seconds(since: start))
            ledger = ViewershipLedger(keys: keys, clock: clock, configuration: .init(), startDate: date)
            ledger.enableHistory()
            if mutant != .lostHistory { ledger.restore(history.recovered(mutant)) }
            ledger.roomBegan(AudienceCrowd.room, sid: "RM1")
        }
    }

    private struct Player {
        var playback: PlaybackProtocol
        var join: Int
        var leave: Int
        var interruption: Range<Int>?

        var isConnection: Bool { playback.isConnection }
        var watched: Int { leave - join - (isConnection ? interruption?.count ?? 0 : 0) }
    }

    private struct Event {
        var at: Int
        var player: Int32
        var kind: UInt8
    }

    /// Seconds for which a viewer by requests still counts after its last request, and milliseconds between two
    /// requests.
    private static let tail = 12
    private static let room = "show"
    private static let poll = 2_000
    private static let qualifying = 5_000

    private let players: [Player]
    private let events: [Event]
    private let end: Int

    /// - Parameter seed: The same seed yields the same crowd.
    init(players count: Int, seconds: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let players = (0..<count).map { _ -> Player in
            let kinds: [PlaybackProtocol] = [.hls, .hls, .hls, .llhls, .rtmp, .flv]
            let join = Int.random(in: 0..<seconds * 1000, using: &random)
            let stay = 10_000 + Int.random(in: 0..<490, using: &random) * Int.random(in: 0..<490, using: &random)
            let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
            var player = Player(playback: kind, join: join, leave: join + stay)
            let away = join + 6000 + Int.random(in: 0..<60_000, using: &random)
            let length = Int.random(in: 500...7000, using: &random)
            if away + length < player.leave - 500 { player.interruption = away..<away + length }
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
                if let interruption = player.interruption {
                    events.append(Event(at: interruption.lowerBound, player: index, kind: 2))
                    events.append(Event(at: interruption.upperBound, player: index, kind: 0))
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
            if let interruption = player.interruption, interruption.contains(next) { next = interruption.upperBound }
        }
        return polls
    }

    /// Runs the whole crowd and compares the ledger's report with the truth at each second.
    ///
    /// - Parameters:
    ///   - mutant: The single fault injected into the events or into their handling.
    ///   - isKilled: Whether the gateway is killed in the middle and restarted at once.
    func run(_ mutant: AudienceMutant? = nil, isKilled: Bool = false) -> Result {
        let kill = isKilled || mutant?.isOfKill == true ? end / 2 : nil
        var run = Run(players: players.count, mutant: mutant)
        if kill != nil { run.enableHistory() }
        let truth = truths()
        var result = Result()
        var next = 0
        for second in 0...end + 62 {
            while next < events.count, events[next].at <= second * 1000 {
                record(events[next], &run, mutant)
                next += 1
            }
            let now = run.start.advanced(seconds: Double(second))
            run.clock.advance(to: now)
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
            // Viewers not proven before the kill count slightly late; viewers that had left may count slightly longer.
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

    /// Kills the gateway and restarts it; all connections are reopened at once.
    private func restart(_ run: inout Run, at now: Int, _ mutant: AudienceMutant?) {
        run.restart(mutant)
        let moment = run.clock.now
        for (index, player) in players.enumerated() where player.isConnection {
            guard player.join <= now, now < player.leave, player.interruption?.contains(now) != true else { continue }
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

    /// Returns the report of the room, summed over two gateways where the mutant runs two.
    private func report(of run: Run, _ mutant: AudienceMutant?) -> RoomViewership {
        var report = run.ledger.report(room: Self.room)
        guard mutant == .twoGateways else { return report }
        let other = run.other.report(room: Self.room)
        report.concurrent += other.concurrent
        report.counts += other.counts
        report.resumable += other.resumable
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
            if let start = player.interruption?.lowerBound, at >= start, at < start + (Self.tail + 1) * 1000 { return }
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
        let isServedElsewhere = mutant == .twoGateways && index % 2 == 0 && at > (player.join + player.leave) / 2
        let ledger = isServedElsewhere ? run.other : run.ledger
        func send(_ kind: AudienceEvent.Kind) {
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
        case 0: send(.opened)
        case 1: send(.watched(since: run.start.advanced(milliseconds: Int64(player.join))))
        case 2: send(.closed(.left))
        default: send(.playlistServed)
        }
        // The player resumes at once, and its new session is proven.
        if mutant == .newIDAfterBlip, event.kind == 0, at > player.join {
            send(.watched(since: run.start.advanced(milliseconds: Int64(at))))
        }
    }

    /// Returns the true number of viewers at each whole second.
    private func truths() -> (connected: [Int], polling: [Int], pollingHigh: [Int], peak: Int) {
        var (connected, polling, high) = (Changes(end), Changes(end), Changes(end))
        for player in players {
            if player.isConnection {
                connected.add(player.join + Self.qualifying, player.leave)
                if let interruption = player.interruption {
                    connected.add(interruption.upperBound, interruption.lowerBound)
                }
            } else {
                // Viewers are proven by the second or third playlist; the upper bound includes those not yet timed out.
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

/// A million viewers by requests: memory per session, and time per request.
struct AudienceLoad {
    let sessions: Int

    func run() {
        let clock = ManualClock(start: MonotonicTime(nanoseconds: 1_000_000_000_000))
        let start = clock.now
        let ledger = ViewershipLedger(
            keys: SessionKeys(current: .random(version: 1)),
            clock: clock,
            configuration: .init(sessionLimit: sessions * 2),
            startDate: Date()
        )
        let sids = (0..<sessions).map { _ in ledger.makeSession(room: "show") }
        let before = Self.residentBytes
        touch(ledger, sids, at: start)
        let first = Date()
        touch(ledger, sids, at: start.advanced(seconds: 2))
        let joining = Date().timeIntervalSince(first)
        let after = Self.residentBytes
        var touches: [Double] = []
        for round in 2..<6 {
            let began = Date()
            touch(ledger, sids, at: start.advanced(seconds: Double(round) * 2))
            touches.append(Date().timeIntervalSince(began) / Double(sessions) * 1e6)
        }
        clock.advance(to: start.advanced(seconds: 11))
        let report = ledger.report(room: "show")
        let timers = Date()
        ledger.advance(to: clock.now)
        let timing = Date().timeIntervalSince(timers)
        print("live: \(report.concurrent) of \(sessions)")
        print("distinct: \(report.uniques.devices), \(report.uniques.isApproximate ? "estimated" : "exact")")
        print("bytes a session: \(verdict(Double(after - before) / Double(sessions), atMost: 100, digits: 1))")
        print("joining, us: \((joining / Double(sessions) * 1e6).text(3))")
        print("a touch, us: \(verdict(touches.sorted()[touches.count / 2], atMost: 0.5, digits: 3))")
        print("one turn of all timers, ms: \((timing * 1000).text(1))")
        withExtendedLifetime(sids) {}
    }

    private func touch(_ ledger: ViewershipLedger, _ sids: [String], at moment: MonotonicTime) {
        for sid in sids {
            ledger.record(AudienceEvent(sid: sid, room: "show", playback: .hls, kind: .playlistServed, at: moment))
        }
    }

    /// The resident memory of this process in bytes.
    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4096
    }
}
