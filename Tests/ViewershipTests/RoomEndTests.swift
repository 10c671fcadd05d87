import Media
import Stage
import Testing

@testable import Viewership

@Suite("The end of a room")
struct RoomEndTests {
    /// Ten connections, ten HLS viewers and a participant, all watching at 20 seconds.
    private func crowd() -> (stand: Stand, sids: [String]) {
        let stand = Stand()
        let connected = (0..<10).map { _ in stand.ledger.makeSession(room: stand.room) }
        let polling = (0..<10).map { _ in stand.ledger.makeSession(room: stand.room) }
        for sid in connected { stand.watch(sid, from: 0, by: .rtmp) }
        for second in stride(from: 6.0, through: 20, by: 2) {
            for sid in polling { stand.record(sid, .playlistServed, at: second, by: .hls) }
            stand.advance(to: second)
        }
        stand.ledger.participantWatching(room: stand.room, identity: "ann")
        return (stand, connected + polling)
    }

    @Test("all sessions are closed at once and the figures are final")
    func end() {
        let (stand, sids) = crowd()
        #expect(stand.report.concurrent == 21)
        stand.advance(to: 22)
        stand.ledger.roomEnded(stand.room)
        let final = stand.report
        #expect(final.concurrent == 0)
        #expect(final.byProtocol.values.allSatisfy { $0 == 0 })
        #expect(final.resumable == 0)
        #expect(final.joins == 21)
        #expect(final.leaves == 21)
        #expect(final.peak == 21)
        #expect(final.watchTimeSeconds == 10 * 22 + 10 * 15 + 2)
        #expect(final.brokenIdentities == [])
        let labels = ["room": "show", "protocol": "hls", "reason": "room_ended"]
        #expect(stand.metric("footlight_viewer_leaves_total", labels) == 10)

        // What the fan-out says while it closes the connections, and a stray request, change nothing.
        for sid in sids.prefix(10) { stand.record(sid, .closed(.roomEnded), at: 22.1, by: .rtmp) }
        stand.record(sids[15], .playlistServed, at: 22.2, by: .hls)
        stand.ledger.participantLeft(room: stand.room, identity: "ann")
        stand.advance(to: 100)
        #expect(stand.report == final)
        stand.ledger.roomEnded(stand.room)
        #expect(stand.report == final)
        #expect(stand.ledger.totals().rooms == [])
        #expect(stand.ledger.totals().total.concurrent == 0)
    }

    @Test("the next broadcast of a room of the same name begins at zero; counters for metrics run on")
    func nextBroadcast() {
        let (stand, _) = crowd()
        stand.ledger.roomEnded(stand.room)
        stand.watch(stand.ledger.makeSession(room: stand.room), from: 30, by: .flv)
        stand.advance(to: 40)
        let report = stand.report
        #expect(report.concurrent == 1)
        #expect(report.peak == 1)
        #expect(report.joins == 1)
        #expect(report.leaves == 0)
        #expect(report.watchTimeSeconds == 10)
        #expect(report.brokenIdentities == [])
        #expect(stand.metric("footlight_viewer_joins_total", ["room": "show", "protocol": "rtmp"]) == 10)
        #expect(stand.ledger.totals().rooms.map(\.room) == ["show"])
        #expect(stand.ledger.totals().total.peak == 21)
    }

    @Test("an ended room goes to 0 in the metrics and is gone from them some minutes later")
    func retention() {
        let (stand, _) = crowd()
        stand.ledger.roomEnded(stand.room)
        #expect(stand.metric("footlight_viewers", ["room": "show", "protocol": "rtmp"]) == 0)
        #expect(stand.metric("footlight_viewers_peak", ["room": "show"]) == 0)
        stand.advance(to: 310)
        #expect(stand.metric("footlight_viewers", ["room": "show", "protocol": "rtmp"]) == 0)
        stand.advance(to: 330)
        #expect(stand.metric("footlight_viewers", ["room": "show", "protocol": "rtmp"]) == nil)
        #expect(stand.report.joins == 0)
    }

