import Stage
import Synchronization
import TestSupport
import Testing

@testable import Viewership

@Suite("Watching participants", .enabled(if: TestRun.isFull))
struct ParticipantTests {
    @Test("a participant counts as sdk from joining to leaving; repeated calls add nothing")
    func alone() {
        let fixture = LedgerFixture()
        fixture.ledger.participantWatching(room: fixture.room, identity: "ann")
        fixture.ledger.participantWatching(room: fixture.room, identity: "ann")
        #expect(fixture.report.byProtocol[.sdk] == 1)
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.anonymous == 0)
        fixture.advance(to: 30)
        #expect(fixture.report.watchTimeSeconds == 30)
        fixture.ledger.participantLeft(room: fixture.room, identity: "ann")
        fixture.ledger.participantLeft(room: fixture.room, identity: "ann")
        fixture.ledger.participantLeft(room: fixture.room, identity: "unknown")
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.leaves == 1)
        #expect(fixture.report.watchTimeSeconds == 30)
    }

    @Test("a player of its own counts instead of the participant, under the player's protocol, as one viewer")
    func player() {
        let fixture = LedgerFixture()
        fixture.ledger.participantWatching(room: fixture.room, identity: "ann")
        let sid = fixture.ledger.makeSession(room: fixture.room, identity: "ann")
        fixture.advance(to: 10)
        fixture.watch(sid, from: 10, by: .rtmp)
        #expect(fixture.report.byProtocol == [.sdk: 0, .rtmp: 1, .flv: 0, .hls: 0, .llhls: 0])
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.devices == 1)
        #expect(fixture.report.anonymous == 0)
        #expect(fixture.report.peak == 1)

        fixture.record(sid, .closed(.left), at: 40, by: .rtmp)
        #expect(fixture.report.byProtocol[.sdk] == 1)
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.resumable == 0)
        fixture.advance(to: 100)
        fixture.ledger.participantLeft(room: fixture.room, identity: "ann")
        let report = fixture.report
        #expect(report.concurrent == 0)
        #expect(report.joins == 1)
        #expect(report.leaves == 1)
        #expect(report.peak == 1)
        #expect(report.watchTimeSeconds == 100)
    }

    @Test("when the participant leaves while its player runs, the player continues to count")
    func playerStays() {
        let fixture = LedgerFixture()
        fixture.ledger.participantWatching(room: fixture.room, identity: "ann")
        fixture.watch(fixture.ledger.makeSession(room: fixture.room, identity: "ann"), from: 0, by: .flv)
        fixture.ledger.participantLeft(room: fixture.room, identity: "ann")
        #expect(fixture.report.byProtocol[.flv] == 1)
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.anonymous == 1)
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.leaves == 0)
    }

    @Test("two players of one present participant are one viewer")
    func twoPlayers() {
        let fixture = LedgerFixture()
        let first = fixture.ledger.makeSession(room: fixture.room, identity: "ann")
        let second = fixture.ledger.makeSession(room: fixture.room, identity: "ann")
        fixture.ledger.participantWatching(room: fixture.room, identity: "ann")
        fixture.watch(first, from: 0, by: .rtmp)
        fixture.watch(second, from: 0, by: .flv)
        fixture.watch(fixture.ledger.makeSession(room: fixture.room), from: 0, by: .flv)
        #expect(fixture.report.concurrent == 2)
        #expect(fixture.report.devices == 2)
        #expect(fixture.report.anonymous == 1)
        #expect(fixture.report.joins == 2)
        fixture.record(first, .closed(.left), at: 10, by: .rtmp)
        #expect(fixture.report.concurrent == 2)
        #expect(fixture.report.devices == 2)
        fixture.record(second, .closed(.left), at: 11, by: .flv)
        #expect(fixture.report.byProtocol[.sdk] == 1)
        #expect(fixture.report.devices == 2)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("a token presented later merges player and participant into one viewer")
    func attributedLate() {
        let fixture = LedgerFixture()
        // The id was issued to the participant, which has left and returned since.
        let sid = fixture.ledger.makeSession(room: fixture.room, identity: "ann")
        fixture.ledger.participantLeft(room: fixture.room, identity: "ann")
        fixture.advance(to: 60)
        fixture.watch(sid, from: 60, by: .rtmp)
        fixture.ledger.participantWatching(room: fixture.room, identity: "ann")
        #expect(fixture.report.concurrent == 2)
        #expect(fixture.ledger.attribute(sid: sid, room: fixture.room, identity: "ann"))
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.byProtocol[.rtmp] == 1)
        #expect(fixture.report.brokenIdentities == [])
        #expect(!fixture.ledger.attribute(sid: sid, room: fixture.room, identity: "bob"))
        #expect(!fixture.ledger.attribute(sid: "junk", room: fixture.room, identity: "ann"))
    }

    @Test("an HLS player of a participant times out in time although its id was issued long before")
    func timeout() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room, identity: "ann")
        fixture.poll(sid, from: 1, to: 5)
        #expect(fixture.report.concurrent == 1)
        fixture.advance(to: 18)
        #expect(fixture.report.concurrent == 0)
    }

    @Test("any order of joins and leaves leaves nothing over")
    func noDrift() {
        var random = SeededGenerator(seed: 11)
        let fixture = LedgerFixture()
        let identities = (0..<12).map { "viewer-\($0)" }
        var players: [String] = []
        var opened: [String] = []
        for step in 0..<4000 {
            let now = Double(step) * 0.5
            fixture.advance(to: now)
            let identity = identities[Int.random(in: 0..<identities.count, using: &random)]
            switch Int.random(in: 0..<6, using: &random) {
            case 0: fixture.ledger.participantWatching(room: fixture.room, identity: identity)
            case 1: fixture.ledger.participantLeft(room: fixture.room, identity: identity)
            case 2:
                let sid = fixture.ledger.makeSession(room: fixture.room, identity: identity)
                fixture.record(sid, .opened, at: now, by: .rtmp)
                players.append(sid)
                opened.append(sid)
            case 3:
                guard let player = players.randomElement(using: &random) else { continue }
                fixture.record(player, .watched(since: fixture.moment(now - 5)), at: now, by: .rtmp)
            case 4:
                guard let player = players.randomElement(using: &random) else { continue }
                fixture.record(player, .closed(.left), at: now, by: .rtmp)
            default:
                guard let player = players.randomElement(using: &random) else { continue }
                fixture.record(player, .opened, at: now, by: .rtmp)
                opened.append(player)
            }
            #expect(fixture.report.brokenIdentities == [])
        }
        for identity in identities { fixture.ledger.participantLeft(room: fixture.room, identity: identity) }
        // Some of these were closed already; a surplus close changes nothing.
        for player in opened { fixture.record(player, .closed(.left), at: 2000, by: .rtmp) }
        fixture.advance(to: 2040)
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.resumable == 0)
        #expect(fixture.report.joins == fixture.report.leaves)
        #expect(fixture.report.joins > 100)
        let left = fixture.ledger.shards.map { owner in
            owner.shard.withLock { $0.viewerIndices.count + $0.sessionIndex.count }
        }
        #expect(left.reduce(0, +) == 0)
    }
}

