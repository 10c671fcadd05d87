import FootlightTesting
import Foundation
import Media
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Viewership

@Suite("HLS viewers", .enabled(if: TestRun.isFull))
struct RequestViewerTests {
    @Test("the second playlist at least two seconds after the first qualifies a viewer, backdated to the first")
    func qualification() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.record(sid, .playlistServed, at: 0, by: .hls)
        fixture.record(sid, .playlistServed, at: 0.5, by: .hls)
        fixture.record(sid, .segmentServed, at: 1, by: .hls)
        fixture.record(sid, .playlistServed, at: 1.9, by: .hls)
        fixture.record(sid, .segmentServed, at: 2.5, by: .hls)
        #expect(fixture.report.concurrent == 0)
        fixture.record(sid, .playlistServed, at: 2.6, by: .hls)
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.byProtocol[.hls] == 1)
        #expect(fixture.report.watchTimeSeconds == 2.6)
    }

    @Test("segments alone, or one playlist alone, qualify no viewer")
    func unproven() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        let other = fixture.ledger.makeSession(room: fixture.room)
        for second in 0..<20 {
            fixture.record(sid, .segmentServed, at: Double(second), by: .hls)
        }
        fixture.record(other, .playlistServed, at: 20, by: .hls)
        fixture.advance(to: 60)
        #expect(fixture.report.joins == 0)
        #expect(fixture.metric("footlight_beats_total") == 21)
    }

    @Test(
        "a viewer counts until its timeout; watching ended half a polling interval after the last request",
        arguments: [(PlaybackProtocol.hls, 12.0), (.llhls, 10.0)]
    )
    func timeout(playback: PlaybackProtocol, timeout: Double) {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.poll(sid, from: 0, to: 40, by: playback)
        fixture.advance(to: 40 + timeout - 0.001)
        #expect(fixture.report.concurrent == 1)
        fixture.advance(to: 40 + timeout + 0.999)
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.resumable == 1)
        #expect(fixture.report.watchTimeSeconds == 41)
        fixture.advance(to: 40 + timeout + 32)
        #expect(fixture.report.resumable == 0)
        #expect(fixture.report.leaves == 1)
        #expect(fixture.report.watchTimeSeconds == 41)
        let labels = ["room": "show", "protocol": playback.rawValue, "reason": "timed_out"]
        #expect(fixture.metric("footlight_viewer_leaves_total", labels) == 1)
    }

    @Test("G3 a player that polls per segment and starts between two ends half a segment after its last poll")
    func betweenSegments() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.record(sid, .playlistServed, at: 0, by: .llhls)
        for segment in 0...5 { fixture.record(sid, .playlistServed, at: 0.2 + Double(segment) * 2, by: .llhls) }
        fixture.advance(to: 60)
        #expect(abs(fixture.report.watchTimeSeconds - 11.2) < 0.005, "\(fixture.report.watchTimeSeconds)")
    }

    @Test("the timeout follows the target duration between 12 and 30 seconds")
    func configuredTimeout() {
        #expect(ViewershipConfiguration(targetDuration: 2).timeout(of: .hls) == 12)
        #expect(ViewershipConfiguration(targetDuration: 6).timeout(of: .hls) == 18)
        #expect(ViewershipConfiguration(targetDuration: 20).timeout(of: .hls) == 30)
        #expect(ViewershipConfiguration(targetDuration: 2).timeout(of: .llhls) == 10)
        #expect(ViewershipConfiguration(targetDuration: 4).timeout(of: .llhls) == 12)
    }

    @Test("a return within the grace time resumes the session; the silence is not watched, and the timeout applies")
    func resumed() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.poll(sid, from: 0, to: 20)
        fixture.advance(to: 50)
        #expect(fixture.report.concurrent == 0)
        fixture.record(sid, .playlistServed, at: 50, by: .hls)
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.joins == 1)
        fixture.poll(sid, from: 52, to: 60)
        fixture.advance(to: 71)
        #expect(fixture.report.concurrent == 1)
        fixture.advance(to: 73)
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.watchTimeSeconds == 21 + 11)
        fixture.advance(to: 120)
        #expect(fixture.report.leaves == 1)
        #expect(fixture.report.joins == 1)
    }

    @Test("the polling interval is a median that one long pause does not move, limited to the target duration")
    func medianPoll() {
        var session = ViewerSession(nonce: 0, code: 0, cell: 0, since: 0, lastHit: 0)
        session.addPollSample(1000, limit: 2000)
        #expect(session.poll == 1000)
        for _ in 0..<20 { session.addPollSample(1000, limit: 2000) }
        session.addPollSample(9000, limit: 2000)
        #expect(session.poll <= 1125)
        for _ in 0..<20 { session.addPollSample(1000, limit: 2000) }
        #expect(session.poll == 1000)
        for _ in 0..<100 { session.addPollSample(60_000, limit: 2000) }
        #expect(session.poll == 2000)
    }

    @Test("the playlist interval is the shorter of the last two, which one pause does not lengthen")
    func interval() {
        var session = ViewerSession(nonce: 0, code: 0, cell: 0, since: 0, lastHit: 0)
        session.connections += 1
        session.addPlaylistInterval(13_000, isNew: true)
        #expect(session.interval == 13_000)
        for _ in 0..<8 { session.addPlaylistInterval(2000) }
        #expect(session.interval == 2000)
        session.addPlaylistInterval(30_000)
        #expect(session.interval == 4000)
        session.addPlaylistInterval(2000)
        session.addPlaylistInterval(2000)
        #expect(session.interval == 2000)
        for _ in 0..<2 { session.addPlaylistInterval(60_000) }
        #expect(session.interval == 60_000)
        session.addPlaylistInterval(Int64.max / 4)
        #expect(session.interval == 63_750 && session.connections == 1)
        for _ in 0..<20 { session.connections += 1 }
        #expect(session.connections == 15)
    }

    @Test("adopts an authentic id of an earlier run that was never seen")
    func adoption() {
        let before = LedgerFixture()
        let sids = (0..<100).map { _ in before.ledger.makeSession(room: before.room) }
        let after = LedgerFixture(keys: LedgerFixture.keys)
        // The ids were issued in the second of the start: the new run begins later.
        let later = ViewershipLedger(
            keys: LedgerFixture.keys,
            clock: after.clock,
            configuration: .init(),
            startDate: .init(timeIntervalSince1970: 1_800_000_060)
        )
        for sid in sids {
            #expect(later.accepts(sid: sid, room: "show"))
            for second in [0.0, 2.0] {
                later.record(
                    AudienceEvent(
                        sid: sid,
                        room: "show",
                        playback: .hls,
                        kind: .playlistServed,
                        at: after.moment(second)
                    )
                )
            }
        }
        after.clock.advance(to: after.moment(2))
        let report = later.report(room: "show")
        #expect(report.concurrent == 100)
        #expect(report.joins == 100)
        #expect(report.recovering)
        after.clock.advance(to: after.moment(31))
        #expect(!later.report(room: "show").recovering)
    }

    @Test("ten thousand forged ids leave a count of rejections only")
    func forgeries() {
        let fixture = LedgerFixture()
        let honest = SessionID(fixture.ledger.makeSession(room: fixture.room)) ?? SessionID(head: 0, tail: 0, code: 0)
        for number in 0..<10_000 {
            let forged = SessionID(head: honest.head, tail: honest.tail ^ UInt64(number), code: honest.code ^ 1)
            #expect(!fixture.ledger.accepts(sid: forged.text, room: fixture.room))
            for second in [0.0, 2.0, 4.0] {
                fixture.record(forged.text, .playlistServed, at: second, by: .hls)
            }
            fixture.record(forged.text, .opened, at: 5, by: .rtmp)
            fixture.record(forged.text, .watched(since: fixture.moment(0)), at: 5, by: .rtmp)
        }
        fixture.record("not an id", .playlistServed, at: 5, by: .hls)
        #expect(fixture.report.joins == 0)
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.ledger.totals().rooms == [])
        #expect(fixture.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 50_000)
        #expect(fixture.metric("footlight_beats_rejected_total", ["reason": "malformed"]) == 1)
    }

    @Test("an id is valid for its own room only")
    func otherRoom() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.poll(sid, from: 0, to: 4)
        fixture.record(sid, .playlistServed, at: 5, by: .hls, room: "other")
        fixture.record(sid, .playlistServed, at: 8, by: .hls, room: "other")
        #expect(fixture.ledger.report(room: "other").joins == 0)
        #expect(fixture.report.concurrent == 1)
    }

    @Test("a full table rejects and counts new HLS viewers; connections are always accepted")
    func fullTable() {
        let fixture = LedgerFixture(configuration: .init(sessionLimit: 160))
        for _ in 0..<1000 {
            let sid = fixture.ledger.makeSession(room: fixture.room)
            fixture.record(sid, .playlistServed, at: 0, by: .hls)
            fixture.record(sid, .playlistServed, at: 2, by: .hls)
        }
        #expect(fixture.report.concurrent == 160)
        #expect((fixture.metric("footlight_beats_rejected_total", ["reason": "full"]) ?? 0) >= 840)
        for _ in 0..<50 {
            fixture.watch(fixture.ledger.makeSession(room: fixture.room), from: 2, by: .rtmp)
        }
        #expect(fixture.report.byProtocol[.rtmp] == 50)
    }

    @Test("a startup lasts from the first request to the first media on the player's connection, and counts once")
    func startup() {
        let fixture = LedgerFixture()
        guard case .viewer(let sid) = fixture.ledger.admit(PlayerRequest(), to: fixture.room) else {
            Issue.record("the player was refused")
            return
        }
        fixture.record(sid, .playlistServed, at: 0.3, by: .llhls)
        fixture.record(sid, .delivered, at: 0.8, by: .llhls)
        fixture.record(sid, .delivered, at: 1.5, by: .llhls)
        #expect(fixture.report.counts.startups == 0)
        // An unqualified session has no startup time.
        let other = fixture.ledger.makeSession(room: fixture.room)
        fixture.record(other, .playlistServed, at: 1, by: .hls)
        fixture.record(other, .delivered, at: 1.5, by: .hls)
        fixture.record(sid, .playlistServed, at: 3, by: .llhls)
        #expect(fixture.report.counts.startups == 1 && fixture.report.counts.startup == 800)
        fixture.record(sid, .delivered, at: 4, by: .llhls)
        // A later report is not another startup.
        var report = PlayerReport()
        report.sid = sid
        report.startup = 5000
        fixture.ledger.receive(report, room: fixture.room)
        fixture.advance(to: 40)
        fixture.record(sid, .playlistServed, at: 40, by: .llhls)
        #expect(fixture.report.counts.startups == 1 && fixture.report.counts.startup == 800)
        #expect(fixture.report.watchTimeSeconds < 10)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("table indices are reused")
    func reuse() {
        let fixture = LedgerFixture()
        for round in 0..<20 {
            let start = Double(round) * 60
            for _ in 0..<50 {
                let sid = fixture.ledger.makeSession(room: fixture.room)
                fixture.record(sid, .playlistServed, at: start, by: .hls)
                fixture.record(sid, .playlistServed, at: start + 2, by: .hls)
            }
            fixture.advance(to: start + 60)
        }
        #expect(fixture.report.joins == 1000)
        #expect(fixture.report.leaves == 1000)
        let places = fixture.ledger.shards.map { $0.shard.withLock { $0.sessions.count } }.reduce(0, +)
        #expect(places < 200)
    }

    @Test(
        "a player that polls rarely from the beginning is one viewer for as long as its buffer lasts",
        arguments: [5.0, 8, 11, 13, 15, 20]
    )
    func rare(interval: Double) {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        for poll in 0...20 {
            let second = Double(poll) * interval
            fixture.advance(to: second)
            #expect(poll < 2 || fixture.report.concurrent == 1, "\(second)")
            fixture.record(sid, .playlistServed, at: second, by: .hls)
            fixture.record(sid, .delivered, at: second, by: .hls)
        }
        fixture.advance(to: 20 * interval + 100)
        #expect(fixture.report.joins == 1 && fixture.report.leaves == 1)
        let watched = 20.5 * interval
        #expect(abs(fixture.report.watchTimeSeconds / watched - 1) < 0.01, "\(fixture.report.watchTimeSeconds)")
        #expect(fixture.report.excluded[.unqualified] == 0)
    }

    @Test("a player that polls more rarely than its buffer lasts watches that long each time", arguments: [30.0, 60])
    func tooRare(interval: Double) {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        for poll in 0...20 {
            let second = Double(poll) * interval
            fixture.advance(to: second)
            fixture.record(sid, .playlistServed, at: second, by: .hls)
            fixture.record(sid, .delivered, at: second, by: .hls)
            if poll > 0 { #expect(fixture.report.concurrent == 1) }
        }
        fixture.advance(to: 20 * interval + 200)
        #expect(fixture.report.joins == 1 && fixture.report.leaves == 1)
        // The interval that qualified it counts in full; each later one as long as a buffer lasts, the last by half of
        // it.
        #expect(
            abs(fixture.report.watchTimeSeconds - (interval + 19 * 22 + 11)) < 2,
            "\(fixture.report.watchTimeSeconds)"
        )
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("a page in the background that polls every 13 seconds counts on, except for the first two intervals")
    func background() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.poll(sid, from: 0, to: 60)
        var second = 60.0
        for poll in 0..<20 {
            second += 13
            fixture.advance(to: second)
            #expect(poll < 2 || fixture.report.concurrent == 1, "\(second)")
            fixture.record(sid, .playlistServed, at: second, by: .hls)
        }
        // Of these two intervals only half a polling interval counts.
        #expect(fixture.report.joins == 1 && abs(fixture.report.watchTimeSeconds - (second - 24)) < 1)
        // In the foreground again its leave is detected as soon as before.
        fixture.poll(sid, from: second + 2, to: second + 12)
        fixture.advance(to: second + 26)
        #expect(fixture.report.concurrent == 0)
    }
}

