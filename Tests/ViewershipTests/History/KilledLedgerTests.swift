import Foundation
import Media
import Stage
import Synchronization
import Testing

@testable import Viewership

/// A ledger that is killed while viewers by every way come, leave and come back; what it had on disk is all that is left.
private struct KilledCrowd {
    /// What a kill leaves.
    final class Disk: Sendable {
        let history = Mutex(MemoryHistory())
    }

    struct Player {
        var sid: String
        var playback: PlaybackProtocol
        /// When it has a connection, or asks for playlists; milliseconds.
        var spans: [ClosedRange<Int>]

        var events: [(at: Int, kind: AudienceEvent.Kind)] {
            guard playback.isContinuous else {
                return spans.flatMap { span in
                    stride(from: span.lowerBound, through: span.upperBound, by: 2000).map { ($0, .playlistServed) }
                }
            }
            return spans.flatMap { span -> [(at: Int, kind: AudienceEvent.Kind)] in
                let opened: (at: Int, kind: AudienceEvent.Kind) = (span.lowerBound, .opened)
                guard span.count > 5000 else { return [opened, (span.upperBound, .closed(.left))] }
                let proof = AudienceEvent.Kind.watched(since: Self.moment(span.lowerBound))
                return [opened, (span.lowerBound + 5000, proof), (span.upperBound, .closed(.left))]
            }
        }

        private static func moment(_ milliseconds: Int) -> MonotonicTime {
            HandClock().now.advanced(milliseconds: Int64(milliseconds))
        }
    }

    private let kill: Int
    private let back: Int
    private(set) var players: [Player] = []
    /// Those whom the kill finds connected.
    private(set) var struck = 0

    init(killedAt kill: Int) {
        self.kill = kill
        back = kill + 1000
        let ways: [PlaybackProtocol] = [.rtmp, .flv, .hls, .llhls]
        let ledger = Stand().ledger
        for number in 0..<120 {
            let start = number * 1237 % (kill - 100)
            let again = back + 100 + number * 37 % 2000
            let end = kill + 15_000 + number * 61 % 3000
            let playback = ways[number % ways.count]
            var before = [start...kill]
            switch number % 10 {
            // It leaves shortly before, and comes back after all.
            case 8 where start < kill - 6000: before = [start...kill - 10 - number * 7 % 990]
            // It was away shortly before.
            case 9 where start < kill - 8500: before = [start...kill - 2500, kill - 10 - number * 7 % 990...kill]
            default: break
            }
            let spans = before + [again...end]
            players.append(Player(sid: ledger.makeSession(room: "show"), playback: playback, spans: spans))
            if playback.isContinuous, before.last?.upperBound == kill { struck += 1 }
        }
    }

    struct Told {
        var joins = 0
        var watched = 0.0
        var backwards: [String] = []

        mutating func take(_ report: RoomViewership, at milliseconds: Int) {
            if report.joins < joins { backwards.append("\(milliseconds): \(joins) joins, then \(report.joins)") }
            if report.watchTimeSeconds < watched - 1e-6 {
                backwards.append("\(milliseconds): \(watched) s, then \(report.watchTimeSeconds)")
            }
            (joins, watched) = (max(joins, report.joins), max(watched, report.watchTimeSeconds))
        }
    }

