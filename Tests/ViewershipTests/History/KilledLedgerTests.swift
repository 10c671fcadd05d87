import FootlightTesting
import Foundation
import Media
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Viewership

/// A ledger that is killed while viewers of every protocol join, leave and return; only its disk remains.
private struct KilledLedgerScenario {
    /// What a kill leaves.
    final class Disk: Sendable {
        let history = Mutex(InMemoryHistory())
    }

    struct Player {
        var sid: String
        var playback: PlaybackProtocol
        /// The spans of its connections or polling, in milliseconds.
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
            ManualClock(start: MonotonicTime(nanoseconds: 1_000_000_000_000)).now.advanced(
                milliseconds: Int64(milliseconds)
            )
        }
    }

    private let kill: Int
    private let back: Int
    private(set) var players: [Player] = []
    /// The number of connections that the kill breaks.
    private(set) var connectedAtKill = 0

    init(killedAt kill: Int) {
        self.kill = kill
        back = kill + 1000
        let protocols: [PlaybackProtocol] = [.rtmp, .flv, .hls, .llhls]
        let ledger = LedgerFixture().ledger
        for number in 0..<120 {
            let start = number * 1237 % (kill - 100)
            let again = back + 100 + number * 37 % 2000
            let end = kill + 15_000 + number * 61 % 3000
            let playback = protocols[number % protocols.count]
            var before = [start...kill]
            switch number % 10 {
            // The player leaves shortly before the kill, and returns after it.
            case 8 where start < kill - 6000: before = [start...kill - 10 - number * 7 % 990]
            // The player was interrupted shortly before the kill.
            case 9 where start < kill - 8500: before = [start...kill - 2500, kill - 10 - number * 7 % 990...kill]
            default: break
            }
            let spans = before + [again...end]
            players.append(Player(sid: ledger.makeSession(room: "show"), playback: playback, spans: spans))
            if playback.isContinuous, before.last?.upperBound == kill { connectedAtKill += 1 }
        }
    }

    struct ObservedFigures {
        var joins = 0
        var watched = 0.0
        var backwards: [String] = []

        mutating func record(_ report: RoomViewership, at milliseconds: Int) {
            if report.joins < joins { backwards.append("\(milliseconds): \(joins) joins, then \(report.joins)") }
            if report.watchTimeSeconds < watched - 1e-6 {
                backwards.append("\(milliseconds): \(watched) s, then \(report.watchTimeSeconds)")
            }
            (joins, watched) = (max(joins, report.joins), max(watched, report.watchTimeSeconds))
        }
    }

    /// Plays all events with a kill; observes the report four times a second and at the kill.
    ///
    /// - Parameter writesSteps: False for a kill that leaves the batches of each second only.
    func play(writesSteps: Bool = true) -> (observed: ObservedFigures, fixture: LedgerFixture, disk: Disk) {
        let disk = Disk()
        var fixture = begun(LedgerFixture(), disk, writesSteps)
        var observed = ObservedFigures()
        var events = players.flatMap { player in
            // The kill itself sends no close events.
            player.events.filter { $0.at != kill }.map { (at: $0.at, kind: $0.kind, player: player) }
        }.sorted { $0.at < $1.at }[...]
        func pass(to moment: Int) {
            while let event = events.first, event.at <= moment {
                events.removeFirst()
                let playback = event.player.playback
                // No gateway runs between the kill and the return.
                guard event.at < kill || event.at >= back else { continue }
                fixture.record(event.player.sid, event.kind, at: Double(event.at) / 1000, by: playback)
            }
            fixture.clock.advance(to: fixture.moment(Double(moment) / 1000))
        }
        func turn(_ moment: Int) {
            pass(to: moment)
            disk.history.withLock { $0.write(fixture.ledger.drainSteps()) }
            let until = disk.history.withLock { $0.livedUntil ?? 0 }
            fixture.ledger.confirmStepsWritten(aliveUntil: until)
            if moment % 1000 == 0 {
                fixture.ledger.advance(to: fixture.clock.now)
                let batch = fixture.ledger.drainHistory()
                disk.history.withLock { $0.write(batch) }
                fixture.ledger.confirmHistoryWritten()
            }
            if moment % 250 == 0 { observed.record(fixture.report, at: moment) }
        }
        for moment in stride(from: 0, to: kill, by: 50) { turn(moment) }
        pass(to: kill - 1)
        observed.record(fixture.report, at: kill)
        fixture.clock.advance(to: fixture.moment(Double(back) / 1000))
        fixture = begun(LedgerFixture(clock: fixture.clock, start: fixture.start), disk, writesSteps)
        observed.record(fixture.report, at: back)
        let end = players.flatMap(\.spans).map(\.upperBound).max() ?? 0
        for moment in stride(from: (back / 50 + 1) * 50, through: end + 62_000, by: 50) { turn(moment) }
        return (observed, fixture, disk)
    }

    private func begun(_ fixture: LedgerFixture, _ disk: Disk, _ writesSteps: Bool) -> LedgerFixture {
        fixture.ledger.enableHistory()
        var recovered = disk.history.withLock { $0.recovered }
        if !writesSteps { (recovered.steps, recovered.livedUntil) = ([], nil) }
        fixture.ledger.restore(recovered)
        fixture.ledger.setStepWriter { [weak ledger = fixture.ledger] in
            if let ledger { disk.history.withLock { $0.write(ledger.drainSteps()) } }
        }
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        fixture.ledger.setOnAir(fixture.room, true)
        return fixture
    }
}

