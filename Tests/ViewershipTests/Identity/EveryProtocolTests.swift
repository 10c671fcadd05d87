import Media
import Stage
import Testing

@testable import Viewership

@Suite("The same rules for every way of watching")
struct EveryProtocolTests {
    private static let ways: [PlaybackProtocol] = [.rtmp, .flv, .hls, .llhls]

    /// What the player of an admission does for ten seconds.
    private func watch(_ stand: Stand, _ admission: ViewerAdmission, by playback: PlaybackProtocol) {
        guard case .viewer(let sid) = admission else {
            guard case .uncounted(let sid) = admission else { return }
            return play(stand, sid, by: playback)
        }
        play(stand, sid, by: playback)
    }

    private func play(_ stand: Stand, _ sid: String, by playback: PlaybackProtocol) {
        let now = stand.clock.now.seconds(since: stand.start)
        if playback.isConnection { return stand.watch(sid, from: now, by: playback) }
        for second in [now, now + 2, now + 4] { stand.record(sid, .playlistServed, at: second, by: playback) }
    }

    private func admit(_ stand: Stand, _ change: (inout PlayerRequest) -> Void) -> ViewerAdmission {
        var request = PlayerRequest(userAgent: "LNX 9,0,124,2", address: "192.0.2.7")
        change(&request)
        return stand.ledger.admit(request, to: stand.room)
    }