@Suite("Local HLS viewers")
struct RequesterTests {
    private let fixture = LedgerFixture()

    private func admit(sid: String? = nil) -> String? {
        switch fixture.ledger.admit(PlayerRequest(sid: sid, address: "192.0.2.1"), to: fixture.room) {
        case .viewer(let sid), .uncounted(let sid): sid
        case .refused, .crowded, .denied: nil
        }
    }

    @Test("an HLS viewer is local from qualification to its timeout, and again when it returns")
    func hls() throws {
        fixture.ledger.roomBegan(fixture.room)
        let sids = try (0..<50).map { _ in try #require(admit()) }
        #expect(fixture.ledger.requesters == 0)
        for second in stride(from: 1.0, through: 21, by: 2) {
            for sid in sids.prefix(20) { fixture.record(sid, .playlistServed, at: second, by: .hls) }
            fixture.advance(to: second + 1)
        }
        #expect(fixture.report.concurrent == 20 && fixture.ledger.requesters == 20)
        // Admitted clients that never polled expire.
        fixture.poll(sids[0], from: 23, to: 41)
        #expect(fixture.report.concurrent == 1 && fixture.ledger.requesters == 1)
        fixture.record(sids[1], .playlistServed, at: 42, by: .llhls)
        #expect(fixture.ledger.requesters == 2)
        fixture.ledger.roomEnded(fixture.room)
        #expect(fixture.ledger.requesters == 0)
        fixture.advance(to: 120)
        #expect(fixture.ledger.requesters == 0)
    }

    @Test("a viewer with a connection is not, because the connection is counted where it was accepted")
    func connections() throws {
        fixture.ledger.roomBegan(fixture.room)
        let sid = try #require(admit())
        fixture.record(sid, .opened, at: 0, by: .flv)
        #expect(fixture.ledger.requesters == 0)
        fixture.record(sid, .watched(since: fixture.moment(0)), at: 5, by: .flv)
        fixture.record(sid, .closed(.left), at: 6, by: .flv)
        #expect(fixture.ledger.requesters == 0)
        // It continues by HLS, and by a connection again.
        fixture.record(sid, .playlistServed, at: 8, by: .hls)
        #expect(fixture.report.concurrent == 1 && fixture.ledger.requesters == 1)
        fixture.record(sid, .opened, at: 9, by: .rtmp)
        #expect(fixture.report.concurrent == 1 && fixture.ledger.requesters == 0)
        let short = try #require(admit())
        fixture.record(short, .opened, at: 10, by: .rtmp)
        fixture.record(short, .closed(.left), at: 11, by: .rtmp)
        #expect(fixture.ledger.requesters == 0)
    }

    @Test("a viewer that a server in front answers is not, until it polls here itself")
    func elsewhere() throws {
        fixture.ledger.roomBegan(fixture.room)
        let sid = try #require(admit())
        for second in stride(from: 1.0, through: 9, by: 2) {
            fixture.advance(to: second)
            let line = try #require(AccessLogLine("<190>nginx: \(sid) /live/show/media.m3u8 200 900 0.001 HIT"))
            #expect(fixture.ledger.receive(line))
        }
        #expect(fixture.report.concurrent == 1 && fixture.ledger.requesters == 0)
        fixture.record(sid, .playlistServed, at: 10, by: .hls)
        #expect(fixture.report.concurrent == 1 && fixture.ledger.requesters == 1)
        // Neither is one that is known by reports only.
        for second in stride(from: 11.0, through: 19, by: 4) {
            fixture.advance(to: second)
            var report = PlayerReport()
            report.sid = "x"
            #expect(fixture.ledger.receive(report, room: fixture.room, from: PlayerRequest(address: "192.0.2.7")))
        }
        #expect(fixture.ledger.requesters == 1)
    }

    @Test("restored HLS viewers are local until they time out")
    func recovered() throws {
        fixture.ledger.enableHistory()
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        let sid = try #require(admit())
        fixture.poll(sid, from: 0, to: 10)
        var recovered = RecoveredAudience(lastSeen: 1_800_000_010_000)
        let batch = fixture.ledger.drainHistory()
        recovered.broadcasts = Array(batch.broadcasts.values)
        recovered.sessions = Array(batch.sessions.values)
        let later = LedgerFixture(clock: fixture.clock, start: fixture.start)
        later.ledger.enableHistory()
        later.ledger.restore(recovered)
        later.ledger.roomBegan(later.room, sid: "RM1")
        #expect(later.ledger.requesters == 1)
        later.advance(to: 60)
        #expect(later.ledger.requesters == 0)
    }
}