@Suite("Players of present and absent participants", .enabled(if: TestRun.isFull))
struct PresenceTests {
    @Test("a player with a token whose identity never joined counts as anonymous")
    func neverJoined() {
        let fixture = LedgerFixture()
        fixture.watch(fixture.ledger.makeSession(room: fixture.room, identity: "zoe"), from: 0, by: .rtmp)
        #expect(fixture.report.concurrent == 1 && fixture.report.anonymous == 1 && fixture.report.joins == 1)
    }

    @Test(
        "a player whose participant leaves becomes anonymous, without a new join",
        arguments: [PlaybackProtocol.rtmp, .hls]
    )
    func leaves(playback: PlaybackProtocol) {
        let fixture = LedgerFixture()
        fixture.ledger.participantWatching(room: fixture.room, identity: "eve")
        let sid = fixture.ledger.makeSession(room: fixture.room, identity: "eve")
        if playback == .hls { fixture.poll(sid, from: 0, to: 10) } else { fixture.watch(sid, from: 0, by: playback) }
        #expect(fixture.report.concurrent == 1 && fixture.report.anonymous == 0)
        fixture.ledger.participantLeft(room: fixture.room, identity: "eve")
        #expect(fixture.report.concurrent == 1 && fixture.report.anonymous == 1 && fixture.report.joins == 1)
        if playback == .hls { fixture.poll(sid, from: 12, to: 20) } else { fixture.advance(to: 20) }
        #expect(fixture.report.concurrent == 1 && fixture.report.anonymous == 1 && fixture.report.joins == 1)
        #expect(fixture.report.watchTimeSeconds == 20)
    }

