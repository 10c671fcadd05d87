import Stage
import Testing

@testable import Viewership

@Suite("A crowd whose truth is known")
struct OracleTests {
    @Test("5 000 players: exact joins, live counts within bounds each second, unbiased watch time, nothing left")
    func crowd() {
        let oracle = Oracle(players: 5000, seconds: 600, seed: 1)
        let verdict = oracle.run()
        #expect(verdict == Oracle.Verdict())
    }

    @Test("smaller crowds of other seeds", arguments: [2, 3, 4, 5] as [UInt64])
    func seeds(seed: UInt64) {
        let oracle = Oracle(players: 1500, seconds: 300, seed: seed)
        let verdict = oracle.run()
        #expect(verdict == Oracle.Verdict())
    }

    @Test("a fault in what is counted is found out by the rule that it breaks")
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

    @Test("G8 killed in the middle and back after two seconds: no join is lost or doubled, identities hold throughout")
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
        "a crowd that does more than watch, or of which a bad log tells, of several seeds",
        arguments: [.logged, .rare, .turning, .seen, [.logged, .turning], [.rare, .turning, .seen]] as [Oracle.Manner],
        [11, 12, 13] as [UInt64]
    )
    func manners(manner: Oracle.Manner, seed: UInt64) {
        let oracle = Oracle(players: 600, seconds: 150, seed: seed, manner: manner)
        let verdict = oracle.run()
        #expect(verdict == Oracle.Verdict(), "\(verdict)")
        // There is something to be judged.
        #expect(manner.contains(.seen) == (oracle.lurkers.count == 150))
        #expect(manner.contains(.rare) == oracle.players.contains { !$0.dry.isEmpty })
        #expect(manner.contains(.turning) == oracle.players.contains { !$0.turns.isEmpty })
    }

    @Test("a log whose lines count when they come, or twice, or whose lag or places are not heeded, is found out")
    func logMutants() {
        let oracle = Oracle(players: 400, seconds: 120, seed: 14, manner: .logged)
        #expect(oracle.run(.linesOfNow).watchTime > 0)
        #expect(oracle.run(.repeatsOfNow).watchTime > 0)
        #expect(oracle.run(.untoldLag).belowTruth > 0)
        let firstPlace = oracle.run(.firstPlace)
        #expect(firstPlace.regions == 3 && firstPlace.joins == 0)
    }

    @Test("a viewer by HTTP-FLV that comes back as another one, or as in the rendition before, is found")
    func turnMutants() {
        let oracle = Oracle(players: 400, seconds: 120, seed: 15, manner: .turning)
        #expect(oracle.run(.newIDAfterBlip).joins > 0)
        let lostTurns = oracle.run(.lostTurns)
        #expect(lostTurns.switches > 0 && lostTurns.joins == 0)
    }

    @Test("playlists that prove somebody without any media, and media that proves nobody, are found")
    func mediaMutants() {
        let oracle = Oracle(players: 400, seconds: 120, seed: 16, manner: .seen)
        let unseenMedia = oracle.run(.unseenMedia)
        #expect(unseenMedia.joins > 0 && unseenMedia.aboveTruth > 0 && unseenMedia.excluded > 0)
        let lostMedia = oracle.run(.lostMedia)
        #expect(lostMedia.joins > 0 && lostMedia.belowTruth > 0 && lostMedia.excluded > 0)
        // Who asks rarely is not waited for unless it has media.
        let rare = Oracle(players: 400, seconds: 120, seed: 17, manner: .rare).run(.lostMedia)
        #expect(rare.joins > 0 && rare.belowTruth > 0)
    }

    @Test("of connections alone the peak is the true one, and watch time is the area under the count")
    func connectionsAlone() {
        let stand = Stand()
        var random = SeededGenerator(seed: 9)
        var moves: [(at: Int, kind: AudienceEvent.Kind, sid: String)] = []
        for _ in 0..<500 {
            let sid = stand.ledger.makeSession(room: stand.room)
            let join = Int.random(in: 0..<100_000, using: &random)
            let leave = join + 5000 + Int.random(in: 0..<60_000, using: &random)
            moves.append((join, .opened, sid))
            moves.append((join + 5000, .watched(since: stand.moment(Double(join) / 1000)), sid))
            moves.append((leave + 1, .closed(.left), sid))
        }
        moves.sort { $0.at < $1.at }
        var (live, peak, peakAt, area, before) = (0, 0, 0, 0, 0)
        for move in moves {
            area += live * (move.at - before)
            before = move.at
            stand.record(move.sid, move.kind, at: Double(move.at) / 1000, by: .flv)
            if case .watched = move.kind {
                live += 1
                // Back-dated: the five seconds before the proof are watched too.
                area += 5000
            }
            if case .closed = move.kind { live -= 1 }
            if live > peak { (peak, peakAt) = (live, move.at) }
        }
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.peak == peak)
        #expect(stand.report.peakAt == stand.ledger.date(of: stand.moment(Double(peakAt) / 1000)))
        #expect((stand.report.watchTimeSeconds * 1000).rounded() == Double(area))
    }
}

extension Oracle.Manner: CustomTestStringConvertible {
    var testDescription: String {
        let names = [
            (Self.logged, "a log"), (.rare, "rare playlists"), (.turning, "turns"), (.seen, "media that is seen"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
