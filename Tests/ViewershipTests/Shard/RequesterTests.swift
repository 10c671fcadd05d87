import Media
import Stage
import Testing

@testable import Viewership

@Suite("Viewers who take room here without a connection that is counted")
struct RequesterTests {
    private let stand = Stand()

    private func admit(sid: String? = nil) -> String? {
        switch stand.ledger.admit(PlayerRequest(sid: sid, address: "192.0.2.1"), to: stand.room) {
        case .viewer(let sid), .uncounted(let sid): sid
        case .refused, .crowded: nil
        }
    }

    @Test("One by HLS is from the proof that it watches to its time-out, and again when it comes back")
    func hls() throws {
        stand.ledger.roomBegan(stand.room)
        let sids = try (0..<50).map { _ in try #require(admit()) }
        #expect(stand.ledger.requesters == 0)
        for second in stride(from: 1.0, through: 21, by: 2) {
            for sid in sids.prefix(20) { stand.record(sid, .playlistServed, at: second, by: .hls) }
            stand.advance(to: second + 1)
        }
        #expect(stand.report.concurrent == 20 && stand.ledger.requesters == 20)
        // Whoever was let in and never asked is forgotten.
        stand.poll(sids[0], from: 23, to: 41)
        #expect(stand.report.concurrent == 1 && stand.ledger.requesters == 1)
        stand.record(sids[1], .playlistServed, at: 42, by: .llhls)
        #expect(stand.ledger.requesters == 2)
        stand.ledger.roomEnded(stand.room)
        #expect(stand.ledger.requesters == 0)
        stand.advance(to: 120)
        #expect(stand.ledger.requesters == 0)
    }

    @Test("One with a connection is not: that is counted where it was accepted")
    func connections() throws {
        stand.ledger.roomBegan(stand.room)
        let sid = try #require(admit())
        stand.record(sid, .opened, at: 0, by: .flv)
        #expect(stand.ledger.requesters == 0)
        stand.record(sid, .watched(since: stand.moment(0)), at: 5, by: .flv)
        stand.record(sid, .closed(.left), at: 6, by: .flv)
        #expect(stand.ledger.requesters == 0)
        // It goes on by HLS, and by a connection again.
        stand.record(sid, .playlistServed, at: 8, by: .hls)
        #expect(stand.report.concurrent == 1 && stand.ledger.requesters == 1)
        stand.record(sid, .opened, at: 9, by: .rtmp)
        #expect(stand.report.concurrent == 1 && stand.ledger.requesters == 0)
        let short = try #require(admit())
        stand.record(short, .opened, at: 10, by: .rtmp)
        stand.record(short, .closed(.left), at: 11, by: .rtmp)
        #expect(stand.ledger.requesters == 0)
    }

    @Test("One whom a server in front of us answers takes nothing here, until it asks here itself")
    func elsewhere() throws {
        stand.ledger.roomBegan(stand.room)
        let sid = try #require(admit())
        for second in stride(from: 1.0, through: 9, by: 2) {
            stand.advance(to: second)
            let line = try #require(BeatLine("<190>nginx: \(sid) /live/show/media.m3u8 200 900 0.001 HIT"))
            #expect(stand.ledger.take(line))
        }
        #expect(stand.report.concurrent == 1 && stand.ledger.requesters == 0)
        stand.record(sid, .playlistServed, at: 10, by: .hls)
        #expect(stand.report.concurrent == 1 && stand.ledger.requesters == 1)
        // And one that is known by its reports alone.
        for second in stride(from: 11.0, through: 19, by: 4) {
            stand.advance(to: second)
            var report = PlayerReport()
            report.sid = "somebody"
            #expect(stand.ledger.take(report, room: stand.room, from: PlayerRequest(address: "192.0.2.7")))
        }
        #expect(stand.ledger.requesters == 1)
    }

    @Test("Those of an earlier run are counted until they time out")
    func recovered() throws {
        stand.ledger.keepHistory()
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        let sid = try #require(admit())
        stand.poll(sid, from: 0, to: 10)
        var recovered = RecoveredAudience(lastSeen: 1_800_000_010_000)
        let batch = stand.ledger.takeHistory()
        recovered.broadcasts = Array(batch.broadcasts.values)
        recovered.sessions = Array(batch.sessions.values)
        let later = Stand(clock: stand.clock, start: stand.start)
        later.ledger.keepHistory()
        later.ledger.restore(recovered)
        later.ledger.roomBegan(later.room, sid: "RM1")
        #expect(later.ledger.requesters == 1)
        later.advance(to: 60)
        #expect(later.ledger.requesters == 0)
    }
}
