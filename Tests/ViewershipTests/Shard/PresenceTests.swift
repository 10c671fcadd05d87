import Stage
import Synchronization
import Testing

@testable import Viewership

@Suite("Players of participants, present and gone")
struct PresenceTests {
    @Test("a player with a token whose identity never joined counts, as anonymous")
    func neverJoined() {
        let stand = Stand()
        stand.watch(stand.ledger.makeSession(room: stand.room, identity: "zoe"), from: 0, by: .rtmp)
        #expect(stand.report.concurrent == 1 && stand.report.anonymous == 1 && stand.report.joins == 1)
    }

    @Test(
        "who leaves and plays on is anonymous from then on, without a new join",
        arguments: [PlaybackProtocol.rtmp, .hls]
    )
    func leaves(playback: PlaybackProtocol) {
        let stand = Stand()
        stand.ledger.participantWatching(room: stand.room, identity: "eve")
        let sid = stand.ledger.makeSession(room: stand.room, identity: "eve")
        if playback == .hls { stand.poll(sid, from: 0, to: 10) } else { stand.watch(sid, from: 0, by: playback) }
        #expect(stand.report.concurrent == 1 && stand.report.anonymous == 0)
        stand.ledger.participantLeft(room: stand.room, identity: "eve")
        #expect(stand.report.concurrent == 1 && stand.report.anonymous == 1 && stand.report.joins == 1)
        if playback == .hls { stand.poll(sid, from: 12, to: 20) } else { stand.advance(to: 20) }
        #expect(stand.report.concurrent == 1 && stand.report.anonymous == 1 && stand.report.joins == 1)
        #expect(stand.report.watchTimeSeconds == 20)
    }

    @Test("an id that is used long after it was made for a participant is still the participant's")
    func lateUse() {
        let stand = Stand()
        stand.ledger.participantWatching(room: stand.room, identity: "eve")
        let sid = stand.ledger.makeSession(room: stand.room, identity: "eve")
        stand.advance(to: 120)
        // Until it is used it is no playback.
        #expect(stand.report.unfiltered == 1 && stand.report.concurrent == 1)
        stand.watch(sid, from: 120, by: .flv)
        #expect(stand.report.concurrent == 1 && stand.report.anonymous == 0 && stand.report.joins == 1)
    }