    @Test("class, region and rendition are told apart", arguments: ways)
    func dimensions(playback: PlaybackProtocol) {
        let stand = Stand()
        watch(stand, admit(stand) { $0.region = "de" }, by: playback)
        #expect(stand.report.byProtocol[playback] == 1)
        #expect(stand.report.byClient[.tool] == 1)
        #expect(stand.report.byRegion == ["DE": 1])
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("where nothing tells the region it is the gateway's own, if that has one")
    func home() {
        let stand = Stand(configuration: .init(region: "ch"))
        watch(stand, admit(stand) { _ in }, by: .rtmp)
        watch(stand, admit(stand) { $0.region = "DE" }, by: .hls)
        #expect(stand.report.byRegion == ["CH": 1, "DE": 1])
    }

    @Test("crawlers, and tokens of monitors and relays, play and never count, and are told of", arguments: ways)
    func excluded(playback: PlaybackProtocol) {
        let stand = Stand()
        watch(stand, admit(stand) { $0.role = .monitor }, by: playback)
        watch(stand, admit(stand) { $0.role = .relay }, by: playback)
        watch(stand, admit(stand) { $0.userAgent = "Googlebot/2.1" }, by: playback)
        #expect(stand.report.concurrent == 0 && stand.report.joins == 0)
        #expect(stand.report.unfiltered == 3)
        #expect(stand.report.excluded[.role] == 2 && stand.report.excluded[.agent] == 1)
        #expect(stand.report.watchTimeSeconds == 0)
    }

    @Test("players of one token are one user and one device; beyond twenty they do not count", arguments: ways)
    func identity(playback: PlaybackProtocol) {
        let stand = Stand()
        let admissions = (0..<22).map { _ in admit(stand) { $0.identity = "ann" } }
        for admission in admissions { watch(stand, admission, by: playback) }
        #expect(stand.report.uniques.users == 1 && stand.report.uniques.devices == 1)
        #expect(stand.report.excluded[.surplus] == 2)
        #expect(stand.report.devices <= 1)
    }

    @Test("a session that is resumed in time is the same, by whichever way it comes back", arguments: ways)
    func resumed(playback: PlaybackProtocol) {
        let stand = Stand()
        guard case .viewer(let sid) = admit(stand, { _ in }) else {
            Issue.record("not let in")
            return
        }
        play(stand, sid, by: playback)
        if playback.isConnection {
            stand.record(sid, .closed(.timedOut), at: stand.clock.now.seconds(since: stand.start), by: playback)
        }
        let back = admit(stand) { $0.sid = sid }
        #expect(back == .viewer(sid: sid))
        for other in Self.ways { play(stand, sid, by: other) }
        #expect(stand.report.joins == 1)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("time for which a connection takes no media is waited for, of its room and in its row")
    func stalled() throws {
        let stand = Stand()
        stand.ledger.keepHistory()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.watch(sid, from: 0, by: .rtmp)
        stand.record(sid, .stalled(milliseconds: 2500), at: 12, by: .rtmp)
        stand.record(sid, .closed(.left), at: 20, by: .rtmp)
        #expect(stand.report.stalledSeconds == 2.5)
        #expect(stand.ledger.takeHistory().sessions.values.first?.stalled == 2500)
    }

    /// A stand that goes on with the broadcast of an earlier one.
    private func restarted(_ before: Stand, _ history: inout MemoryHistory) -> Stand {
        history.write(before.ledger.takeHistory())
        let after = Stand(clock: before.clock, start: before.start)
        after.ledger.keepHistory()
        after.ledger.restore(history.recovered)
        after.ledger.roomBegan(after.room, sid: "RM1")
        return after
    }

    @Test("the part of the viewers by requests whose players report is told of, over a restart too")
    func coverage() throws {
        let before = Stand()
        before.ledger.keepHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        let sids = (0..<4).map { _ in before.ledger.makeSession(room: before.room) }
        func report(_ stand: Stand, _ sid: String) {
            var report = PlayerReport()
            report.sid = sid
            stand.ledger.take(report, room: stand.room)
        }
        // One before it joins, one after it, each several times.
        before.record(sids[0], .playlistServed, at: 0, by: .hls)
        report(before, sids[0])
        for second in [0.0, 2, 4] { for sid in sids { before.record(sid, .playlistServed, at: second, by: .hls) } }
        for _ in 0..<3 { report(before, sids[1]) }
        var history = MemoryHistory()
        let after = restarted(before, &history)
        report(after, sids[1])
        history.write(after.ledger.takeHistory())
        let broadcast = try #require(history.broadcasts.values.first)
        #expect(broadcast.heard == 2)
        let sums = history.sums(epoch: broadcast.epoch)
        let figures = BroadcastFigures(broadcast: broadcast, sums: sums, now: 0)
        #expect(figures.coverage == 0.5)
        #expect(BroadcastFigures(broadcast: broadcast, sums: [], now: 0).coverage == nil)
    }

    @Test("Who takes an id and is never seen again may be watching by another server, and reports nothing")
    func unseen() throws {
        let before = Stand()
        before.ledger.keepHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        func take(_ stand: Stand) -> String {
            guard case .viewer(let sid) = stand.ledger.admit(PlayerRequest(userAgent: "Mozilla/5.0"), to: stand.room)
            else { return "" }
            return sid
        }
        // One of four plays by a server in front, and says so.
        let sids = (0..<4).map { _ in take(before) }
        var report = PlayerReport()
        report.sid = sids[0]
        report.isPlaying = true
        for second in stride(from: 1.0, through: 41, by: 10) {
            before.advance(to: second)
            before.ledger.take(report, room: before.room)
            #expect(before.report.joins == (second < 6 ? 0 : 1))
        }
        before.advance(to: 45)
        #expect(before.report.byProtocol[.hls] == 1 && before.report.concurrent == 1)
        var history = MemoryHistory()
        let after = restarted(before, &history)
        _ = take(after)
        after.advance(to: 120)
        history.write(after.ledger.takeHistory())
        let broadcast = try #require(history.broadcasts.values.first)
        #expect(broadcast.unseen == 4)
        let sums = history.sums(epoch: broadcast.epoch)
        let figures = BroadcastFigures(broadcast: broadcast, sums: sums, now: 0)
        #expect(figures.whole.joins == 1 && figures.coverage == 0.2)
    }
}
