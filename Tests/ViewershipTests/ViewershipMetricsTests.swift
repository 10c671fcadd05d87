import FootlightTesting
import Foundation
import Stage
import Testing

@testable import Viewership

@Suite("Viewership metrics")
struct ViewershipMetricsTests {
    @Test("each figure is present with its labels")
    func figures() {
        let fixture = LedgerFixture()
        for _ in 0..<3 {
            fixture.watch(fixture.ledger.makeSession(room: fixture.room), from: 0, by: .rtmp)
        }
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.poll(sid, from: 6, to: 10)
        #expect(fixture.metric("footlight_viewers", ["room": "show", "protocol": "rtmp"]) == 3)
        #expect(fixture.metric("footlight_viewers", ["room": "show", "protocol": "hls"]) == 1)
        #expect(fixture.metric("footlight_viewers", ["room": "show", "protocol": "sdk"]) == 0)
        #expect(fixture.metric("footlight_viewers_peak", ["room": "show"]) == 4)
        #expect(fixture.metric("footlight_viewer_joins_total", ["room": "show", "protocol": "rtmp"]) == 3)
        #expect(fixture.metric("footlight_viewer_watch_seconds_total", ["room": "show", "protocol": "rtmp"]) == 30)
        #expect(fixture.metric("footlight_viewer_watch_seconds_total", ["room": "show", "protocol": "hls"]) == 4)
        #expect(fixture.metric("footlight_beats_total") == 3)
        for family in fixture.ledger.metrics() {
            #expect(family.name.hasSuffix("_total") == (family.kind == .counter))
            #expect(!family.help.isEmpty)
        }
    }

    @Test("rooms beyond the labelled ones are summed")
    func cardinality() {
        let fixture = LedgerFixture(configuration: .init(labelledRooms: 2))
        for (room, viewers) in [("a", 1), ("b", 4), ("c", 2), ("d", 3)] {
            for _ in 0..<viewers {
                fixture.watch(fixture.ledger.makeSession(room: room), from: 0, by: .flv, room: room)
            }
        }
        let viewers = fixture.ledger.metrics().first { $0.name == "footlight_viewers" }
        let byRoom = Dictionary(grouping: viewers?.samples ?? [], by: { $0.labels.first?.value ?? "" })
            .mapValues { $0.map(\.value).reduce(0, +) }
        #expect(byRoom == ["b": 4, "d": 3, "_other": 3])
    }

    @Test("regions beyond the most watched are summed; a room has a bounded number of series and loses no viewer")
    func regions() {
        let fixture = LedgerFixture()
        for number in 0..<200 {
            var request = PlayerRequest()
            let letters = "ABCDEFGHIJKLMNOPQRSTUVWXY".map(String.init)
            request.region = letters[number % 25] + letters[number / 25]
            guard case .viewer(let sid) = fixture.ledger.admit(request, to: fixture.room) else { continue }
            for second in [0.0, 2, 4] { fixture.record(sid, .playlistServed, at: second, by: .hls) }
        }
        let samples = fixture.ledger.metrics().first { $0.name == "footlight_viewers" }?.samples ?? []
        #expect(samples.count <= 64 + 2 * 5)
        #expect(samples.map(\.value).reduce(0, +) == 200)
        #expect(fixture.report.byRegion.count == 200)
    }

    @Test("startup time is a cumulative histogram")
    func startup() {
        let fixture = LedgerFixture()
        for (delay, end) in [(0.05, 6.0), (0.7, 7.0), (60, 70)] {
            let sid = fixture.ledger.makeSession(room: fixture.room)
            fixture.record(sid, .opened, at: 0, by: .rtmp)
            fixture.record(sid, .watched(since: fixture.moment(delay)), at: end, by: .rtmp)
        }
        let family = fixture.ledger.metrics().first { $0.name == "footlight_viewer_startup_seconds" }
        #expect(family?.kind == .histogram)
        #expect(family?.samples.map(\.value) == [1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 60.75, 3])
        #expect(family?.samples.map(\.suffix).suffix(3) == ["_bucket", "_sum", "_count"])
        #expect(fixture.report.counts.startups == 3)
    }

    @Test("published watch time never decreases, even after a late end")
    func monotonic() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        let labels = ["room": "show", "protocol": "rtmp"]
        fixture.watch(sid, from: 0, by: .rtmp)
        fixture.advance(to: 10)
        #expect(fixture.metric("footlight_viewer_watch_seconds_total", labels) == 10)
        fixture.record(sid, .closed(.left), at: 9.5, by: .rtmp)
        #expect(fixture.report.watchTimeSeconds == 9.5)
        #expect(fixture.metric("footlight_viewer_watch_seconds_total", labels) == 10)
    }

    @Test("figures have their time, and the age of the last timeout check")
    func staleness() {
        let fixture = LedgerFixture()
        fixture.advance(to: 10)
        #expect(fixture.report.staleMs == 0)
        fixture.clock.advance(to: fixture.moment(10.8))
        #expect(fixture.report.staleMs == 800)
        #expect(fixture.report.asOf == 1_800_000_010.8)
    }
}

@Suite("Additive counters")
struct AdditiveCountersTests {
    @Test("adding and subtracting covers every counter")
    func inverse() {
        var cell = AudienceCounts.zero
        (cell.joins, cell.switches, cell.watched) = (3, 5, 7_000)
        (cell.stalled, cell.startup, cell.startups) = (11, 13, 17)
        var tally = RoomCounters.Counts.zero
        (tally.reportingSessions, tally.unusedIDs) = (19, 23)
        for (number, reason) in CloseReasonCounters.allReasons.enumerated() { cell.leaves[reason] = number + 1 }
        for (number, reason) in ExclusionReason.allCases.enumerated() { tally.excluded[reason] = number + 1 }
        #expect(cell.leaves.sum == 15 && tally.excluded.sum == 28)
        #expect(cell - cell == .zero && tally - tally == .zero)
        #expect(cell + cell - cell == cell && tally + tally - tally == tally)
        let twice = cell + cell
        #expect(twice.joins == 6 && twice.switches == 10 && twice.watched == 14_000 && twice.leaves.sum == 30)
        let both = tally + tally
        #expect(twice.stalled == 22 && twice.startup == 26 && twice.startups == 34)
        #expect(both.reportingSessions == 38 && both.unusedIDs == 46)
        #expect(both.excluded.sum == 56)
        #expect(twice != cell && both != tally)
    }
}
