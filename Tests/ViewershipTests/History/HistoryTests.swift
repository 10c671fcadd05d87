import Media
import Stage
import Testing

@testable import Viewership

@Suite("The settled history")
struct HistoryTests {
    private func stand() -> Stand {
        let stand = Stand()
        stand.ledger.keepHistory()
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        return stand
    }

    @Test("a session's row says when it began and ended, by what, and how long it was watched; gaps are told of")
    func session() throws {
        let stand = stand()
        var history = MemoryHistory()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .flv)
        history.write(stand.ledger.takeHistory())
        let open = try #require(history.sessions.values.first)
        #expect(open.start == 1_800_000_000_000 && open.end == nil && open.reason == nil && !open.isClosed)
        stand.record(sid, .closed(.timedOut), at: 10, by: .flv)
        stand.record(sid, .opened, at: 14, by: .flv)
        stand.record(sid, .closed(.left), at: 20, by: .flv)
        stand.advance(to: 60)
        history.write(stand.ledger.takeHistory())
        let row = try #require(history.sessions.values.first)
        #expect(history.sessions.count == 1)
        #expect(row.start == 1_800_000_000_000 && row.end == 1_800_000_020_000)
        #expect(row.watched == 16_000 && row.reason == .left && row.isClosed)
        #expect(history.gaps.map { [$0.from, $0.to] } == [[1_800_000_010_000, 1_800_000_014_000]])
    }

    @Test("G4 the minutes of a broadcast add up to what was counted, whatever they are added up by")
    func minutes() throws {
        let oracle = Oracle(players: 1500, seconds: 300, seed: 21)
        let (stand, history) = oracle.play()
        for room in Oracle.rooms {
            let report = stand.ledger.report(room: room)
            let broadcast = try #require(history.broadcasts.values.first { $0.room == room })
            let sums = history.sums(epoch: broadcast.epoch)
            #expect(sums.map(\.joins).reduce(0, +) == report.joins)
            #expect(sums.flatMap(\.leaves).reduce(0, +) == report.leaves)
            #expect(Double(sums.map(\.watched).reduce(0, +)) / 1000 == report.watchTimeSeconds)
            let figures = history.figures(of: broadcast)
            for grouping in ViewershipTimeline.Grouping.allCases {
                let groups = figures.slices[grouping]
                #expect(groups.values.map(\.joins).reduce(0, +) == report.joins)
                #expect(groups.values.map(\.watched).reduce(0, +) == figures.whole.watched)
                // No group has more than all have, and together no fewer than there were at the last look.
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
            // Session rows say the same as the counters, to the rounding of a millisecond each.
            let rows = history.sessions.values.filter { $0.epoch == broadcast.epoch }
            #expect(rows.count == report.joins)
            #expect(rows.map(\.watched).reduce(0, +) == figures.whole.watched)
        }
    }

    @Test("G5 the settled peak follows from the session rows, and is the true one")
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

    @Test("ACV and AMA are the area over the time on the air")
    func averages() throws {
        let stand = stand()
        var history = MemoryHistory()
        stand.ledger.setOnAir(stand.room, true)
        for _ in 0..<10 { stand.watch(stand.ledger.makeSession(room: stand.room), from: 0, by: .rtmp) }
        for second in 1...300 {
            stand.advance(to: Double(second))
            history.write(stand.ledger.takeHistory())
        }
        stand.ledger.setOnAir(stand.room, false)
        stand.ledger.roomEnded(stand.room)
        history.write(stand.ledger.takeHistory())
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
        #expect(timeline.points.map(\.watched).reduce(0, +) == 3_000_000)
        let groups = ViewershipTimeline(
            Array(history.minutes.values),
            from: broadcast.began / 60_000,
            step: 5,
            grouping: .playback
        )
        #expect(groups.points.map(\.group) == ["rtmp", "rtmp"] || groups.points.map(\.group) == ["rtmp"])
    }

    @Test("G4 ACV and AMA are of the time on the air: who waits before it and stays behind makes neither of them more")
    func onAir() throws {
        let stand = stand()
        var history = MemoryHistory()
        func pass(to second: Int) {
            while stand.clock.now < stand.moment(Double(second)) {
                stand.advance(to: stand.clock.now.seconds(since: stand.start) + 1)
                history.write(stand.ledger.takeHistory())
            }
        }
        // Twenty minutes in the lobby, ten of a show that three more watch, and five when it is over.
        for number in 0..<57 { stand.ledger.participantWatching(room: stand.room, identity: "early-\(number)") }
        pass(to: 1225)
        stand.ledger.setOnAir(stand.room, true)
        for _ in 0..<3 { stand.watch(stand.ledger.makeSession(room: stand.room), from: 1225, by: .flv) }
        pass(to: 1825)
        stand.ledger.setOnAir(stand.room, false)
        pass(to: 2125)
        stand.ledger.roomEnded(stand.room)
        history.write(stand.ledger.takeHistory())
        let broadcast = try #require(history.broadcasts.values.first)
        #expect(broadcast.onAir == 600_000 && broadcast.peak == 60)
        let figures = history.figures(of: broadcast)
        #expect(figures.duration == 600_000)
        // The three are there from the first second to the last.
        #expect(abs(figures.average(of: figures.whole) - 60) < 0.01)
        #expect(figures.average(of: figures.whole) <= Double(broadcast.peak))
        let seats = try #require(figures.slices[.playback]["sdk"])
        #expect(abs(figures.average(of: seats) - 57) < 0.01)
        // Of the minutes that the show touched nine were on the air from beginning to end, and two in part.
        let aired = history.minutes.values.filter { $0.key.dimensions == nil && $0.aired > 0 }.map(\.aired)
        #expect(aired.count == 11 && aired.count { $0 == 60_000 } == 9 && aired.reduce(0, +) == 600_000)
        // Nobody is forgotten: all of it was watched.
        #expect(figures.whole.watched == 57 * 2_125_000 + 3 * 900_000)
        #expect(stand.report.onAirSeconds == 600)
    }

    @Test("a program that goes on the air in the midst of a minute has the part of it that it has")
    func partsOfMinutes() {
        let air = AirTime(onAir: 100_000, from: 30_000, to: 130_000)
        #expect(air.minutes.map(\.minute) == [0, 1, 2] && air.minutes.map(\.onAir) == [30_000, 60_000, 10_000])
        #expect(air.part(of: 70) == 70)
        let half = AirTime(onAir: 500, from: 10_000, to: 11_000)
        #expect(half.minutes.map(\.onAir) == [500] && half.part(of: 40_000) == 20_000)
        #expect(AirTime().minutes.isEmpty && AirTime().part(of: 5) == 0)
        #expect(AirTime(onAir: 2000, from: 0, to: 1000).onAir == 1000)
    }

    @Test("rows that wait for a locked database are kept as one for each session, and the rest is added up")
    func waiting() {
        let stand = stand()
        var waiting = HistoryBatch()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .rtmp)
        waiting.append(stand.ledger.takeHistory())
        stand.record(sid, .closed(.left), at: 20, by: .rtmp)
        stand.advance(to: 70)
        waiting.append(stand.ledger.takeHistory())
        #expect(waiting.sessions.count == 1)
        #expect(waiting.sessions.values.first?.isClosed == true)
        #expect(waiting.minutes.values.map(\.joins).reduce(0, +) == 1)
        #expect(waiting.minutes.values.map(\.watched).reduce(0, +) == 20_000)
    }
}
