import Media
import Stage
import Testing

@testable import Viewership

@Suite("Rooms whose audience is limited")
struct LimitedRoomTests {
    private let stand = Stand()

    private func place(_ player: PlayerRequest = PlayerRequest()) -> AudiencePlace? {
        stand.ledger.takePlace(in: stand.room, for: player)
    }

    private func hasPlace(_ sid: String?) -> Bool {
        stand.ledger.hasPlace(in: stand.room, for: PlayerRequest(sid: sid))
    }

    @Test("of connections that come at once only so many get a place; who is gone gives it back")
    func connections() {
        stand.ledger.limitAudience(of: stand.room, to: 2)
        var first = place()
        let second = place()
        #expect(first != nil && second != nil && place() == nil)
        // One goes before it was proven to watch.
        first = nil
        let third = place()
        #expect(third != nil && place() == nil)

        // As the fan-out does it: the place is held until it was told that the player watched.
        let sids = (0..<2).map { _ in stand.ledger.makeSession(room: stand.room) }
        stand.watch(sids[0], from: 0, by: .rtmp)
        second?.giveBack()
        stand.watch(sids[1], from: 5, by: .flv)
        third?.giveBack()
        second?.giveBack()
        #expect(stand.report.concurrent == 2 && place() == nil)
        stand.record(sids[0], .closed(.left), at: 11, by: .rtmp)
        #expect(stand.report.concurrent == 1)
        let fourth = place()
        #expect(fourth != nil && place() == nil)
    }

    @Test("of players that ask for playlists at once only so many count, and another when one has gone")
    func requests() {
        stand.ledger.limitAudience(of: stand.room, to: 2)
        let sids = (0..<3).map { _ in stand.ledger.makeSession(room: stand.room) }
        for second in stride(from: 0.0, through: 10, by: 2) {
            stand.advance(to: second)
            for sid in sids { stand.record(sid, .playlistServed, at: second, by: .hls) }
        }
        #expect(stand.report.concurrent == 2 && stand.report.joins == 2)
        #expect(sids.map(hasPlace) == [true, true, false] && !hasPlace(nil))
        // The first goes; the third, which asks on, counts from then on.
        for second in stride(from: 12.0, through: 30, by: 2) {
            stand.advance(to: second)
            for sid in sids.dropFirst() { stand.record(sid, .playlistServed, at: second, by: .hls) }
        }
        #expect(stand.report.concurrent == 2 && stand.report.joins == 3)
        #expect(hasPlace(sids[2]) && !hasPlace(nil))
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("a participant that is there has its place whatever it plays with, so has a host; who was here comes back")
    func holders() {
        stand.ledger.limitAudience(of: stand.room, to: 2)
        stand.ledger.participantWatching(room: stand.room, identity: "eve")
        stand.ledger.participantHosting(room: stand.room, identity: "ann")
        let eve = stand.ledger.makeSession(room: stand.room, identity: "eve")
        let ann = stand.ledger.makeSession(room: stand.room, identity: "ann")
        let stranger = stand.ledger.makeSession(room: stand.room)
        stand.watch(stranger, from: 0, by: .rtmp)
        #expect(stand.report.concurrent == 2 && !hasPlace(nil) && place() == nil)
        #expect(hasPlace(eve) && hasPlace(ann) && hasPlace(stranger))
        #expect(place(PlayerRequest(identity: "eve")) != nil && place(PlayerRequest(identity: "zoe")) == nil)
        #expect(place(PlayerRequest(role: .relay)) != nil)
        stand.poll(eve, from: 6, to: 12)
        #expect(stand.report.concurrent == 2 && stand.report.byProtocol[.hls] == 1)
        stand.record(stranger, .closed(.left), at: 13, by: .rtmp)
        #expect(hasPlace(nil) && hasPlace(stranger))
        #expect(place(PlayerRequest(sid: stranger)) != nil)
    }

    @Test("who is there before a room has its limit counts in it; what servers in front tell of cannot be refused")
    func others() {
        for _ in 0..<3 { stand.watch(stand.ledger.makeSession(room: stand.room), from: 0, by: .flv) }
        stand.ledger.limitAudience(of: stand.room, to: 3)
        #expect(place() == nil && !hasPlace(nil))
        stand.ledger.limitAudience(of: stand.room, to: 4)
        let held = place()
        #expect(held != nil && place() == nil)
        stand.ledger.limitAudience(of: stand.room, to: nil)
        #expect(place() != nil && hasPlace(nil) && stand.report.concurrent == 3)
        #expect(stand.ledger.takePlace(in: "another", for: PlayerRequest()) != nil)
    }
}
