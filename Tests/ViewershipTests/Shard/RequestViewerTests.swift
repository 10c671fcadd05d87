import Foundation
import Media
import Stage
import Synchronization
import Testing

@testable import Viewership

@Suite("Viewers by requests")
struct RequestViewerTests {
    @Test("the second playlist at least two seconds after the first makes a viewer, back-dated to the first")
    func qualification() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.record(sid, .playlistServed, at: 0, by: .hls)
        stand.record(sid, .playlistServed, at: 0.5, by: .hls)
        stand.record(sid, .segmentServed, at: 1, by: .hls)
        stand.record(sid, .playlistServed, at: 1.9, by: .hls)
        stand.record(sid, .segmentServed, at: 2.5, by: .hls)
        #expect(stand.report.concurrent == 0)
        stand.record(sid, .playlistServed, at: 2.6, by: .hls)
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.byProtocol[.hls] == 1)
        #expect(stand.report.watchTimeSeconds == 2.6)
    }

    @Test("segments alone, or one playlist alone, make no viewer")
    func unproven() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        let other = stand.ledger.makeSession(room: stand.room)
        for second in 0..<20 {
            stand.record(sid, .segmentServed, at: Double(second), by: .hls)
        }
        stand.record(other, .playlistServed, at: 20, by: .hls)
        stand.advance(to: 60)
        #expect(stand.report.joins == 0)
        #expect(stand.metric("footlight_beats_total") == 21)
    }

    @Test(
        "a viewer counts until the time-out after the last request; the watching ended half a poll after it",
        arguments: [(PlaybackProtocol.hls, 12.0), (.llhls, 10.0)]
    )
    func timeout(playback: PlaybackProtocol, timeout: Double) {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.poll(sid, from: 0, to: 40, by: playback)
        stand.advance(to: 40 + timeout - 0.001)
        #expect(stand.report.concurrent == 1)
        stand.advance(to: 40 + timeout + 0.999)
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.resumable == 1)
        #expect(stand.report.watchTimeSeconds == 41)
        stand.advance(to: 40 + timeout + 32)
        #expect(stand.report.resumable == 0)
        #expect(stand.report.leaves == 1)
        #expect(stand.report.watchTimeSeconds == 41)
        let labels = ["room": "show", "protocol": playback.rawValue, "reason": "timed_out"]
        #expect(stand.metric("footlight_viewer_leaves_total", labels) == 1)
    }

    @Test("G3 who waits for segments and comes between two of them ends half a segment behind the last")
    func betweenSegments() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.record(sid, .playlistServed, at: 0, by: .llhls)
        for segment in 0...5 { stand.record(sid, .playlistServed, at: 0.2 + Double(segment) * 2, by: .llhls) }
        stand.advance(to: 60)
        #expect(abs(stand.report.watchTimeSeconds - 11.2) < 0.005, "\(stand.report.watchTimeSeconds)")
    }

    @Test("the time-out follows the target duration between 12 and 30 seconds")
    func configuredTimeout() {
        #expect(ViewershipConfiguration(targetDuration: 2).timeout(of: .hls) == 12)
        #expect(ViewershipConfiguration(targetDuration: 6).timeout(of: .hls) == 18)
        #expect(ViewershipConfiguration(targetDuration: 20).timeout(of: .hls) == 30)
        #expect(ViewershipConfiguration(targetDuration: 2).timeout(of: .llhls) == 10)
        #expect(ViewershipConfiguration(targetDuration: 4).timeout(of: .llhls) == 12)
    }

    @Test("back within the grace time it is the same view; the silence is not watched, the next time-out on time")
    func resumed() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.poll(sid, from: 0, to: 20)
        stand.advance(to: 50)
        #expect(stand.report.concurrent == 0)
        stand.record(sid, .playlistServed, at: 50, by: .hls)
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.joins == 1)
        stand.poll(sid, from: 52, to: 60)
        stand.advance(to: 71)
        #expect(stand.report.concurrent == 1)
        stand.advance(to: 73)
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.watchTimeSeconds == 21 + 11)
        stand.advance(to: 120)
        #expect(stand.report.leaves == 1)
        #expect(stand.report.joins == 1)
    }

    @Test("half a poll is half of the median, which one long pause does not move, nor any beyond the target duration")
    func medianPoll() {
        var session = ViewerSession(nonce: 0, code: 0, cell: 0, since: 0, lastHit: 0)
        session.notePoll(1000, limit: 2000)
        #expect(session.poll == 1000)
        for _ in 0..<20 { session.notePoll(1000, limit: 2000) }
        session.notePoll(9000, limit: 2000)
        #expect(session.poll <= 1125)
        for _ in 0..<20 { session.notePoll(1000, limit: 2000) }
        #expect(session.poll == 1000)
        for _ in 0..<100 { session.notePoll(60_000, limit: 2000) }
        #expect(session.poll == 2000)
    }

    @Test("the time between playlists is that of the last two, which one pause does not lengthen")
    func interval() {
        var session = ViewerSession(nonce: 0, code: 0, cell: 0, since: 0, lastHit: 0)
        session.connections += 1
        session.noteInterval(13_000, isNew: true)
        #expect(session.interval == 13_000)
        for _ in 0..<8 { session.noteInterval(2000) }
        #expect(session.interval == 2000)
        session.noteInterval(30_000)
        #expect(session.interval == 4000)
        session.noteInterval(2000)
        session.noteInterval(2000)
        #expect(session.interval == 2000)
        for _ in 0..<2 { session.noteInterval(60_000) }
        #expect(session.interval == 60_000)
        session.noteInterval(Int64.max / 4)
        #expect(session.interval == 63_750 && session.connections == 1)
        for _ in 0..<20 { session.connections += 1 }
        #expect(session.connections == 15)
    }

    @Test("a valid id that was never seen, of an earlier run, is taken over")
    func adoption() {
        let before = Stand()
        let sids = (0..<100).map { _ in before.ledger.makeSession(room: before.room) }
        let after = Stand(keys: Stand.keys)
        // The ids were issued in the second of the start: let the new run begin later than that.
        let later = ViewershipLedger(
            keys: Stand.keys,
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
        after.clock.move(to: after.moment(2))
        let report = later.report(room: "show")
        #expect(report.concurrent == 100)
        #expect(report.joins == 100)
        #expect(report.recovering)
        after.clock.move(to: after.moment(31))
        #expect(!later.report(room: "show").recovering)
    }

    @Test("ten thousand forged ids leave no trace but a count")
    func forgeries() {
        let stand = Stand()
        let honest = SessionID(stand.ledger.makeSession(room: stand.room)) ?? SessionID(head: 0, tail: 0, code: 0)
        for number in 0..<10_000 {
            let forged = SessionID(head: honest.head, tail: honest.tail ^ UInt64(number), code: honest.code ^ 1)
            #expect(!stand.ledger.accepts(sid: forged.text, room: stand.room))
            for second in [0.0, 2.0, 4.0] {
                stand.record(forged.text, .playlistServed, at: second, by: .hls)
            }
            stand.record(forged.text, .opened, at: 5, by: .rtmp)
            stand.record(forged.text, .watched(since: stand.moment(0)), at: 5, by: .rtmp)
        }
        stand.record("not an id", .playlistServed, at: 5, by: .hls)
        #expect(stand.report.joins == 0)
        #expect(stand.report.concurrent == 0)
        #expect(stand.ledger.totals().rooms == [])
        #expect(stand.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 50_000)
        #expect(stand.metric("footlight_beats_rejected_total", ["reason": "malformed"]) == 1)
    }

    @Test("an id is good for its own room only")
    func otherRoom() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.poll(sid, from: 0, to: 4)
        stand.record(sid, .playlistServed, at: 5, by: .hls, room: "other")
        stand.record(sid, .playlistServed, at: 8, by: .hls, room: "other")
        #expect(stand.ledger.report(room: "other").joins == 0)
        #expect(stand.report.concurrent == 1)
    }

    @Test("a full table turns new viewers by requests away and counts them; connections always find room")
    func fullTable() {
        let stand = Stand(configuration: .init(sessionLimit: 160))
        for _ in 0..<1000 {
            let sid = stand.ledger.makeSession(room: stand.room)
            stand.record(sid, .playlistServed, at: 0, by: .hls)
            stand.record(sid, .playlistServed, at: 2, by: .hls)
        }
        #expect(stand.report.concurrent == 160)
        #expect((stand.metric("footlight_beats_rejected_total", ["reason": "full"]) ?? 0) >= 840)
        for _ in 0..<50 {
            stand.watch(stand.ledger.makeSession(room: stand.room), from: 2, by: .rtmp)
        }
        #expect(stand.report.byProtocol[.rtmp] == 50)
    }

    @Test("a start takes from the first request to the first media on the player's own connection, and is counted once")
    func startup() {
        let stand = Stand()
        guard case .viewer(let sid) = stand.ledger.admit(PlayerRequest(), to: stand.room) else {
            Issue.record("not let in")
            return
        }
        stand.record(sid, .playlistServed, at: 0.3, by: .llhls)
        stand.record(sid, .delivered, at: 0.8, by: .llhls)
        stand.record(sid, .delivered, at: 1.5, by: .llhls)
        #expect(stand.report.startups == 0)
        // Of who is never proven to watch nothing is known.
        let other = stand.ledger.makeSession(room: stand.room)
        stand.record(other, .playlistServed, at: 1, by: .hls)
        stand.record(other, .delivered, at: 1.5, by: .hls)
        stand.record(sid, .playlistServed, at: 3, by: .llhls)
        #expect(stand.report.startups == 1 && stand.report.startupSeconds == 0.8)
        stand.record(sid, .delivered, at: 4, by: .llhls)
        // What the player says later is not another start.
        var report = PlayerReport()
        report.sid = sid
        report.startup = 5000
        stand.ledger.take(report, room: stand.room)
        stand.advance(to: 40)
        stand.record(sid, .playlistServed, at: 40, by: .llhls)
        #expect(stand.report.startups == 1 && stand.report.startupSeconds == 0.8)
        #expect(stand.report.watchTimeSeconds < 10)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("places in the table are used again")
    func reuse() {
        let stand = Stand()
        for round in 0..<20 {
            let start = Double(round) * 60
            for _ in 0..<50 {
                let sid = stand.ledger.makeSession(room: stand.room)
                stand.record(sid, .playlistServed, at: start, by: .hls)
                stand.record(sid, .playlistServed, at: start + 2, by: .hls)
            }
            stand.advance(to: start + 60)
        }
        #expect(stand.report.joins == 1000)
        #expect(stand.report.leaves == 1000)
        let places = stand.ledger.owners.map { $0.shard.withLock { $0.sessions.count } }.reduce(0, +)
        #expect(places < 200)
    }

    @Test(
        "who asks rarely from the beginning is one viewer for as long as its buffer can last",
        arguments: [5.0, 8, 11, 13, 15, 20]
    )
    func rare(interval: Double) {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        for poll in 0...20 {
            let second = Double(poll) * interval
            stand.advance(to: second)
            #expect(poll < 2 || stand.report.concurrent == 1, "\(second)")
            stand.record(sid, .playlistServed, at: second, by: .hls)
            stand.record(sid, .delivered, at: second, by: .hls)
        }
        stand.advance(to: 20 * interval + 100)
        #expect(stand.report.joins == 1 && stand.report.leaves == 1)
        let watched = 20.5 * interval
        #expect(abs(stand.report.watchTimeSeconds / watched - 1) < 0.01, "\(stand.report.watchTimeSeconds)")
        #expect(stand.report.excluded[.unqualified] == 0)
    }

    @Test("who asks more rarely than its buffer lasts watches that long each time", arguments: [30.0, 60])
    func tooRare(interval: Double) {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        for poll in 0...20 {
            let second = Double(poll) * interval
            stand.advance(to: second)
            stand.record(sid, .playlistServed, at: second, by: .hls)
            stand.record(sid, .delivered, at: second, by: .hls)
            if poll > 0 { #expect(stand.report.concurrent == 1) }
        }
        stand.advance(to: 20 * interval + 200)
        #expect(stand.report.joins == 1 && stand.report.leaves == 1)
        // The time that proved it is watched whole; each one after it as long as a buffer lasts, the last by half of it.
        #expect(abs(stand.report.watchTimeSeconds - (interval + 19 * 22 + 11)) < 2, "\(stand.report.watchTimeSeconds)")
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("a page that goes into the background, and asks every 13 seconds, counts on but for the first two times")
    func background() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.poll(sid, from: 0, to: 60)
        var second = 60.0
        for poll in 0..<20 {
            second += 13
            stand.advance(to: second)
            #expect(poll < 2 || stand.report.concurrent == 1, "\(second)")
            stand.record(sid, .playlistServed, at: second, by: .hls)
        }
        // Of these two times nothing but half of a poll is counted.
        #expect(stand.report.joins == 1 && abs(stand.report.watchTimeSeconds - (second - 24)) < 1)
        // In front again it is noticed as soon as before when it leaves.
        stand.poll(sid, from: second + 2, to: second + 12)
        stand.advance(to: second + 26)
        #expect(stand.report.concurrent == 0)
    }
}