    @Test("a room that is over for long is forgotten as soon as nobody is in it, and not while its name is on again")
    func forgotten() {
        let stand = Stand()
        let ledger = stand.ledger
        func holders(of room: String) -> Int {
            ledger.owners.indices.count { index in ledger.withShard(index) { $0.roomPlaces[room] != nil } }
        }
        for room in ["show", "again"] {
            for _ in 0..<40 { stand.watch(ledger.makeSession(room: room), from: 0, by: .flv, room: room) }
            ledger.participantWatching(room: room, identity: "ann")
        }
        stand.advance(to: 10)
        #expect(holders(of: "show") > 8 && holders(of: "again") > 8)
        for room in ["show", "again"] { ledger.roomEnded(room) }
        // Somebody asks in the last moment, and never comes.
        stand.advance(to: 300)
        for room in ["show", "again"] { _ = ledger.admit(PlayerRequest(address: "192.0.2.1"), to: room) }
        stand.advance(to: 315)
        #expect(holders(of: "show") == 1 && holders(of: "again") == 1)
        ledger.roomBegan("again", sid: "RM2")
        stand.watch(ledger.makeSession(room: "again"), from: 316, by: .flv, room: "again")
        stand.advance(to: 400)
        #expect(holders(of: "show") == 0 && holders(of: "again") >= 1)
        #expect(ledger.report(room: "again").concurrent == 1 && ledger.report(room: "again").brokenIdentities == [])
    }

    @Test("a room ends some sessions at a time; who comes, goes and watches elsewhere meanwhile is counted exactly")
    func inTurns() {
        let stand = Stand()
        let ledger = stand.ledger
        for number in 0..<300 {
            stand.watch(ledger.makeSession(room: stand.room), from: 0, by: number % 2 == 0 ? .rtmp : .flv)
            ledger.participantWatching(room: stand.room, identity: "p\(number % 30)")
        }
        stand.advance(to: 10)
        var (turns, joined, left) = (0, 0, 0)
        for index in ledger.owners.indices {
            var progress = RoomEnding()
            var isMore = true
            while isMore {
                let before = stand.report.leaves
                isMore = ledger.withShard(index) { shard in
                    shard.end(room: stand.room, at: stand.clock.now.milliseconds, &progress, limit: 5)
                }
                turns += 1
                #expect(stand.report.leaves - before <= 5)
                let sid = ledger.makeSession(room: "other")
                stand.watch(sid, from: 5, by: .flv, room: "other")
                joined += 1
                if turns % 3 == 0 {
                    stand.record(sid, .closed(.left), at: 10, by: .flv, room: "other")
                    left += 1
                }
                let totals = ledger.totals()
                #expect(totals.rooms.allSatisfy { $0.brokenIdentities == [] } && totals.total.brokenIdentities == [])
                let other = ledger.report(room: "other")
                #expect(other.joins == joined && other.concurrent == joined - left)
                #expect(totals.total.concurrent == stand.report.concurrent + other.concurrent)
            }
        }
        #expect(turns > 60 && stand.report.concurrent == 0)
        // Somebody comes back to a shard that was done with.
        ledger.participantWatching(room: stand.room, identity: "late")
        ledger.roomEnded(stand.room)
        #expect(stand.report.joins == 331 && stand.report.leaves == 331 && stand.report.peak == 330)
        #expect(stand.report.concurrent == 0 && stand.report.watchTimeSeconds == 330 * 10 - 30 * 5)
        #expect(ledger.report(room: "other").watchTimeSeconds == Double(joined) * 5)
    }

    @Test("one room's end does not touch another, and the total is the sum of the rooms")
    func otherRooms() {
        let (stand, _) = crowd()
        for _ in 0..<5 {
            stand.watch(stand.ledger.makeSession(room: "other"), from: 20, by: .flv, room: "other")
        }
        let before = stand.ledger.totals()
        #expect(before.rooms.map(\.room) == ["show", "other"])
        #expect(before.total.concurrent == 26)
        #expect(before.total.byProtocol == [.sdk: 1, .rtmp: 10, .flv: 5, .hls: 10, .llhls: 0])
        #expect(before.total.peak == 26)
        #expect(before.total.brokenIdentities == [])
        stand.ledger.roomEnded(stand.room)
        #expect(stand.ledger.report(room: "other").concurrent == 5)
        #expect(stand.ledger.totals().total.concurrent == 5)
    }
}
