import Foundation
import Media
import Stage
import Testing

@testable import Viewership

@Suite("Viewers by connection")
struct ConnectionViewerTests {
    @Test("a connection counts once media flowed for the qualifying time, back-dated to its first media")
    func qualification() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.record(sid, .opened, at: 0, by: .rtmp)
        #expect(stand.report.concurrent == 0)
        stand.record(sid, .watched(since: stand.moment(0.2)), at: 5.2, by: .rtmp)
        let report = stand.report
        #expect(report.concurrent == 1)
        #expect(report.byProtocol == [.sdk: 0, .rtmp: 1, .flv: 0, .hls: 0, .llhls: 0])
        #expect(report.joins == 1)
        #expect(report.watchTimeSeconds == 5)
        #expect(report.peak == 1)
        #expect(report.peakAt == Date(timeIntervalSince1970: 1_800_000_005.2))
    }

    @Test("who leaves before that was never there")
    func tooShort() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.record(sid, .opened, at: 0, by: .flv)
        stand.record(sid, .closed(.left), at: 4, by: .flv)
        stand.record(sid, .watched(since: stand.moment(0)), at: 5, by: .flv)
        stand.advance(to: 60)
        #expect(stand.report.joins == 0)
        #expect(stand.report.peak == 0)
        #expect(stand.report.watchTimeSeconds == 0)
    }

    @Test("a closed connection is gone at once, and its leave is final after the grace time")
    func leave() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .rtmp)
        stand.record(sid, .closed(.tooSlow), at: 20, by: .rtmp)
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.resumable == 1)
        #expect(stand.report.leaves == 0)
        stand.advance(to: 49)
        #expect(stand.report.resumable == 1)
        stand.advance(to: 51)
        #expect(stand.report.resumable == 0)
        #expect(stand.report.leaves == 1)
        #expect(stand.report.watchTimeSeconds == 20)
        #expect(stand.report.peak == 1)
        let labels = ["room": "show", "protocol": "rtmp", "reason": "too_slow"]
        #expect(stand.metric("footlight_viewer_leaves_total", labels) == 1)
    }

    @Test("a reconnect with the same id within the grace time is no join, and counts from its opening")
    func reconnect() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .rtmp)
        stand.record(sid, .closed(.timedOut), at: 10, by: .rtmp)
        stand.record(sid, .opened, at: 38, by: .rtmp)
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.joins == 1)
        #expect(stand.report.resumable == 0)
        stand.record(sid, .watched(since: stand.moment(38)), at: 43, by: .rtmp)
        stand.advance(to: 120)
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.joins == 1)
        #expect(stand.report.watchTimeSeconds == 10 + 82)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("after the grace time it is a new view")
    func lateReturn() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .rtmp)
        stand.record(sid, .closed(.left), at: 10, by: .rtmp)
        stand.advance(to: 42)
        stand.record(sid, .opened, at: 42, by: .rtmp)
        #expect(stand.report.concurrent == 0)
        stand.record(sid, .watched(since: stand.moment(42)), at: 47, by: .rtmp)
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.joins == 2)
    }

    @Test("a reconnect that overtakes the end of the old connection leaves the count at one")
    func overlap() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .rtmp)
        stand.record(sid, .opened, at: 8, by: .rtmp)
        #expect(stand.report.concurrent == 1)
        stand.record(sid, .closed(.timedOut), at: 15, by: .rtmp)
        #expect(stand.report.concurrent == 1)
        stand.record(sid, .closed(.left), at: 16, by: .rtmp)
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.joins == 1)
        #expect(stand.report.watchTimeSeconds == 16)
    }

    @Test("repeated, late and unmatched events change nothing")
    func unmatched() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        let stranger = stand.ledger.makeSession(room: stand.room)
        stand.record(stranger, .closed(.left), at: 0, by: .rtmp)
        stand.record(stranger, .watched(since: stand.moment(0)), at: 0, by: .rtmp)
        stand.watch(sid, from: 0, by: .rtmp)
        stand.record(sid, .watched(since: stand.moment(0)), at: 6, by: .rtmp)
        stand.record(sid, .closed(.left), at: 7, by: .rtmp)
        stand.record(sid, .closed(.left), at: 8, by: .rtmp)
        stand.record(sid, .watched(since: stand.moment(0)), at: 9, by: .rtmp)
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.joins == 1)
        #expect(stand.report.watchTimeSeconds == 7)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("a player that goes on by another protocol moves between the protocols without a join")
    func protocolChange() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .flv)
        stand.record(sid, .closed(.left), at: 10, by: .flv)
        stand.record(sid, .playlistServed, at: 11, by: .hls)
        #expect(stand.report.byProtocol[.hls] == 1)
        stand.poll(sid, from: 13, to: 31)
        stand.record(sid, .opened, at: 32, by: .rtmp)
        #expect(stand.report.byProtocol[.hls] == 0)
        #expect(stand.report.byProtocol[.rtmp] == 1)
        stand.record(sid, .closed(.left), at: 40, by: .rtmp)
        stand.advance(to: 80)
        #expect(stand.report.joins == 1)
        #expect(stand.report.leaves == 1)
        #expect(stand.report.watchTimeSeconds == 10 + 29)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("a viewer by connection that comes back with its id in another rendition has switched, and back again")
    func renditions() {
        let stand = Stand()
        for playback in [PlaybackProtocol.rtmp, .flv] {
            let sid = stand.ledger.makeSession(room: stand.room)
            stand.watch(sid, from: stand.clock.now.seconds(since: stand.start), by: playback)
            for rendition in ["audio", nil] {
                let now = stand.clock.now.seconds(since: stand.start)
                stand.record(sid, .closed(.left), at: now + 1, by: playback, rendition: rendition)
                stand.record(sid, .opened, at: now + 2, by: playback, rendition: rendition)
            }
        }
        #expect(stand.report.switches == 4 && stand.report.joins == 2 && stand.report.concurrent == 2)
        #expect(stand.report.byRendition == ["": 2])
        #expect(stand.metric("footlight_viewer_switches_total", ["room": "show"]) == 4)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("a change of protocol is a switch, but that from HLS to low-latency HLS is none")
    func protocols() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.poll(sid, from: 0, to: 4)
        stand.poll(sid, from: 6, to: 10, by: .llhls)
        #expect(stand.report.byProtocol[.llhls] == 1 && stand.report.switches == 0)
        stand.record(sid, .opened, at: 11, by: .flv)
        #expect(stand.report.byProtocol[.flv] == 1 && stand.report.switches == 1)
    }
}
