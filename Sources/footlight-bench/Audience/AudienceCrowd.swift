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

        func isGood(players: Int) -> Bool {
            joins == players && below == 0 && above == 0 && broken == 0 && left == 0
                && abs(watched / truth - 1) < 0.005
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
    private static let poll = 2_000
    private static let qualifying = 5_000

    private let players: [Player]
    private let events: [Event]
    private let end: Int

    init(players count: Int, seconds: Int) {
        var random = SystemRandomNumberGenerator()
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
                for at in Self.polls(of: player, using: &random) {
                    events.append(Event(at: at, player: index, kind: 3))
                }
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
    func run() -> Result {
        let clock = HandMovedClock()
        let start = clock.now
        let ledger = ViewershipLedger(
            keys: SessionKeys(current: .random(version: 1)),
            clock: clock,
            configuration: .init(),
            startDate: Date()
        )
        let sids = players.map { _ in ledger.makeSession(room: "show") }
        let truth = truths()
        var result = Result()
        var next = 0
        for second in 0...end + 62 {
            while next < events.count, events[next].at <= second * 1000 {
                record(events[next], sids, ledger, start)
                next += 1
            }
            clock.move(to: start.advanced(seconds: Double(second)))
            ledger.advance(to: clock.now)
            let report = ledger.report(room: "show")
            let connected = (report.byProtocol[.rtmp] ?? 0) + (report.byProtocol[.flv] ?? 0)
            let polling = (report.byProtocol[.hls] ?? 0) + (report.byProtocol[.llhls] ?? 0)
            let (low, high) = (truth.polling[second], truth.pollingHigh[second])
            if connected < truth.connected[second] || polling < low { result.below += 1 }
            if connected > truth.connected[second] || polling > high { result.above += 1 }
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
        let report = ledger.report(room: "show")
        result.joins = report.joins
        result.left = report.concurrent + report.resumable
        result.watched = report.watchTimeSeconds
        result.truth = Double(players.map(\.watched).reduce(0, +)) / 1000
        result.livePeak = report.peak
        result.settledPeak = truth.peak
        return result
    }

    private func record(_ event: Event, _ sids: [String], _ ledger: ViewershipLedger, _ start: MonotonicTime) {
        let player = players[Int(event.player)]
        let at = start.advanced(milliseconds: Int64(event.at))
        let kind: AudienceEvent.Kind =
            switch event.kind {
            case 0: .opened
            case 1: .watched(since: start.advanced(milliseconds: Int64(player.join)))
            case 2: .closed(.left)
            default: .playlistServed
            }
        ledger.record(
            AudienceEvent(
                sid: sids[Int(event.player)],
                room: "show",
                playback: player.playback,
                rendition: event.player % 3 == 0 && event.at / 30_000 % 2 == 0 ? "720p" : "360p",
                kind: kind,
                at: at
            )
        )
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
