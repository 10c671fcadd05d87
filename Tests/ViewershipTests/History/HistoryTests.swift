import FootlightTesting
import Media
import Stage
import TestSupport
import Testing

@testable import Viewership

@Suite("Settled history", .enabled(if: TestRun.isFull))
struct HistoryTests {
    private func fixture() -> LedgerFixture {
        let fixture = LedgerFixture()
        fixture.ledger.enableHistory()
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        return fixture
    }

    @Test("a session row has start, end, reason and watch time; interruptions have gap rows")
    func session() throws {
        let fixture = fixture()
        var history = InMemoryHistory()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .flv)
        history.write(fixture.ledger.drainHistory())
        let open = try #require(history.sessions.values.first)
        #expect(open.start == 1_800_000_000_000 && open.end == nil && open.reason == nil && !open.isClosed)
        fixture.record(sid, .closed(.timedOut), at: 10, by: .flv)
        fixture.record(sid, .opened, at: 14, by: .flv)
        fixture.record(sid, .closed(.left), at: 20, by: .flv)
        fixture.advance(to: 60)
        history.write(fixture.ledger.drainHistory())
        let row = try #require(history.sessions.values.first)
        #expect(history.sessions.count == 1)
        #expect(row.start == 1_800_000_000_000 && row.end == 1_800_000_020_000)
        #expect(row.watched == 16_000 && row.reason == .left && row.isClosed)
        #expect(history.gaps.map { [$0.from, $0.to] } == [[1_800_000_010_000, 1_800_000_014_000]])
    }

    @Test("G4 the minutes of a broadcast sum up to the counters in every grouping")
    func minutes() throws {
        let oracle = Oracle(players: 1500, seconds: 300, seed: 21)
        let (fixture, history) = oracle.play()
        for room in Oracle.rooms {
            let report = fixture.ledger.report(room: room)
            let broadcast = try #require(history.broadcasts.values.first { $0.room == room })
            let sums = history.sums(epoch: broadcast.epoch)
            #expect(sums.map(\.counts.joins).reduce(0, +) == report.joins)
            #expect(sums.map(\.counts.leaves.sum).reduce(0, +) == report.leaves)
            #expect(Double(sums.map(\.counts.watched).reduce(0, +)) / 1000 == report.watchTimeSeconds)
            let figures = history.figures(of: broadcast)
            for grouping in ViewershipGrouping.allCases {
                let groups = figures.slices[grouping]
                #expect(groups.values.map(\.counts.joins).reduce(0, +) == report.joins)
                #expect(groups.values.map(\.counts.watched).reduce(0, +) == figures.whole.counts.watched)
                // No group exceeds the peak of the whole, and together they reach its last count.
                let peaks = history.peaks.filter {
                    $0.key.epoch == broadcast.epoch && $0.key.group.grouping == grouping
                }
                #expect(Set(peaks.map(\.key.group.name)) == Set(groups.keys))
                for minute in Set(peaks.map(\.key.minute)) {
                    let all = peaks.filter { $0.key.minute == minute }.map(\.value)
                    let key = MinuteRow.Key(room: room, epoch: broadcast.epoch, minute: minute, dimensions: nil)
                    let whole = try #require(history.minutes[key])
                    #expect(all.reduce(0, +) >= whole.last && all.allSatisfy { (1...whole.maximum).contains($0) })
                }
            }
            #expect(figures.average(of: figures.whole) <= Double(broadcast.peak))
            // Session rows equal the counters, up to rounding to milliseconds.
            let rows = history.sessions.values.filter { $0.epoch == broadcast.epoch }
            #expect(rows.count == report.joins)
            #expect(rows.map(\.watched).reduce(0, +) == figures.whole.counts.watched)
        }
    }

    @Test("G5 the settled peak of the session rows is the true one")
    func settledPeak() throws {
        var oracle = Oracle(players: 1200, seconds: 200, seed: 22)
        oracle.oneRoom()
        let (_, history) = oracle.play()
        let broadcast = try #require(history.broadcasts.values.first)
        let settled = history.settledPeak(epoch: broadcast.epoch)
        let truth = oracle.truePeak
        #expect(abs(Double(settled) / Double(truth) - 1) < 0.03)
        #expect(settled <= broadcast.peak)
    }

    @Test("the time before a show goes live is no time on air, also while its slate is published")
    func withheld() throws {
        let fixture = fixture()
        fixture.ledger.setWithheld(fixture.room, true)
        fixture.ledger.setOnAir(fixture.room, true)
        for _ in 0..<4 { fixture.watch(fixture.ledger.makeSession(room: fixture.room), from: 0, by: .rtmp) }
        fixture.advance(to: 100)
        fixture.ledger.setWithheld(fixture.room, false)
        fixture.advance(to: 160)
        fixture.ledger.setWithheld(fixture.room, true)
        fixture.advance(to: 170)
        fixture.ledger.setOnAir(fixture.room, false)
        fixture.ledger.setWithheld(fixture.room, false)
        fixture.ledger.roomEnded(fixture.room)
        var history = InMemoryHistory()
        history.write(fixture.ledger.drainHistory())
        let broadcast = try #require(history.broadcasts.values.first)
        #expect(broadcast.onAir == 60_000)
    }

    @Test("ACV and AMA are the area over the time on air")
    func averages() throws {
        let fixture = fixture()
        var history = InMemoryHistory()
        fixture.ledger.setOnAir(fixture.room, true)
        for _ in 0..<10 { fixture.watch(fixture.ledger.makeSession(room: fixture.room), from: 0, by: .rtmp) }
        for second in 1...300 {
            fixture.advance(to: Double(second))
            history.write(fixture.ledger.drainHistory())
        }
        fixture.ledger.setOnAir(fixture.room, false)
        fixture.ledger.roomEnded(fixture.room)
        history.write(fixture.ledger.drainHistory())
        let broadcast = try #require(history.broadcasts.values.first)
        #expect(broadcast.ended != nil && broadcast.onAir == 300_000 && broadcast.peak == 10)
        let figures = history.figures(of: broadcast)
        #expect(figures.average(of: figures.whole) == 10)
        let timeline = ViewershipTimeline(
            Array(history.minutes.values),
            from: broadcast.began / 60_000,
            step: 1,
            grouping: nil
        )
        #expect(timeline.points.map(\.peak).allSatisfy { $0 == 10 })
        #expect(timeline.points.map(\.counts.watched).reduce(0, +) == 3_000_000)
        let groups = ViewershipTimeline(
            Array(history.minutes.values),
            from: broadcast.began / 60_000,
            step: 5,
            grouping: .playback
        )
        #expect(groups.points.map(\.group) == ["rtmp", "rtmp"] || groups.points.map(\.group) == ["rtmp"])
    }

    @Test("G4 ACV and AMA cover the time on air; viewers before and after it raise neither")
    func onAir() throws {
        let fixture = fixture()
        var history = InMemoryHistory()
        func pass(to second: Int) {
            while fixture.clock.now < fixture.moment(Double(second)) {
                fixture.advance(to: fixture.clock.now.seconds(since: fixture.start) + 1)
                history.write(fixture.ledger.drainHistory())
            }
        }
        // Twenty minutes in the lobby, ten on air with three more viewers, and five after the end.
        for number in 0..<57 { fixture.ledger.participantWatching(room: fixture.room, identity: "early-\(number)") }
        pass(to: 1225)
        fixture.ledger.setOnAir(fixture.room, true)
        for _ in 0..<3 { fixture.watch(fixture.ledger.makeSession(room: fixture.room), from: 1225, by: .flv) }
        pass(to: 1825)
        fixture.ledger.setOnAir(fixture.room, false)
        pass(to: 2125)
        fixture.ledger.roomEnded(fixture.room)
        history.write(fixture.ledger.drainHistory())
        let broadcast = try #require(history.broadcasts.values.first)
        #expect(broadcast.onAir == 600_000 && broadcast.peak == 60)
        let figures = history.figures(of: broadcast)
        #expect(figures.duration == 600_000)
        // The three watch from the first second to the last.
        #expect(abs(figures.average(of: figures.whole) - 60) < 0.01)
        #expect(figures.average(of: figures.whole) <= Double(broadcast.peak))
        let seats = try #require(figures.slices[.playback]["sdk"])
        #expect(abs(figures.average(of: seats) - 57) < 0.01)
        // Of the minutes touched nine were fully on air, and two in part.
        let aired = history.minutes.values.filter { $0.key.dimensions == nil && $0.aired > 0 }.map(\.aired)
        #expect(aired.count == 11 && aired.count { $0 == 60_000 } == 9 && aired.reduce(0, +) == 600_000)
        // All watch time is counted.
        #expect(figures.whole.counts.watched == 57 * 2_125_000 + 3 * 900_000)
        #expect(fixture.report.onAirSeconds == 600)
    }

    @Test("a program that goes on air within a minute has its part of it")
    func partsOfMinutes() {
        let air = AirTime(onAir: 100_000, from: 30_000, to: 130_000)
        #expect(air.minutes.map(\.minute) == [0, 1, 2] && air.minutes.map(\.onAir) == [30_000, 60_000, 10_000])
        #expect(air.part(of: 70) == 70)
        let half = AirTime(onAir: 500, from: 10_000, to: 11_000)
        #expect(half.minutes.map(\.onAir) == [500] && half.part(of: 40_000) == 20_000)
        #expect(AirTime().minutes.isEmpty && AirTime().part(of: 5) == 0)
        #expect(AirTime(onAir: 2000, from: 0, to: 1000).onAir == 1000)
    }

    @Test("pending rows of a locked database are merged per session, and minutes are summed")
    func waiting() {
        let fixture = fixture()
        var waiting = HistoryBatch()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .rtmp)
        waiting.append(fixture.ledger.drainHistory())
        fixture.record(sid, .closed(.left), at: 20, by: .rtmp)
        fixture.advance(to: 70)
        waiting.append(fixture.ledger.drainHistory())
        #expect(waiting.sessions.count == 1)
        #expect(waiting.sessions.values.first?.isClosed == true)
        #expect(waiting.minutes.values.map(\.counts.joins).reduce(0, +) == 1)
        #expect(waiting.minutes.values.map(\.counts.watched).reduce(0, +) == 20_000)
    }
}
