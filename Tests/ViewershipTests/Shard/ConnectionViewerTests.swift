import FootlightTesting
import Foundation
import Media
import Stage
import Testing

@testable import Viewership

@Suite("Connection viewers")
struct ConnectionViewerTests {
    @Test("a connection counts once media flowed for the qualifying time, backdated to its first media")
    func qualification() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.record(sid, .opened, at: 0, by: .rtmp)
        #expect(fixture.report.concurrent == 0)
        fixture.record(sid, .watched(since: fixture.moment(0.2)), at: 5.2, by: .rtmp)
        let report = fixture.report
        #expect(report.concurrent == 1)
        #expect(report.byProtocol == [.sdk: 0, .rtmp: 1, .flv: 0, .hls: 0, .llhls: 0])
        #expect(report.joins == 1)
        #expect(report.watchTimeSeconds == 5)
        #expect(report.peak == 1)
        #expect(report.peakAt == 1_800_000_005.2)
    }

    @Test("a viewer that leaves before that is not counted")
    func tooShort() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.record(sid, .opened, at: 0, by: .flv)
        fixture.record(sid, .closed(.left), at: 4, by: .flv)
        fixture.record(sid, .watched(since: fixture.moment(0)), at: 5, by: .flv)
        fixture.advance(to: 60)
        #expect(fixture.report.joins == 0)
        #expect(fixture.report.peak == 0)
        #expect(fixture.report.watchTimeSeconds == 0)
    }

    @Test("a closed connection stops counting at once, and its leave is final after the grace time")
    func leave() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .rtmp)
        fixture.record(sid, .closed(.tooSlow), at: 20, by: .rtmp)
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.resumable == 1)
        #expect(fixture.report.leaves == 0)
        fixture.advance(to: 49)
        #expect(fixture.report.resumable == 1)
        fixture.advance(to: 51)
        #expect(fixture.report.resumable == 0)
        #expect(fixture.report.leaves == 1)
        #expect(fixture.report.watchTimeSeconds == 20)
        #expect(fixture.report.peak == 1)
        let labels = ["room": "show", "protocol": "rtmp", "reason": "too_slow"]
        #expect(fixture.metric("footlight_viewer_leaves_total", labels) == 1)
    }

    @Test("a reconnect with the same id within the grace time is no join, and counts from its opening")
    func reconnect() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .rtmp)
        fixture.record(sid, .closed(.timedOut), at: 10, by: .rtmp)
        fixture.record(sid, .opened, at: 38, by: .rtmp)
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.resumable == 0)
        fixture.record(sid, .watched(since: fixture.moment(38)), at: 43, by: .rtmp)
        fixture.advance(to: 120)
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.watchTimeSeconds == 10 + 82)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("after the grace time it is a new join")
    func lateReturn() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .rtmp)
        fixture.record(sid, .closed(.left), at: 10, by: .rtmp)
        fixture.advance(to: 42)
        fixture.record(sid, .opened, at: 42, by: .rtmp)
        #expect(fixture.report.concurrent == 0)
        fixture.record(sid, .watched(since: fixture.moment(42)), at: 47, by: .rtmp)
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.joins == 2)
    }

    @Test("a reconnect before the close of the old connection leaves the count at one")
    func overlap() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .rtmp)
        fixture.record(sid, .opened, at: 8, by: .rtmp)
        #expect(fixture.report.concurrent == 1)
        fixture.record(sid, .closed(.timedOut), at: 15, by: .rtmp)
        #expect(fixture.report.concurrent == 1)
        fixture.record(sid, .closed(.left), at: 16, by: .rtmp)
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.watchTimeSeconds == 16)
    }

    @Test("repeated, late and unmatched events change nothing")
    func unmatched() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        let anonymous = fixture.ledger.makeSession(room: fixture.room)
        fixture.record(anonymous, .closed(.left), at: 0, by: .rtmp)
        fixture.record(anonymous, .watched(since: fixture.moment(0)), at: 0, by: .rtmp)
        fixture.watch(sid, from: 0, by: .rtmp)
        fixture.record(sid, .watched(since: fixture.moment(0)), at: 6, by: .rtmp)
        fixture.record(sid, .closed(.left), at: 7, by: .rtmp)
        fixture.record(sid, .closed(.left), at: 8, by: .rtmp)
        fixture.record(sid, .watched(since: fixture.moment(0)), at: 9, by: .rtmp)
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.watchTimeSeconds == 7)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("a player that changes its protocol moves between the protocols without a join")
    func protocolChange() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .flv)
        fixture.record(sid, .closed(.left), at: 10, by: .flv)
        fixture.record(sid, .playlistServed, at: 11, by: .hls)
        #expect(fixture.report.byProtocol[.hls] == 1)
        fixture.poll(sid, from: 13, to: 31)
        fixture.record(sid, .opened, at: 32, by: .rtmp)
        #expect(fixture.report.byProtocol[.hls] == 0)
        #expect(fixture.report.byProtocol[.rtmp] == 1)
        fixture.record(sid, .closed(.left), at: 40, by: .rtmp)
        fixture.advance(to: 80)
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.leaves == 1)
        #expect(fixture.report.watchTimeSeconds == 10 + 29)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("a connection that returns with its id in another rendition is a switch, and back again")
    func renditions() {
        let fixture = LedgerFixture()
        for playback in [PlaybackProtocol.rtmp, .flv] {
            let sid = fixture.ledger.makeSession(room: fixture.room)
            fixture.watch(sid, from: fixture.clock.now.seconds(since: fixture.start), by: playback)
            for rendition in ["audio", nil] {
                let now = fixture.clock.now.seconds(since: fixture.start)
                fixture.record(sid, .closed(.left), at: now + 1, by: playback, rendition: rendition)
                fixture.record(sid, .opened, at: now + 2, by: playback, rendition: rendition)
            }
        }
        #expect(fixture.report.counts.switches == 4 && fixture.report.joins == 2 && fixture.report.concurrent == 2)
        #expect(fixture.report.byRendition == ["": 2])
        #expect(fixture.metric("footlight_viewer_switches_total", ["room": "show"]) == 4)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("a change of protocol is a switch, except from HLS to LL-HLS")
    func protocols() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.poll(sid, from: 0, to: 4)
        fixture.poll(sid, from: 6, to: 10, by: .llhls)
        #expect(fixture.report.byProtocol[.llhls] == 1 && fixture.report.counts.switches == 0)
        fixture.record(sid, .opened, at: 11, by: .flv)
        #expect(fixture.report.byProtocol[.flv] == 1 && fixture.report.counts.switches == 1)
    }
}
