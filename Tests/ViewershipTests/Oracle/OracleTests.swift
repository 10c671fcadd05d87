import Stage
import TestSupport
import Testing

@testable import Viewership

@Suite("A simulated audience with ground truth", .enabled(if: TestRun.isFull))
struct OracleTests {
    @Test("5,000 players: exact joins, live counts within bounds each second, unbiased watch time, no leftovers")
    func crowd() {
        let oracle = Oracle(players: 5000, seconds: 600, seed: 1)
        let verdict = oracle.run()
        #expect(verdict == Oracle.Verdict())
    }

    @Test("smaller audiences with other seeds", arguments: [2, 3, 4, 5] as [UInt64])
    func seeds(seed: UInt64) {
        let oracle = Oracle(players: 1500, seconds: 300, seed: seed)
        let verdict = oracle.run()
        #expect(verdict == Oracle.Verdict())
    }

    @Test("each fault is detected by the rule that it breaks")
    func mutants() {
        let oracle = Oracle(players: 1000, seconds: 200, seed: 6)
        let lostCloses = oracle.run(.lostCloses)
        #expect(lostCloses.aboveTruth > 0)
        #expect(lostCloses.leftOver > 0)
        let newIDAfterBlip = oracle.run(.newIDAfterBlip)
        #expect(newIDAfterBlip.joins > 0)
        let lostPolls = oracle.run(.lostPolls)
        #expect(lostPolls.belowTruth > 0)
        let stoppedClock = oracle.run(.stoppedClock)
        #expect(stoppedClock.aboveTruth > 0)
        let endNotBackDated = oracle.run(.endNotBackDated)
        #expect(endNotBackDated.watchTime > 0)
        let countedRelay = oracle.run(.countedRelay)
        #expect(countedRelay.joins > 0)
        let joinAtSwitch = oracle.run(.joinAtSwitch)
        #expect(joinAtSwitch.joins > 0)
        let unprovenIDs = oracle.run(.unprovenIDs)
        #expect(unprovenIDs.joins > 0 && unprovenIDs.aboveTruth > 0)
        let twoGateways = oracle.run(.twoGateways)
        #expect(twoGateways.joins > 0)
        let shortTimeout = oracle.run(.shortTimeout)
        #expect(shortTimeout.belowTruth > 0)
    }

    @Test("G8 across a kill and a restart after two seconds no join is lost or doubled, and identities hold")
    func killed() {
        let oracle = Oracle(players: 1500, seconds: 200, seed: 7)
        let crash = Oracle.Crash(at: 90, downtime: 2)
        let verdict = oracle.run(crash: crash)
        #expect(verdict == Oracle.Verdict())
        let lostHistory = oracle.run(.lostHistory, crash: crash)
        #expect(lostHistory.joins > 0)
        let joinsAgain = oracle.run(.joinsAgain, crash: crash)
        #expect(joinsAgain.joins > 0)
    }

    @Test(
        "audiences with switches, rare polling, media or a late log, with several seeds",
        arguments: [.logged, .rare, .turning, .seen, [.logged, .turning], [.rare, .turning, .seen]]
            as [Oracle.Features],
        [11, 12, 13] as [UInt64]
    )
    func combinations(features: Oracle.Features, seed: UInt64) {
        let oracle = Oracle(players: 600, seconds: 150, seed: seed, features: features)
        let verdict = oracle.run()
        #expect(verdict == Oracle.Verdict(), "\(verdict)")
        // The features are present in the input.
        #expect(features.contains(.seen) == (oracle.playlistOnlyClients.count == 150))
        #expect(features.contains(.rare) == oracle.players.contains { !$0.dry.isEmpty })
        #expect(features.contains(.turning) == oracle.players.contains { !$0.turns.isEmpty })
    }

    @Test("log lines counted on arrival or twice, an ignored lag and ignored regions are detected")
    func logMutants() {
        let oracle = Oracle(players: 400, seconds: 120, seed: 14, features: .logged)
        #expect(oracle.run(.linesOfNow).watchTime > 0)
        #expect(oracle.run(.repeatsOfNow).watchTime > 0)
        #expect(oracle.run(.unreportedLag).belowTruth > 0)
        let firstPlace = oracle.run(.firstPlace)
        #expect(firstPlace.regions == 3 && firstPlace.joins == 0)
    }

    @Test("an HTTP-FLV viewer that returns with a new id or in the old rendition is detected")
    func turnMutants() {
        let oracle = Oracle(players: 400, seconds: 120, seed: 15, features: .turning)
        #expect(oracle.run(.newIDAfterBlip).joins > 0)
        let lostTurns = oracle.run(.lostTurns)
        #expect(lostTurns.switches > 0 && lostTurns.joins == 0)
    }

    @Test("qualification without media, and media that qualifies no session, are detected")
    func mediaMutants() {
        let oracle = Oracle(players: 400, seconds: 120, seed: 16, features: .seen)
        let unseenMedia = oracle.run(.unseenMedia)
        #expect(unseenMedia.joins > 0 && unseenMedia.aboveTruth > 0 && unseenMedia.excluded > 0)
        let lostMedia = oracle.run(.lostMedia)
        #expect(lostMedia.joins > 0 && lostMedia.belowTruth > 0 && lostMedia.excluded > 0)
        // Rare polling is tolerated with media only.
        let rare = Oracle(players: 400, seconds: 120, seed: 17, features: .rare).run(.lostMedia)
        #expect(rare.joins > 0 && rare.belowTruth > 0)
    }

    @Test("of connections alone the peak is the true one, and watch time is the area under the count")
    func connectionsAlone() {
        let fixture = LedgerFixture()
        var random = SeededGenerator(seed: 9)
        var moves: [(at: Int, kind: AudienceEvent.Kind, sid: String)] = []
        for _ in 0..<500 {
            let sid = fixture.ledger.makeSession(room: fixture.room)
            let join = Int.random(in: 0..<100_000, using: &random)
            let leave = join + 5000 + Int.random(in: 0..<60_000, using: &random)
            moves.append((join, .opened, sid))
            moves.append((join + 5000, .watched(since: fixture.moment(Double(join) / 1000)), sid))
            moves.append((leave + 1, .closed(.left), sid))
        }
        moves.sort { $0.at < $1.at }
        var (live, peak, peakAt, area, before) = (0, 0, 0, 0, 0)
        for move in moves {
            area += live * (move.at - before)
            before = move.at
            fixture.record(move.sid, move.kind, at: Double(move.at) / 1000, by: .flv)
            if case .watched = move.kind {
                live += 1
                // Backdated: the five seconds before qualification are watched too.
                area += 5000
            }
            if case .closed = move.kind { live -= 1 }
            if live > peak { (peak, peakAt) = (live, move.at) }
        }
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.peak == peak)
        #expect(fixture.report.peakAt == fixture.ledger.date(of: fixture.moment(Double(peakAt) / 1000)))
        #expect((fixture.report.watchTimeSeconds * 1000).rounded() == Double(area))
    }
}

extension Oracle.Features: CustomTestStringConvertible {
    var testDescription: String {
        let names = [
            (Self.logged, "a log"), (.rare, "rare playlists"), (.turning, "turns"), (.seen, "media that is seen"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