    /// Plays everything, with a kill; looks at the figures four times a second and at the moment of the kill.
    ///
    /// - Parameter keepsSteps: False for a kill that leaves what was written each second, and nothing else.
    func play(keepsSteps: Bool = true) -> (told: Told, stand: Stand, disk: Disk) {
        let disk = Disk()
        var stand = begun(Stand(), disk, keepsSteps)
        var told = Told()
        var events = players.flatMap { player in
            // A kill closes nothing that anybody would hear of.
            player.events.filter { $0.at != kill }.map { (at: $0.at, kind: $0.kind, player: player) }
        }.sorted { $0.at < $1.at }[...]
        func pass(to moment: Int) {
            while let event = events.first, event.at <= moment {
                events.removeFirst()
                let playback = event.player.playback
                // Nobody answers between the kill and the return.
                guard event.at < kill || event.at >= back else { continue }
                stand.record(event.player.sid, event.kind, at: Double(event.at) / 1000, by: playback)
            }
            stand.clock.move(to: stand.moment(Double(moment) / 1000))
        }
        func turn(_ moment: Int) {
            pass(to: moment)
            disk.history.withLock { $0.write(stand.ledger.takeSteps()) }
            let until = disk.history.withLock { $0.livedUntil ?? 0 }
            stand.ledger.stepsWritten(livesUntil: until)
            if moment % 1000 == 0 {
                stand.ledger.advance(to: stand.clock.now)
                let batch = stand.ledger.takeHistory()
                disk.history.withLock { $0.write(batch) }
                stand.ledger.historyWritten()
            }
            if moment % 250 == 0 { told.take(stand.report, at: moment) }
        }
        for moment in stride(from: 0, to: kill, by: 50) { turn(moment) }
        pass(to: kill - 1)
        told.take(stand.report, at: kill)
        stand.clock.move(to: stand.moment(Double(back) / 1000))
        stand = begun(Stand(clock: stand.clock, start: stand.start), disk, keepsSteps)
        told.take(stand.report, at: back)
        let end = players.flatMap(\.spans).map(\.upperBound).max() ?? 0
        for moment in stride(from: (back / 50 + 1) * 50, through: end + 62_000, by: 50) { turn(moment) }
        return (told, stand, disk)
    }

    private func begun(_ stand: Stand, _ disk: Disk, _ keepsSteps: Bool) -> Stand {
        stand.ledger.keepHistory()
        var recovered = disk.history.withLock { $0.recovered }
        if !keepsSteps { (recovered.steps, recovered.livedUntil) = ([], nil) }
        stand.ledger.restore(recovered)
        stand.ledger.beforeTellingSteps { [weak ledger = stand.ledger] in
            if let ledger { disk.history.withLock { $0.write(ledger.takeSteps()) } }
        }
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        stand.ledger.setOnAir(stand.room, true)
        return stand
    }
}

@Suite("The ledger is killed at any moment")
struct KilledLedgerTests {
    @Test(
        "G1 G3 no join is lost or counted twice, nothing that is told steps back, and a connection loses a fifth of a second",
        arguments: (0..<24).map { 9_000 + $0 * 1_043 }
    )
    func killed(at kill: Int) throws {
        let crowd = KilledCrowd(killedAt: kill)
        let (told, stand, disk) = crowd.play()
        #expect(told.backwards.isEmpty, "\(told.backwards.prefix(5))")
        let report = stand.report
        #expect(report.joins == crowd.players.count && report.concurrent == 0 && report.brokenIdentities.isEmpty)
        let history = disk.history.withLock { $0 }
        let epoch = try #require(history.broadcasts.values.first).epoch
        let sums = history.sums(epoch: epoch)
        #expect(sums.map(\.joins).reduce(0, +) == crowd.players.count)
        let watched = sums.filter { $0.key.dimensions?.playback.isContinuous == true }.map(\.watched).reduce(0, +)
        let connected = crowd.players.filter(\.playback.isContinuous).flatMap(\.spans)
        let truth = connected.map { $0.upperBound - $0.lowerBound }.reduce(0, +)
        // More is possible too: a process says a tenth of a second ahead that it lives.
        #expect(abs(Int(watched) - truth) <= crowd.struck * 200, "\(watched) of \(truth), \(crowd.struck) struck")
        let rows = history.sessions.values.filter { $0.epoch == epoch }
        #expect(Set(rows.map(\.code)).count == crowd.players.count && rows.count == crowd.players.count)
        let byRow = rows.filter { $0.dimensions.playback.isContinuous }.map(\.watched).reduce(0, +)
        #expect(abs(Int(byRow) - truth) <= crowd.struck * 200, "\(byRow) of \(truth) in the rows")
    }

    @Test("where the steps of sessions are lost, joins and watch time step back")
    func lostSteps() {
        let told = KilledCrowd(killedAt: 9_000 + 10 * 1_043 + 17).play(keepsSteps: false).told
        #expect(!told.backwards.isEmpty)
    }
}