@Suite("Kill of the ledger", .enabled(if: TestRun.isFull))
struct KilledLedgerTests {
    @Test(
        "G1 G3 joins are neither lost nor doubled, reported figures never decrease, a connection loses at most 0.2 s",
        arguments: (0..<24).map { 9_000 + $0 * 1_043 }
    )
    func killed(at kill: Int) throws {
        let scenario = KilledLedgerScenario(killedAt: kill)
        let (observed, fixture, disk) = scenario.play()
        #expect(observed.backwards.isEmpty, "\(observed.backwards.prefix(5))")
        let report = fixture.report
        #expect(report.joins == scenario.players.count && report.concurrent == 0 && report.brokenIdentities.isEmpty)
        let history = disk.history.withLock { $0 }
        let epoch = try #require(history.broadcasts.values.first).epoch
        let sums = history.sums(epoch: epoch)
        #expect(sums.map(\.counts.joins).reduce(0, +) == scenario.players.count)
        let watched = sums.filter { $0.key.dimensions?.playback.isContinuous == true }.map(\.counts.watched).reduce(
            0,
            +
        )
        let connected = scenario.players.filter(\.playback.isContinuous).flatMap(\.spans)
        let truth = connected.map { $0.upperBound - $0.lowerBound }.reduce(0, +)
        // More is possible too, because the process declares to live 0.1 s ahead.
        #expect(
            abs(Int(watched) - truth) <= scenario.connectedAtKill * 200,
            "\(watched) of \(truth), \(scenario.connectedAtKill) connected at the kill"
        )
        let rows = history.sessions.values.filter { $0.epoch == epoch }
        #expect(Set(rows.map(\.code)).count == scenario.players.count && rows.count == scenario.players.count)
        let byRow = rows.filter { $0.dimensions.playback.isContinuous }.map(\.watched).reduce(0, +)
        #expect(abs(Int(byRow) - truth) <= scenario.connectedAtKill * 200, "\(byRow) of \(truth) in the rows")
    }

    @Test("without session steps, joins and watch time decrease")
    func lostSteps() {
        let observed = KilledLedgerScenario(killedAt: 9_000 + 10 * 1_043 + 17).play(writesSteps: false).observed
        #expect(!observed.backwards.isEmpty)
    }
}
