import FootlightTesting
import Media
import Stage
import Testing

@testable import Viewership

@Suite("End of a room")
struct RoomEndTests {
    /// Makes ten connections, ten HLS viewers and a participant, all watching at 20 s.
    private func makeAudience() -> (fixture: LedgerFixture, sids: [String]) {
        let fixture = LedgerFixture()
        let connected = (0..<10).map { _ in fixture.ledger.makeSession(room: fixture.room) }
        let polling = (0..<10).map { _ in fixture.ledger.makeSession(room: fixture.room) }
        for sid in connected { fixture.watch(sid, from: 0, by: .rtmp) }
        for second in stride(from: 6.0, through: 20, by: 2) {
            for sid in polling { fixture.record(sid, .playlistServed, at: second, by: .hls) }
            fixture.advance(to: second)
        }
        fixture.ledger.participantWatching(room: fixture.room, identity: "ann")
        return (fixture, connected + polling)
    }

    @Test("all sessions close at once and the figures are final")
    func end() {
        let (fixture, sids) = makeAudience()
        #expect(fixture.report.concurrent == 21)
        fixture.advance(to: 22)
        fixture.ledger.roomEnded(fixture.room)
        let final = fixture.report
        #expect(final.concurrent == 0)
        #expect(final.byProtocol.values.allSatisfy { $0 == 0 })
        #expect(final.resumable == 0)
        #expect(final.joins == 21)
        #expect(final.leaves == 21)
        #expect(final.peak == 21)
        #expect(final.watchTimeSeconds == 10 * 22 + 10 * 15 + 2)
        #expect(final.brokenIdentities == [])
        let labels = ["room": "show", "protocol": "hls", "reason": "room_ended"]
        #expect(fixture.metric("footlight_viewer_leaves_total", labels) == 10)

        // Later closes of the fan-out and a late request change nothing.
        for sid in sids.prefix(10) { fixture.record(sid, .closed(.roomEnded), at: 22.1, by: .rtmp) }
        fixture.record(sids[15], .playlistServed, at: 22.2, by: .hls)
        fixture.ledger.participantLeft(room: fixture.room, identity: "ann")
        fixture.advance(to: 100)
        #expect(fixture.report == final)
        fixture.ledger.roomEnded(fixture.room)
        #expect(fixture.report == final)
        #expect(fixture.ledger.totals().rooms == [])
        #expect(fixture.ledger.totals().total.concurrent == 0)
    }

    @Test("the next broadcast of the same name begins at zero; counters of metrics continue")
    func nextBroadcast() {
        let (fixture, _) = makeAudience()
        fixture.ledger.roomEnded(fixture.room)
        fixture.watch(fixture.ledger.makeSession(room: fixture.room), from: 30, by: .flv)
        fixture.advance(to: 40)
        let report = fixture.report
        #expect(report.concurrent == 1)
        #expect(report.peak == 1)
        #expect(report.joins == 1)
        #expect(report.leaves == 0)
        #expect(report.watchTimeSeconds == 10)
        #expect(report.brokenIdentities == [])
        #expect(fixture.metric("footlight_viewer_joins_total", ["room": "show", "protocol": "rtmp"]) == 10)
        #expect(fixture.ledger.totals().rooms.map(\.room) == ["show"])
        #expect(fixture.ledger.totals().total.peak == 21)
    }

    @Test("an ended room goes to 0 in the metrics and disappears after the retention")
    func retention() {
        let (fixture, _) = makeAudience()
        fixture.ledger.roomEnded(fixture.room)
        #expect(fixture.metric("footlight_viewers", ["room": "show", "protocol": "rtmp"]) == 0)
        #expect(fixture.metric("footlight_viewers_peak", ["room": "show"]) == 0)
        fixture.advance(to: 310)
        #expect(fixture.metric("footlight_viewers", ["room": "show", "protocol": "rtmp"]) == 0)
        fixture.advance(to: 330)
        #expect(fixture.metric("footlight_viewers", ["room": "show", "protocol": "rtmp"]) == nil)
        #expect(fixture.report.joins == 0)
    }

