import Stage
import Testing

@testable import Viewership

/// What is promised of the count, each promise by its name; G6 is of several gateways together.
@Suite("The guarantees of the count")
struct GuaranteeTests {
    @Test("G1 joins are exact; a crash loses those of its last second, and of them only who never comes back")
    func joins() {
        let before = Stand()
        before.ledger.keepHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        let early = (0..<40).map { _ in before.ledger.makeSession(room: before.room) }
        for (number, sid) in early.enumerated() { before.watch(sid, from: Double(number) / 4, by: .flv) }
        before.advance(to: 16)
        var history = MemoryHistory()
        history.write(before.ledger.takeHistory())
        let late = (0..<10).map { _ in before.ledger.makeSession(room: before.room) }
        for sid in late { before.watch(sid, from: 11.2, by: .flv) }
        #expect(before.report.joins == 50)
        // Killed 0.2 s after they joined, and before they were written.
        let after = Stand(clock: before.clock, start: before.start)
        after.ledger.keepHistory()
        after.ledger.restore(history.recovered)
        after.ledger.roomBegan(after.room, sid: "RM1")
        #expect(after.report.joins == 40)
        for sid in early + late[0..<7] {
            after.record(sid, .opened, at: 18, by: .flv)
            after.record(sid, .watched(since: after.moment(18)), at: 23, by: .flv)
        }
        #expect(after.report.joins == 47)
        #expect(after.report.concurrent == 47)
        // Again and again makes no more of them.
        for round in 0..<3 {
            let second = 30 + Double(round) * 5
            for sid in early { after.record(sid, .closed(.timedOut), at: second, by: .flv) }
            for sid in early { after.record(sid, .opened, at: second + 2, by: .flv) }
        }
        #expect(after.report.joins == 47)
        #expect(after.report.brokenIdentities == [])
    }

    @Test("G2 connections count while open; by requests nobody is missed, and who left counts until the time-out")
    func live() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .rtmp)
        stand.record(sid, .closed(.left), at: 9.95, by: .rtmp)
        #expect(stand.report.concurrent == 0)
        stand.record(sid, .opened, at: 10.05, by: .rtmp)
        #expect(stand.report.concurrent == 1)
        // Against the truth of a crowd, second by second.
        let verdict = Oracle(players: 500, seconds: 120, seed: 31).run()
        #expect(verdict.belowTruth == 0 && verdict.aboveTruth == 0, "\(verdict)")
    }

    @Test("G3 settled watch time is the true one: of 1 200 sessions to 0.2 % here, where half a percent is promised")
    func watchTime() {
        let oracle = Oracle(players: 1200, seconds: 240, seed: 32)
        let (stand, _) = oracle.play()
        let counted = Oracle.rooms.map { stand.ledger.report(room: $0).watchTimeSeconds }.reduce(0, +)
        let truth = Double(oracle.players.map(\.watched).reduce(0, +)) / 1000
        #expect(abs(counted / truth - 1) < 0.002, "\(counted) of \(truth)")
    }

    @Test("G3 G8 over a kill as well: the time between a viewer's last playlist and the kill is not lost")
    func watchTimeOverKill() {
        let oracle = Oracle(players: 1500, seconds: 200, seed: 7)
        let crash = Oracle.Crash(at: 90, downtime: 2)
        let (verdict, end) = oracle.judged(crash: crash)
        #expect(verdict.watchTime == 0)
        // Lost is what those had watched whom nothing had proven yet, and what some watched on until the return.
        let watched = end.total.watchTimeSeconds
        #expect(abs(watched / oracle.truth(crash) - 1) < 0.005, "\(watched)")
        #expect(oracle.judged(.lostPollAtKill, crash: crash).end.total.watchTimeSeconds < watched)
    }

    @Test("G4 in every snapshot the sums agree, and the peak of all is no more than the peaks of each")
    func identities() {
        let verdict = Oracle(players: 500, seconds: 120, seed: 33).run()
        #expect(verdict.identities == 0 && verdict.leftOver == 0, "\(verdict)")
    }

    @Test("G5 the settled peak follows from the session rows alone, and is the true peak of connections")
    func peak() throws {
        var oracle = Oracle(players: 500, seconds: 120, seed: 34)
        oracle.oneRoom()
        let (stand, history) = oracle.play()
        let epoch = try #require(history.broadcasts.values.first { $0.room == Oracle.rooms[0] }).epoch
        let settled = history.settledPeak(epoch: epoch)
        let live = stand.ledger.report(room: Oracle.rooms[0]).peak
        #expect(settled <= live)
        #expect(abs(settled - oracle.truePeak) <= max(4, oracle.truePeak / 25), "\(settled) of \(oracle.truePeak)")
    }

    @Test("G7 uniques are exact up to the limit, and from there to one percent, and say so")
    func uniques() {
        let stand = Stand()
        for number in 0..<300 {
            var request = PlayerRequest(userAgent: "p", address: "10.1.\(number % 100).1")
            request.identity = number % 3 == 0 ? "user-\(number % 60)" : nil
            guard case .viewer(let sid) = stand.ledger.admit(request, to: stand.room) else { continue }
            for second in [0.0, 2, 4] { stand.record(sid, .playlistServed, at: second, by: .hls) }
        }
        #expect(stand.report.uniques == UniqueViewers(users: 20, devices: 220, estimated: 100))
        var sketch = UniqueCounter(limit: 1000)
        for number in 0..<100_000 { sketch.insert(ViewerKey.hash("\(number)")) }
        #expect(sketch.isApproximate && abs(sketch.count - 100_000) < 2500)
    }
}
