import Foundation
import Stage
import Testing

@testable import Viewership

@Suite("Viewership metrics")
struct ViewershipMetricsTests {
    @Test("each figure is there with its labels")
    func figures() {
        let stand = Stand()
        for _ in 0..<3 {
            stand.watch(stand.ledger.makeSession(room: stand.room), from: 0, by: .rtmp)
        }
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.poll(sid, from: 6, to: 10)
        #expect(stand.metric("footlight_viewers", ["room": "show", "protocol": "rtmp"]) == 3)
        #expect(stand.metric("footlight_viewers", ["room": "show", "protocol": "hls"]) == 1)
        #expect(stand.metric("footlight_viewers", ["room": "show", "protocol": "sdk"]) == 0)
        #expect(stand.metric("footlight_viewers_peak", ["room": "show"]) == 4)
        #expect(stand.metric("footlight_viewer_joins_total", ["room": "show", "protocol": "rtmp"]) == 3)
        #expect(stand.metric("footlight_viewer_watch_seconds_total", ["room": "show", "protocol": "rtmp"]) == 30)
        #expect(stand.metric("footlight_viewer_watch_seconds_total", ["room": "show", "protocol": "hls"]) == 4)
        #expect(stand.metric("footlight_beats_total") == 3)
        for family in stand.ledger.metrics() {
            #expect(family.name.hasSuffix("_total") == (family.kind == .counter))
            #expect(!family.help.isEmpty)
        }
    }

    @Test("beyond the labelled rooms the emptiest are added up")
    func cardinality() {
        let stand = Stand(configuration: .init(labelledRooms: 2))
        for (room, viewers) in [("a", 1), ("b", 4), ("c", 2), ("d", 3)] {
            for _ in 0..<viewers {
                stand.watch(stand.ledger.makeSession(room: room), from: 0, by: .flv, room: room)
            }
        }
        let viewers = stand.ledger.metrics().first { $0.name == "footlight_viewers" }
        let byRoom = Dictionary(grouping: viewers?.samples ?? [], by: { $0.labels.first?.value ?? "" })
            .mapValues { $0.map(\.value).reduce(0, +) }
        #expect(byRoom == ["b": 4, "d": 3, "_other": 3])
    }

    @Test("regions beyond the most watched are added up; a room has a bounded number of series and no viewer is lost")
    func regions() {
        let stand = Stand()
        for number in 0..<200 {
            var request = PlayerRequest()
            let letters = "ABCDEFGHIJKLMNOPQRSTUVWXY".map(String.init)
            request.region = letters[number % 25] + letters[number / 25]
            guard case .viewer(let sid) = stand.ledger.admit(request, to: stand.room) else { continue }
            for second in [0.0, 2, 4] { stand.record(sid, .playlistServed, at: second, by: .hls) }
        }
        let samples = stand.ledger.metrics().first { $0.name == "footlight_viewers" }?.samples ?? []
        #expect(samples.count <= 64 + 2 * 5)
        #expect(samples.map(\.value).reduce(0, +) == 200)
        #expect(stand.report.byRegion.count == 200)
    }

    @Test("time to the first media is a histogram whose buckets add up")
    func startup() {
        let stand = Stand()
        for (delay, end) in [(0.05, 6.0), (0.7, 7.0), (60, 70)] {
            let sid = stand.ledger.makeSession(room: stand.room)
            stand.record(sid, .opened, at: 0, by: .rtmp)
            stand.record(sid, .watched(since: stand.moment(delay)), at: end, by: .rtmp)
        }
        let family = stand.ledger.metrics().first { $0.name == "footlight_viewer_startup_seconds" }
        #expect(family?.kind == .histogram)
        #expect(family?.samples.map(\.value) == [1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 60.75, 3])
        #expect(family?.samples.map(\.suffix).suffix(3) == ["_bucket", "_sum", "_count"])
        #expect(stand.report.startups == 3)
    }

    @Test("watch time that was given out never falls, even when an end is told late")
    func monotonic() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        let labels = ["room": "show", "protocol": "rtmp"]
        stand.watch(sid, from: 0, by: .rtmp)
        stand.advance(to: 10)
        #expect(stand.metric("footlight_viewer_watch_seconds_total", labels) == 10)
        stand.record(sid, .closed(.left), at: 9.5, by: .rtmp)
        #expect(stand.report.watchTimeSeconds == 9.5)
        #expect(stand.metric("footlight_viewer_watch_seconds_total", labels) == 10)
    }

    @Test("figures say of when they are, and how long time has not moved")
    func staleness() {
        let stand = Stand()
        stand.advance(to: 10)
        #expect(stand.report.staleMs == 0)
        stand.clock.move(to: stand.moment(10.8))
        #expect(stand.report.staleMs == 800)
        #expect(stand.report.asOf.timeIntervalSince1970 == 1_800_000_010.8)
    }
}