    @Test("an id that is used long after it was issued to a participant still belongs to it")
    func lateUse() {
        let fixture = LedgerFixture()
        fixture.ledger.participantWatching(room: fixture.room, identity: "eve")
        let sid = fixture.ledger.makeSession(room: fixture.room, identity: "eve")
        fixture.advance(to: 120)
        // An unused id is no playback.
        #expect(fixture.report.unfiltered == 1 && fixture.report.concurrent == 1)
        fixture.watch(sid, from: 120, by: .flv)
        #expect(fixture.report.concurrent == 1 && fixture.report.anonymous == 0 && fixture.report.joins == 1)
    }

    @Test("one player of a watching participant counts, the others after it ends or the participant leaves")
    func onePlayer() {
        let fixture = LedgerFixture()
        fixture.ledger.participantWatching(room: fixture.room, identity: "eve")
        let sids = (0..<3).map { _ in fixture.ledger.makeSession(room: fixture.room, identity: "eve") }
        fixture.watch(sids[0], from: 0, by: .rtmp)
        fixture.watch(sids[1], from: 0, by: .flv)
        fixture.poll(sids[2], from: 6, to: 10)
        #expect(fixture.report.concurrent == 1 && fixture.report.byProtocol[.rtmp] == 1)
        fixture.record(sids[0], .closed(.left), at: 10, by: .rtmp)
        #expect(fixture.report.concurrent == 1 && fixture.report.byProtocol[.flv] == 1 && fixture.report.joins == 1)
        #expect(fixture.report.resumable == 0)
        fixture.poll(sids[2], from: 12, to: 20)
        fixture.ledger.participantLeft(room: fixture.room, identity: "eve")
        #expect(fixture.report.concurrent == 1 && fixture.report.anonymous == 1)
        fixture.poll(sids[2], from: 22, to: 24)
        #expect(fixture.report.concurrent == 2 && fixture.report.anonymous == 2 && fixture.report.joins == 2)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("two players of a participant that joins later become one viewer, and one of them has left")
    func joinsLate() {
        let fixture = LedgerFixture()
        for playback in [PlaybackProtocol.rtmp, .flv] {
            fixture.watch(fixture.ledger.makeSession(room: fixture.room, identity: "eve"), from: 0, by: playback)
        }
        #expect(fixture.report.concurrent == 2 && fixture.report.anonymous == 2)
        fixture.ledger.participantWatching(room: fixture.room, identity: "eve")
        #expect(fixture.report.concurrent == 1 && fixture.report.anonymous == 0)
        fixture.advance(to: 60)
        #expect(fixture.report.joins == 2 && fixture.report.leaves == 1 && fixture.report.concurrent == 1)
        fixture.ledger.participantLeft(room: fixture.room, identity: "eve")
        #expect(fixture.report.concurrent == 2 && fixture.report.anonymous == 2 && fixture.report.joins == 3)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("a host that plays its own room does not count, counts after demotion, and stops on promotion")
    func host() {
        let fixture = LedgerFixture()
        fixture.ledger.participantHosting(room: fixture.room, identity: "ann")
        let sid = fixture.ledger.makeSession(room: fixture.room, identity: "ann")
        fixture.watch(sid, from: 0, by: .rtmp)
        #expect(fixture.report.concurrent == 0 && fixture.report.joins == 0 && fixture.report.watchTimeSeconds == 0)
        fixture.advance(to: 20)
        fixture.ledger.participantWatching(room: fixture.room, identity: "ann")
        #expect(fixture.report.concurrent == 1 && fixture.report.byProtocol[.rtmp] == 1 && fixture.report.joins == 1)
        fixture.advance(to: 30)
        fixture.ledger.participantHosting(room: fixture.room, identity: "ann")
        #expect(fixture.report.concurrent == 0 && fixture.report.watchTimeSeconds == 10)
        fixture.advance(to: 90)
        #expect(fixture.report.leaves == 1 && fixture.report.resumable == 0)
        fixture.ledger.participantLeft(room: fixture.room, identity: "ann")
        #expect(fixture.report.concurrent == 1 && fixture.report.anonymous == 1 && fixture.report.joins == 2)
        fixture.record(sid, .closed(.left), at: 100, by: .rtmp)
        fixture.advance(to: 140)
        #expect(fixture.report.leaves == 2 && fixture.report.watchTimeSeconds == 20)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("a host that plays by HLS is reported as excluded by role")
    func hostByHLS() {
        let fixture = LedgerFixture()
        fixture.ledger.participantHosting(room: fixture.room, identity: "ann")
        let sid = fixture.ledger.makeSession(room: fixture.room, identity: "ann")
        fixture.poll(sid, from: 0, to: 100)
        #expect(fixture.report.concurrent == 0 && fixture.report.joins == 0)
        fixture.advance(to: 130)
        #expect(fixture.report.excluded[.role] == 1 && fixture.report.excluded[.unqualified] == 0)
        #expect(fixture.report.unfiltered == 0)
    }

    @Test("after a restart participant and player are one viewer")
    func restart() {
        let first = LedgerFixture()
        first.ledger.enableHistory()
        first.ledger.roomBegan(first.room, sid: "RM1")
        first.ledger.participantWatching(room: first.room, identity: "eve")
        let sid = first.ledger.makeSession(room: first.room, identity: "eve")
        first.poll(sid, from: 0, to: 20)
        #expect(first.report.concurrent == 1 && first.report.joins == 1)
        var history = InMemoryHistory()
        history.write(first.ledger.drainHistory())
        let second = LedgerFixture(clock: first.clock, start: first.start)
        second.ledger.enableHistory()
        second.ledger.restore(history.recovered)
        second.ledger.roomBegan(second.room, sid: "RM1")
        second.ledger.participantWatching(room: second.room, identity: "eve")
        #expect(second.report.concurrent == 1 && second.report.anonymous == 0 && second.report.joins == 1)
        #expect(second.report.brokenIdentities == [])
    }

    @Test("after every step in any order the audience is the present participants and the anonymous players")
    func property() {
        for seed in UInt64(1)...3 { property(seed: seed) }
    }

    private func property(seed: UInt64) {
        enum Role { case gone, watching, hosting }
        var random = SeededGenerator(seed: seed)
        let fixture = LedgerFixture()
        let identities = (0..<8).map { "viewer-\($0)" }
        var roles: [String: Role] = [:]
        var players: [(sid: String, identity: String?)] = []
        var open: [String: Int] = [:]
        for step in 0..<4000 {
            let now = Double(step) * 0.5
            fixture.advance(to: now)
            let identity = identities[Int.random(in: 0..<identities.count, using: &random)]
            switch Int.random(in: 0..<9, using: &random) {
            case 0:
                fixture.ledger.participantWatching(room: fixture.room, identity: identity)
                roles[identity] = .watching
            case 1:
                fixture.ledger.participantLeft(room: fixture.room, identity: identity)
                roles[identity] = .gone
            case 2:
                fixture.ledger.participantHosting(room: fixture.room, identity: identity)
                roles[identity] = .hosting
            case 3: players.append((fixture.ledger.makeSession(room: fixture.room, identity: identity), identity))
            case 4: players.append((fixture.ledger.makeSession(room: fixture.room), nil))
            case 5:
                guard let player = players.randomElement(using: &random) else { continue }
                fixture.record(player.sid, .opened, at: now, by: .rtmp)
                open[player.sid, default: 0] += 1
            case 6:
                guard let player = players.randomElement(using: &random), open[player.sid] != nil else { continue }
                fixture.record(player.sid, .watched(since: fixture.moment(now - 5)), at: now, by: .rtmp)
            case 7:
                guard let player = players.randomElement(using: &random) else { continue }
                fixture.record(player.sid, .playlistServed, at: now, by: .hls)
            default:
                guard let player = players.randomElement(using: &random), let count = open[player.sid] else { continue }
                fixture.record(player.sid, .closed(.left), at: now, by: .rtmp)
                open[player.sid] = count > 1 ? count - 1 : nil
            }
            let report = fixture.report
            let present = roles.values.count { $0 == .watching }
            #expect(report.brokenIdentities == [], "seed \(seed), step \(step)")
            #expect(report.concurrent == report.anonymous + present, "seed \(seed), step \(step)")
        }
        let joins = fixture.report.joins
        for identity in identities { fixture.ledger.participantLeft(room: fixture.room, identity: identity) }
        for (sid, count) in open {
            for _ in 0..<count { fixture.record(sid, .closed(.left), at: 2000, by: .rtmp) }
        }
        fixture.advance(to: 2080)
        #expect(fixture.report.concurrent == 0 && fixture.report.unfiltered == 0 && fixture.report.resumable == 0)
        #expect(fixture.report.joins >= joins && fixture.report.joins == fixture.report.leaves && joins > 100)
        let left = fixture.ledger.shards.map { owner in
            owner.shard.withLock { $0.viewerIndices.count + $0.sessionIndex.count + $0.ownedCodes.count }
        }
        #expect(left.reduce(0, +) == 0)
    }
}
