import Media
import Stage
import Testing

@testable import Viewership

@Suite("Rooms with a limited audience")
struct LimitedRoomTests {
    private let fixture = LedgerFixture()

    private func reserve(_ player: PlayerRequest = PlayerRequest()) -> ViewerSlot? {
        fixture.ledger.reserveSlot(in: fixture.room, for: player)
    }

    private func hasFreeSlot(_ sid: String?) -> Bool {
        fixture.ledger.hasFreeSlot(in: fixture.room, for: PlayerRequest(sid: sid))
    }

    @Test("concurrent connections get a limited number of slots; a closed one releases its slot")
    func connections() {
        fixture.ledger.limitAudience(of: fixture.room, to: 2)
        var first = reserve()
        let second = reserve()
        #expect(first != nil && second != nil && reserve() == nil)
        // One closes before it qualifies.
        first = nil
        let third = reserve()
        #expect(third != nil && reserve() == nil)

        // As the fan-out does it: the slot is held until the player has qualified.
        let sids = (0..<2).map { _ in fixture.ledger.makeSession(room: fixture.room) }
        fixture.watch(sids[0], from: 0, by: .rtmp)
        second?.release()
        fixture.watch(sids[1], from: 5, by: .flv)
        third?.release()
        second?.release()
        #expect(fixture.report.concurrent == 2 && reserve() == nil)
        fixture.record(sids[0], .closed(.left), at: 11, by: .rtmp)
        #expect(fixture.report.concurrent == 1)
        let fourth = reserve()
        #expect(fourth != nil && reserve() == nil)
    }

    @Test("a limited number of polling players counts, and another one when a slot is free")
    func requests() {
        fixture.ledger.limitAudience(of: fixture.room, to: 2)
        let sids = (0..<3).map { _ in fixture.ledger.makeSession(room: fixture.room) }
        for second in stride(from: 0.0, through: 10, by: 2) {
            fixture.advance(to: second)
            for sid in sids { fixture.record(sid, .playlistServed, at: second, by: .hls) }
        }
        #expect(fixture.report.concurrent == 2 && fixture.report.joins == 2)
        #expect(sids.map(hasFreeSlot) == [true, true, false] && !hasFreeSlot(nil))
        // The first leaves; the third, which continues to poll, counts then.
        for second in stride(from: 12.0, through: 30, by: 2) {
            fixture.advance(to: second)
            for sid in sids.dropFirst() { fixture.record(sid, .playlistServed, at: second, by: .hls) }
        }
        #expect(fixture.report.concurrent == 2 && fixture.report.joins == 3)
        #expect(hasFreeSlot(sids[2]) && !hasFreeSlot(nil))
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("a present participant and a host have their slots with any player; a recent viewer may return")
    func holders() {
        fixture.ledger.limitAudience(of: fixture.room, to: 2)
        fixture.ledger.participantWatching(room: fixture.room, identity: "eve")
        fixture.ledger.participantHosting(room: fixture.room, identity: "ann")
        let eve = fixture.ledger.makeSession(room: fixture.room, identity: "eve")
        let ann = fixture.ledger.makeSession(room: fixture.room, identity: "ann")
        let anonymous = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(anonymous, from: 0, by: .rtmp)
        #expect(fixture.report.concurrent == 2 && !hasFreeSlot(nil) && reserve() == nil)
        #expect(hasFreeSlot(eve) && hasFreeSlot(ann) && hasFreeSlot(anonymous))
        #expect(reserve(PlayerRequest(identity: "eve")) != nil && reserve(PlayerRequest(identity: "zoe")) == nil)
        #expect(reserve(PlayerRequest(role: .relay)) != nil)
        fixture.poll(eve, from: 6, to: 12)
        #expect(fixture.report.concurrent == 2 && fixture.report.byProtocol[.hls] == 1)
        fixture.record(anonymous, .closed(.left), at: 13, by: .rtmp)
        #expect(hasFreeSlot(nil) && hasFreeSlot(anonymous))
        #expect(reserve(PlayerRequest(sid: anonymous)) != nil)
    }

    @Test("present viewers count in a new limit; viewers of servers in front cannot be refused")
    func others() {
        for _ in 0..<3 { fixture.watch(fixture.ledger.makeSession(room: fixture.room), from: 0, by: .flv) }
        fixture.ledger.limitAudience(of: fixture.room, to: 3)
        #expect(reserve() == nil && !hasFreeSlot(nil))
        fixture.ledger.limitAudience(of: fixture.room, to: 4)
        let held = reserve()
        #expect(held != nil && reserve() == nil)
        fixture.ledger.limitAudience(of: fixture.room, to: nil)
        #expect(reserve() != nil && hasFreeSlot(nil) && fixture.report.concurrent == 3)
        #expect(fixture.ledger.reserveSlot(in: "another", for: PlayerRequest()) != nil)
    }
}
