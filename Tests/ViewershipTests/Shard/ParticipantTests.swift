import Stage
import Synchronization
import Testing

@testable import Viewership

@Suite("Participants who watch")
struct ParticipantTests {
    @Test("a participant counts as sdk from its arrival to its leaving; saying so twice adds nothing")
    func alone() {
        let stand = Stand()
        stand.ledger.participantWatching(room: stand.room, identity: "ann")
        stand.ledger.participantWatching(room: stand.room, identity: "ann")
        #expect(stand.report.byProtocol[.sdk] == 1)
        #expect(stand.report.joins == 1)
        #expect(stand.report.anonymous == 0)
        stand.advance(to: 30)
        #expect(stand.report.watchTimeSeconds == 30)
        stand.ledger.participantLeft(room: stand.room, identity: "ann")
        stand.ledger.participantLeft(room: stand.room, identity: "ann")
        stand.ledger.participantLeft(room: stand.room, identity: "nobody")
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.leaves == 1)
        #expect(stand.report.watchTimeSeconds == 30)
    }

    @Test("a player of its own counts in the participant's place, under the player's protocol, as one viewer")
    func player() {
        let stand = Stand()
        stand.ledger.participantWatching(room: stand.room, identity: "ann")
        let sid = stand.ledger.makeSession(room: stand.room, identity: "ann")
        stand.advance(to: 10)
        stand.watch(sid, from: 10, by: .rtmp)
        #expect(stand.report.byProtocol == [.sdk: 0, .rtmp: 1, .flv: 0, .hls: 0, .llhls: 0])
        #expect(stand.report.joins == 1)
        #expect(stand.report.devices == 1)
        #expect(stand.report.anonymous == 0)
        #expect(stand.report.peak == 1)

        stand.record(sid, .closed(.left), at: 40, by: .rtmp)
        #expect(stand.report.byProtocol[.sdk] == 1)
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.resumable == 0)
        stand.advance(to: 100)
        stand.ledger.participantLeft(room: stand.room, identity: "ann")
        let report = stand.report
        #expect(report.concurrent == 0)
        #expect(report.joins == 1)
        #expect(report.leaves == 1)
        #expect(report.peak == 1)
        #expect(report.watchTimeSeconds == 100)
    }

    @Test("when the participant leaves while its player runs, the player counts on")
    func playerStays() {
        let stand = Stand()
        stand.ledger.participantWatching(room: stand.room, identity: "ann")
        stand.watch(stand.ledger.makeSession(room: stand.room, identity: "ann"), from: 0, by: .flv)
        stand.ledger.participantLeft(room: stand.room, identity: "ann")
        #expect(stand.report.byProtocol[.flv] == 1)
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.anonymous == 1)
        #expect(stand.report.joins == 1)
        #expect(stand.report.leaves == 0)
    }

    @Test("two players of one participant that is present are one viewer")
    func twoPlayers() {
        let stand = Stand()
        let first = stand.ledger.makeSession(room: stand.room, identity: "ann")
        let second = stand.ledger.makeSession(room: stand.room, identity: "ann")
        stand.ledger.participantWatching(room: stand.room, identity: "ann")
        stand.watch(first, from: 0, by: .rtmp)
        stand.watch(second, from: 0, by: .flv)
        stand.watch(stand.ledger.makeSession(room: stand.room), from: 0, by: .flv)
        #expect(stand.report.concurrent == 2)
        #expect(stand.report.devices == 2)
        #expect(stand.report.anonymous == 1)
        #expect(stand.report.joins == 2)
        stand.record(first, .closed(.left), at: 10, by: .rtmp)
        #expect(stand.report.concurrent == 2)
        #expect(stand.report.devices == 2)
        stand.record(second, .closed(.left), at: 11, by: .flv)
        #expect(stand.report.byProtocol[.sdk] == 1)
        #expect(stand.report.devices == 2)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("a token shown later joins player and participant into one viewer")
    func attributedLate() {
        let stand = Stand()
        // The id was made for the participant, which has left and come back since.
        let sid = stand.ledger.makeSession(room: stand.room, identity: "ann")
        stand.ledger.participantLeft(room: stand.room, identity: "ann")
        stand.advance(to: 60)
        stand.watch(sid, from: 60, by: .rtmp)
        stand.ledger.participantWatching(room: stand.room, identity: "ann")
        #expect(stand.report.concurrent == 2)
        #expect(stand.ledger.attribute(sid: sid, room: stand.room, identity: "ann"))
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.byProtocol[.rtmp] == 1)
        #expect(stand.report.brokenIdentities == [])
        #expect(!stand.ledger.attribute(sid: sid, room: stand.room, identity: "bob"))
        #expect(!stand.ledger.attribute(sid: "junk", room: stand.room, identity: "ann"))
    }

    @Test("an HLS player of a participant times out on time although its id was made long before")
    func timeout() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room, identity: "ann")
        stand.poll(sid, from: 1, to: 5)
        #expect(stand.report.concurrent == 1)
        stand.advance(to: 18)
        #expect(stand.report.concurrent == 0)
    }

    @Test("after any order of joins and leaves of all kinds nothing is left over")
    func noDrift() {
        var random = SeededGenerator(seed: 11)
        let stand = Stand()
        let identities = (0..<12).map { "viewer-\($0)" }
        var players: [String] = []
        var opened: [String] = []
        for step in 0..<4000 {
            let now = Double(step) * 0.5
            stand.advance(to: now)
            let identity = identities[Int.random(in: 0..<identities.count, using: &random)]
            switch Int.random(in: 0..<6, using: &random) {
            case 0: stand.ledger.participantWatching(room: stand.room, identity: identity)
            case 1: stand.ledger.participantLeft(room: stand.room, identity: identity)
            case 2:
                let sid = stand.ledger.makeSession(room: stand.room, identity: identity)
                stand.record(sid, .opened, at: now, by: .rtmp)
                players.append(sid)
                opened.append(sid)
            case 3:
                guard let player = players.randomElement(using: &random) else { continue }
                stand.record(player, .watched(since: stand.moment(now - 5)), at: now, by: .rtmp)
            case 4:
                guard let player = players.randomElement(using: &random) else { continue }
                stand.record(player, .closed(.left), at: now, by: .rtmp)
            default:
                guard let player = players.randomElement(using: &random) else { continue }
                stand.record(player, .opened, at: now, by: .rtmp)
                opened.append(player)
            }
            #expect(stand.report.brokenIdentities == [])
        }
        for identity in identities { stand.ledger.participantLeft(room: stand.room, identity: identity) }
        // Some of these were closed already; an end too many changes nothing.
        for player in opened { stand.record(player, .closed(.left), at: 2000, by: .rtmp) }
        stand.advance(to: 2040)
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.resumable == 0)
        #expect(stand.report.joins == stand.report.leaves)
        #expect(stand.report.joins > 100)
        let left = stand.ledger.owners.map { owner in
            owner.shard.withLock { $0.viewerPlaces.count + $0.index.count }
        }
        #expect(left.reduce(0, +) == 0)
    }
}
