import FootlightTesting
import Stage
import Testing

@testable import Viewership

@Suite("Restart of a gateway")
struct RecoveryTests {
    /// Kills a ledger with an HLS viewer, an RTMP viewer and a participant at 30 s, and restarts it at 33 s.
    private func crash() -> (before: LedgerFixture, after: LedgerFixture, sids: [String]) {
        let before = LedgerFixture()
        before.ledger.enableHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        let sids = (0..<2).map { _ in before.ledger.makeSession(room: before.room) }
        before.ledger.participantWatching(room: before.room, identity: "ann")
        before.watch(sids[1], from: 0, by: .rtmp)
        for second in stride(from: 6.0, through: 30, by: 2) {
            before.advance(to: second)
            before.record(sids[0], .playlistServed, at: second, by: .hls)
        }
        var history = InMemoryHistory()
        history.write(before.ledger.drainHistory())
        before.clock.advance(to: before.moment(33))
        let after = LedgerFixture(clock: before.clock, start: before.start)
        after.ledger.enableHistory()
        after.ledger.restore(history.recovered)
        after.ledger.roomBegan(after.room, sid: "RM1")
        return (before, after, sids)
    }

    @Test("G8 HLS viewers count at once, connections when they return, and no viewer joins twice")
    func back() {
        let (_, after, sids) = crash()
        #expect(after.report.recovering)
        #expect(after.report.byProtocol[.hls] == 1)
        #expect(after.report.resumable == 2)
        #expect(after.report.joins == 3)
        #expect(after.report.brokenIdentities == [])
        after.record(sids[0], .playlistServed, at: 34, by: .hls)
        after.record(sids[1], .opened, at: 35, by: .rtmp)
        after.ledger.participantWatching(room: after.room, identity: "ann")
        #expect(after.report.concurrent == 3)
        #expect(after.report.joins == 3)
        #expect(after.report.resumable == 0)
        #expect(after.report.brokenIdentities == [])
        #expect(after.metric("footlight_viewer_joins_total", ["room": "show", "protocol": "rtmp"]) == 1)
        after.record(sids[1], .closed(.left), at: 45, by: .rtmp)
        #expect(after.metric("footlight_viewer_watch_seconds_total", ["room": "show", "protocol": "rtmp"]) == 40)
        after.poll(sids[0], from: 46, to: 70)
        #expect(!after.report.recovering)
    }

    @Test("a viewer that does not return left when the earlier run was last known to live, or at its last request")
    func gone() {
        let (_, after, _) = crash()
        after.advance(to: 100)
        #expect(after.report.concurrent == 0)
        #expect(after.report.resumable == 0)
        #expect(after.report.leaves == 3)
        #expect(after.report.joins == 3)
        // 30 s by RTMP, 30 s as participant, and by HLS 24 s to the last playlist and half a polling interval.
        #expect(abs(after.report.watchTimeSeconds - 85) < 0.01)
        let rows = after.ledger.drainHistory().sessions.values
        #expect(rows.count == 3)
        #expect(rows.allSatisfy { $0.isClosed })
        let ends = rows.sorted { $0.dimensions.playback.rawValue < $1.dimensions.playback.rawValue }.map(\.end)
        // By HLS half a polling interval after the last playlist, like its watch time.
        #expect(ends == [1_800_000_031_000, 1_800_000_030_000, 1_800_000_030_000])
        #expect(rows.map(\.watched).reduce(0, +) == 85_000)
    }

    @Test("session rows have the watch time without interruptions and pauses, and the last cell")
    func rows() throws {
        let before = LedgerFixture()
        before.ledger.enableHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        let sids = (0..<4).map { _ in before.ledger.makeSession(room: before.room) }
        // One connection, interrupted from 10 to 20; one HLS viewer, interrupted from 10 to 30; one paused from 20 on.
        before.watch(sids[0], from: 0, by: .flv)
        before.record(sids[0], .closed(.left), at: 10, by: .flv)
        var paused = PlayerReport()
        paused.sid = sids[2]
        paused.isPaused = true
        for second in stride(from: 11.0, through: 41, by: 2) {
            before.advance(to: second)
            if second == 21 { before.record(sids[0], .opened, at: 21, by: .flv) }
            if second <= 15 || second >= 31 { before.record(sids[1], .playlistServed, at: second, by: .hls) }
            before.record(sids[2], .playlistServed, at: second, by: .hls)
            if second == 21 { before.ledger.receive(paused, room: before.room) }
            let rendition = second < 25 ? "720p" : "360p"
            before.record(sids[3], .playlistServed, at: second, by: .llhls, rendition: rendition)
        }
        before.advance(to: 42)
        var history = InMemoryHistory()
        history.write(before.ledger.drainHistory())
        before.clock.advance(to: before.moment(44))
        let after = LedgerFixture(clock: before.clock, start: before.start)
        after.ledger.enableHistory()
        after.ledger.restore(history.recovered)
        #expect(after.report.byRendition["360p"] == 1)
        // The paused one stays; no other returns.
        after.record(sids[2], .playlistServed, at: 45, by: .hls)
        after.advance(to: 100)
        history.write(after.ledger.drainHistory())
        var watched: [Int64] = []
        for sid in sids {
            let code = try #require(SessionID(sid)).code
            watched.append(try #require(history.sessions.values.first { $0.code == code }).watched)
        }
        // 0 to 10 and 21 to 42; 11 to 16, half an interval after the last poll, and 31 to 42; 11 to 21; 11 to 42.
        #expect(watched == [31_000, 16_000, 10_000, 31_000])
        #expect(history.sessions.values.map(\.switches).max() == 1)
    }

    @Test("rejects a forged id with the code of a restored session")
    func forged() {
        let (_, after, sids) = crash()
        let id = SessionID(sids[0]) ?? SessionID(head: 0, tail: 0, code: 0)
        let forged = SessionID(head: id.head, tail: id.tail ^ 1, code: id.code)
        after.record(forged.text, .playlistServed, at: 34, by: .hls)
        #expect(!after.ledger.accepts(sid: forged.text, room: after.room))
        #expect(after.ledger.accepts(sid: sids[0], room: after.room))
    }

    @Test("sessions of an earlier run beyond the longest absence are closed at once")
    func longAgo() {
        let before = LedgerFixture()
        before.ledger.enableHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        let sid = before.ledger.makeSession(room: before.room)
        before.watch(sid, from: 0, by: .rtmp)
        before.poll(before.ledger.makeSession(room: before.room), from: 6, to: 20)
        var history = InMemoryHistory()
        history.write(before.ledger.drainHistory())
        before.clock.advance(to: before.moment(600))
        let after = LedgerFixture(clock: before.clock, start: before.start)
        after.ledger.restore(history.recovered)
        #expect(after.report.concurrent == 0)
        after.advance(to: 640)
        #expect(after.report.leaves == 2)
        #expect(after.report.resumable == 0)
        #expect(after.report.brokenIdentities == [])
    }

    @Test("ends a broadcast whose room does not begin again")
    func abandoned() throws {
        let before = LedgerFixture()
        before.ledger.enableHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        before.watch(before.ledger.makeSession(room: before.room), from: 0, by: .rtmp)
        var history = InMemoryHistory()
        history.write(before.ledger.drainHistory())
        let after = LedgerFixture(clock: before.clock, start: before.start)
        after.ledger.enableHistory()
        after.ledger.restore(history.recovered)
        after.advance(to: 90)
        let batch = after.ledger.drainHistory()
        #expect(batch.broadcasts.values.first?.ended != nil)
        #expect(after.ledger.totals().rooms == [])
    }
}