    @Test("of the players of a participant that watches one counts, the others when that has ended or it has left")
    func onePlayer() {
        let stand = Stand()
        stand.ledger.participantWatching(room: stand.room, identity: "eve")
        let sids = (0..<3).map { _ in stand.ledger.makeSession(room: stand.room, identity: "eve") }
        stand.watch(sids[0], from: 0, by: .rtmp)
        stand.watch(sids[1], from: 0, by: .flv)
        stand.poll(sids[2], from: 6, to: 10)
        #expect(stand.report.concurrent == 1 && stand.report.byProtocol[.rtmp] == 1)
        stand.record(sids[0], .closed(.left), at: 10, by: .rtmp)
        #expect(stand.report.concurrent == 1 && stand.report.byProtocol[.flv] == 1 && stand.report.joins == 1)
        #expect(stand.report.resumable == 0)
        stand.poll(sids[2], from: 12, to: 20)
        stand.ledger.participantLeft(room: stand.room, identity: "eve")
        #expect(stand.report.concurrent == 1 && stand.report.anonymous == 1)
        stand.poll(sids[2], from: 22, to: 24)
        #expect(stand.report.concurrent == 2 && stand.report.anonymous == 2 && stand.report.joins == 2)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("two players of one that joins only then are one viewer from then on, and one of them has left")
    func joinsLate() {
        let stand = Stand()
        for playback in [PlaybackProtocol.rtmp, .flv] {
            stand.watch(stand.ledger.makeSession(room: stand.room, identity: "eve"), from: 0, by: playback)
        }
        #expect(stand.report.concurrent == 2 && stand.report.anonymous == 2)
        stand.ledger.participantWatching(room: stand.room, identity: "eve")
        #expect(stand.report.concurrent == 1 && stand.report.anonymous == 0)
        stand.advance(to: 60)
        #expect(stand.report.joins == 2 && stand.report.leaves == 1 && stand.report.concurrent == 1)
        stand.ledger.participantLeft(room: stand.room, identity: "eve")
        #expect(stand.report.concurrent == 2 && stand.report.anonymous == 2 && stand.report.joins == 3)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("a host that plays its own room is no audience, steps down into it at once, and leaves it on promotion")
    func host() {
        let stand = Stand()
        stand.ledger.participantHosting(room: stand.room, identity: "ann")
        let sid = stand.ledger.makeSession(room: stand.room, identity: "ann")
        stand.watch(sid, from: 0, by: .rtmp)
        #expect(stand.report.concurrent == 0 && stand.report.joins == 0 && stand.report.watchTimeSeconds == 0)
        stand.advance(to: 20)
        stand.ledger.participantWatching(room: stand.room, identity: "ann")
        #expect(stand.report.concurrent == 1 && stand.report.byProtocol[.rtmp] == 1 && stand.report.joins == 1)
        stand.advance(to: 30)
        stand.ledger.participantHosting(room: stand.room, identity: "ann")
        #expect(stand.report.concurrent == 0 && stand.report.watchTimeSeconds == 10)
        stand.advance(to: 90)
        #expect(stand.report.leaves == 1 && stand.report.resumable == 0)
        stand.ledger.participantLeft(room: stand.room, identity: "ann")
        #expect(stand.report.concurrent == 1 && stand.report.anonymous == 1 && stand.report.joins == 2)
        stand.record(sid, .closed(.left), at: 100, by: .rtmp)
        stand.advance(to: 140)
        #expect(stand.report.leaves == 2 && stand.report.watchTimeSeconds == 20)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("a host that plays by HLS for as long as it likes is told of as a role that does not count")
    func hostByHLS() {
        let stand = Stand()
        stand.ledger.participantHosting(room: stand.room, identity: "ann")
        let sid = stand.ledger.makeSession(room: stand.room, identity: "ann")
        stand.poll(sid, from: 0, to: 100)
        #expect(stand.report.concurrent == 0 && stand.report.joins == 0)
        stand.advance(to: 130)
        #expect(stand.report.excluded[.role] == 1 && stand.report.excluded[.unqualified] == 0)
        #expect(stand.report.unfiltered == 0)
    }

    @Test("a restart leaves participant and player one viewer")
    func restart() {
        let first = Stand()
        first.ledger.keepHistory()
        first.ledger.roomBegan(first.room, sid: "RM1")
        first.ledger.participantWatching(room: first.room, identity: "eve")
        let sid = first.ledger.makeSession(room: first.room, identity: "eve")
        first.poll(sid, from: 0, to: 20)
        #expect(first.report.concurrent == 1 && first.report.joins == 1)
        var history = MemoryHistory()
        history.write(first.ledger.takeHistory())
        let second = Stand(clock: first.clock, start: first.start)
        second.ledger.keepHistory()
        second.ledger.restore(history.recovered)
        second.ledger.roomBegan(second.room, sid: "RM1")
        second.ledger.participantWatching(room: second.room, identity: "eve")
        #expect(second.report.concurrent == 1 && second.report.anonymous == 0 && second.report.joins == 1)
        #expect(second.report.brokenIdentities == [])
    }

    @Test("after every step of any order participants present and anonymous players are the audience")
    func property() {
        for seed in UInt64(1)...3 { property(seed: seed) }
    }

    private func property(seed: UInt64) {
        enum Role { case gone, watching, hosting }
        var random = SeededGenerator(seed: seed)
        let stand = Stand()
        let identities = (0..<8).map { "viewer-\($0)" }
        var roles: [String: Role] = [:]
        var players: [(sid: String, identity: String?)] = []
        var open: [String: Int] = [:]
        for step in 0..<4000 {
            let now = Double(step) * 0.5
            stand.advance(to: now)
            let identity = identities[Int.random(in: 0..<identities.count, using: &random)]
            switch Int.random(in: 0..<9, using: &random) {
            case 0:
                stand.ledger.participantWatching(room: stand.room, identity: identity)
                roles[identity] = .watching
            case 1:
                stand.ledger.participantLeft(room: stand.room, identity: identity)
                roles[identity] = .gone
            case 2:
                stand.ledger.participantHosting(room: stand.room, identity: identity)
                roles[identity] = .hosting
            case 3: players.append((stand.ledger.makeSession(room: stand.room, identity: identity), identity))
            case 4: players.append((stand.ledger.makeSession(room: stand.room), nil))
            case 5:
                guard let player = players.randomElement(using: &random) else { continue }
                stand.record(player.sid, .opened, at: now, by: .rtmp)
                open[player.sid, default: 0] += 1
            case 6:
                guard let player = players.randomElement(using: &random), open[player.sid] != nil else { continue }
                stand.record(player.sid, .watched(since: stand.moment(now - 5)), at: now, by: .rtmp)
            case 7:
                guard let player = players.randomElement(using: &random) else { continue }
                stand.record(player.sid, .playlistServed, at: now, by: .hls)
            default:
                guard let player = players.randomElement(using: &random), let count = open[player.sid] else { continue }
                stand.record(player.sid, .closed(.left), at: now, by: .rtmp)
                open[player.sid] = count > 1 ? count - 1 : nil
            }
            let report = stand.report
            let present = roles.values.count { $0 == .watching }
            #expect(report.brokenIdentities == [], "seed \(seed), step \(step)")
            #expect(report.concurrent == report.anonymous + present, "seed \(seed), step \(step)")
        }
        let joins = stand.report.joins
        for identity in identities { stand.ledger.participantLeft(room: stand.room, identity: identity) }
        for (sid, count) in open {
            for _ in 0..<count { stand.record(sid, .closed(.left), at: 2000, by: .rtmp) }
        }
        stand.advance(to: 2080)
        #expect(stand.report.concurrent == 0 && stand.report.unfiltered == 0 && stand.report.resumable == 0)
        #expect(stand.report.joins >= joins && stand.report.joins == stand.report.leaves && joins > 100)
        let left = stand.ledger.owners.map { owner in
            owner.shard.withLock { $0.viewerPlaces.count + $0.index.count + $0.ownedCodes.count }
        }
        #expect(left.reduce(0, +) == 0)
    }
}
