import Stage
import TestSupport
import Testing

@testable import Viewership

/// The guarantees of the count, by name; G6 is about several gateways.
@Suite("Guarantees of the count", .enabled(if: TestRun.isFull))
struct GuaranteeTests {
    @Test("G1 joins are exact; a crash loses at most those of its last second that do not return")
    func joins() {
        let before = LedgerFixture()
        before.ledger.enableHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        let early = (0..<40).map { _ in before.ledger.makeSession(room: before.room) }
        for (number, sid) in early.enumerated() { before.watch(sid, from: Double(number) / 4, by: .flv) }
        before.advance(to: 16)
        var history = InMemoryHistory()
        history.write(before.ledger.drainHistory())
        let late = (0..<10).map { _ in before.ledger.makeSession(room: before.room) }
        for sid in late { before.watch(sid, from: 11.2, by: .flv) }
        #expect(before.report.joins == 50)
        // Killed 0.2 s after their joins, before these were written.
        let after = LedgerFixture(clock: before.clock, start: before.start)
        after.ledger.enableHistory()
        after.ledger.restore(history.recovered)
        after.ledger.roomBegan(after.room, sid: "RM1")
        #expect(after.report.joins == 40)
        for sid in early + late[0..<7] {
            after.record(sid, .opened, at: 18, by: .flv)
            after.record(sid, .watched(since: after.moment(18)), at: 23, by: .flv)
        }
        #expect(after.report.joins == 47)
        #expect(after.report.concurrent == 47)
        // Repeated reconnects add no joins.
        for round in 0..<3 {
            let second = 30 + Double(round) * 5
            for sid in early { after.record(sid, .closed(.timedOut), at: second, by: .flv) }
            for sid in early { after.record(sid, .opened, at: second + 2, by: .flv) }
        }
        #expect(after.report.joins == 47)
        #expect(after.report.brokenIdentities == [])
    }

    @Test("G2 connections count while open; HLS viewers are never missed, and count until their timeout")
    func live() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .rtmp)
        fixture.record(sid, .closed(.left), at: 9.95, by: .rtmp)
        #expect(fixture.report.concurrent == 0)
        fixture.record(sid, .opened, at: 10.05, by: .rtmp)
        #expect(fixture.report.concurrent == 1)
        // Compared with the ground truth, second by second.
        let verdict = Oracle(players: 500, seconds: 120, seed: 31).run()
        #expect(verdict.belowTruth == 0 && verdict.aboveTruth == 0, "\(verdict)")
    }

    @Test("G3 settled watch time of 1,200 sessions is exact to 0.2 %; the guarantee is 0.5 %")
    func watchTime() {
        let oracle = Oracle(players: 1200, seconds: 240, seed: 32)
        let (fixture, _) = oracle.play()
        let counted = Oracle.rooms.map { fixture.ledger.report(room: $0).watchTimeSeconds }.reduce(0, +)
        let truth = Double(oracle.players.map(\.watched).reduce(0, +)) / 1000
        #expect(abs(counted / truth - 1) < 0.002, "\(counted) of \(truth)")
    }

    @Test("G3 G8 across a kill, the time between a viewer's last playlist and the kill is not lost")
    func watchTimeOverKill() {
        let oracle = Oracle(players: 1500, seconds: 200, seed: 7)
        let crash = Oracle.Crash(at: 90, downtime: 2)
        let (verdict, end) = oracle.judged(crash: crash)
        #expect(verdict.watchTime == 0)
        // Lost are unqualified sessions, and playback from buffers until the return.
        let watched = end.total.watchTimeSeconds
        #expect(abs(watched / oracle.truth(crash) - 1) < 0.005, "\(watched)")
        #expect(oracle.judged(.lostPollAtKill, crash: crash).end.total.watchTimeSeconds < watched)
    }

    @Test("G4 in every snapshot the sums agree, and the total peak is at most the sum of the peaks")
    func identities() {
        let verdict = Oracle(players: 500, seconds: 120, seed: 33).run()
        #expect(verdict.identities == 0 && verdict.leftOver == 0, "\(verdict)")
    }

    @Test("G5 the settled peak of the session rows is the true peak of connections")
    func peak() throws {
        var oracle = Oracle(players: 500, seconds: 120, seed: 34)
        oracle.oneRoom()
        let (fixture, history) = oracle.play()
        let epoch = try #require(history.broadcasts.values.first { $0.room == Oracle.rooms[0] }).epoch
        let settled = history.settledPeak(epoch: epoch)
        let live = fixture.ledger.report(room: Oracle.rooms[0]).peak
        #expect(settled <= live)
        #expect(abs(settled - oracle.truePeak) <= max(4, oracle.truePeak / 25), "\(settled) of \(oracle.truePeak)")
    }

    @Test("G7 uniques are exact up to the limit, and estimated to one percent beyond")
    func uniques() {
        let fixture = LedgerFixture()
        for number in 0..<300 {
            var request = PlayerRequest(userAgent: "p", address: "10.1.\(number % 100).1")
            request.identity = number % 3 == 0 ? "user-\(number % 60)" : nil
            guard case .viewer(let sid) = fixture.ledger.admit(request, to: fixture.room) else { continue }
            for second in [0.0, 2, 4] { fixture.record(sid, .playlistServed, at: second, by: .hls) }
        }
        #expect(fixture.report.uniques == UniqueViewers(users: 20, devices: 220, estimated: 100))
        var sketch = UniqueCounter(limit: 1000)
        for number in 0..<100_000 { sketch.insert(ViewerKey.hash("\(number)")) }
        #expect(sketch.isApproximate && abs(sketch.count - 100_000) < 2500)
    }
}