    @Test("an expired room is removed once it has no sessions, unless a room of its name is on")
    func forgotten() {
        let fixture = LedgerFixture()
        let ledger = fixture.ledger
        func holders(of room: String) -> Int {
            ledger.shards.indices.count { index in ledger.withShard(index) { $0.roomIndices[room] != nil } }
        }
        for room in ["show", "again"] {
            for _ in 0..<40 { fixture.watch(ledger.makeSession(room: room), from: 0, by: .flv, room: room) }
            ledger.participantWatching(room: room, identity: "ann")
        }
        fixture.advance(to: 10)
        #expect(holders(of: "show") > 8 && holders(of: "again") > 8)
        for room in ["show", "again"] { ledger.roomEnded(room) }
        // These clients are admitted at the last moment, and never play.
        fixture.advance(to: 300)
        for room in ["show", "again"] { _ = ledger.admit(PlayerRequest(address: "192.0.2.1"), to: room) }
        fixture.advance(to: 315)
        #expect(holders(of: "show") == 1 && holders(of: "again") == 1)
        ledger.roomBegan("again", sid: "RM2")
        fixture.watch(ledger.makeSession(room: "again"), from: 316, by: .flv, room: "again")
        fixture.advance(to: 400)
        #expect(holders(of: "show") == 0 && holders(of: "again") >= 1)
        #expect(ledger.report(room: "again").concurrent == 1 && ledger.report(room: "again").brokenIdentities == [])
    }

    @Test("a room ends in limited turns; concurrent joins and leaves in other rooms are counted exactly")
    func inTurns() {
        let fixture = LedgerFixture()
        let ledger = fixture.ledger
        for number in 0..<300 {
            fixture.watch(ledger.makeSession(room: fixture.room), from: 0, by: number % 2 == 0 ? .rtmp : .flv)
            ledger.participantWatching(room: fixture.room, identity: "p\(number % 30)")
        }
        fixture.advance(to: 10)
        var (turns, joined, left) = (0, 0, 0)
        for index in ledger.shards.indices {
            var progress = RoomEndProgress()
            var isMore = true
            while isMore {
                let before = fixture.report.leaves
                isMore = ledger.withShard(index) { shard in
                    shard.end(room: fixture.room, at: fixture.clock.now.milliseconds, &progress, limit: 5)
                }
                turns += 1
                #expect(fixture.report.leaves - before <= 5)
                let sid = ledger.makeSession(room: "other")
                fixture.watch(sid, from: 5, by: .flv, room: "other")
                joined += 1
                if turns % 3 == 0 {
                    fixture.record(sid, .closed(.left), at: 10, by: .flv, room: "other")
                    left += 1
                }
                let totals = ledger.totals()
                #expect(totals.rooms.allSatisfy { $0.brokenIdentities == [] } && totals.total.brokenIdentities == [])
                let other = ledger.report(room: "other")
                #expect(other.joins == joined && other.concurrent == joined - left)
                #expect(totals.total.concurrent == fixture.report.concurrent + other.concurrent)
            }
        }
        #expect(turns > 60 && fixture.report.concurrent == 0)
        // A participant returns in a shard that was cleared.
        ledger.participantWatching(room: fixture.room, identity: "late")
        ledger.roomEnded(fixture.room)
        #expect(fixture.report.joins == 331 && fixture.report.leaves == 331 && fixture.report.peak == 330)
        #expect(fixture.report.concurrent == 0 && fixture.report.watchTimeSeconds == 330 * 10 - 30 * 5)
        #expect(ledger.report(room: "other").watchTimeSeconds == Double(joined) * 5)
    }

    @Test("the end of one room leaves another unchanged, and the total is the sum of the rooms")
    func otherRooms() {
        let (fixture, _) = makeAudience()
        for _ in 0..<5 {
            fixture.watch(fixture.ledger.makeSession(room: "other"), from: 20, by: .flv, room: "other")
        }
        let before = fixture.ledger.totals()
        #expect(before.rooms.map(\.room) == ["show", "other"])
        #expect(before.total.concurrent == 26)
        #expect(before.total.byProtocol == [.sdk: 1, .rtmp: 10, .flv: 5, .hls: 10, .llhls: 0])
        #expect(before.total.peak == 26)
        #expect(before.total.brokenIdentities == [])
        fixture.ledger.roomEnded(fixture.room)
        #expect(fixture.ledger.report(room: "other").concurrent == 5)
        #expect(fixture.ledger.totals().total.concurrent == 5)
    }
}
