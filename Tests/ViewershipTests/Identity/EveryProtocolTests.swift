import FootlightTesting
import Media
import Stage
import Testing

@testable import Viewership

@Suite("The same rules for every protocol")
struct EveryProtocolTests {
    private static let protocols: [PlaybackProtocol] = [.rtmp, .flv, .hls, .llhls]

    /// Plays an admitted session for ten seconds.
    private func watch(_ fixture: LedgerFixture, _ admission: ViewerAdmission, by playback: PlaybackProtocol) {
        guard case .viewer(let sid) = admission else {
            guard case .uncounted(let sid) = admission else { return }
            return play(fixture, sid, by: playback)
        }
        play(fixture, sid, by: playback)
    }

    private func play(_ fixture: LedgerFixture, _ sid: String, by playback: PlaybackProtocol) {
        let now = fixture.clock.now.seconds(since: fixture.start)
        if playback.isConnection { return fixture.watch(sid, from: now, by: playback) }
        for second in [now, now + 2, now + 4] { fixture.record(sid, .playlistServed, at: second, by: playback) }
    }

    private func admit(_ fixture: LedgerFixture, _ change: (inout PlayerRequest) -> Void) -> ViewerAdmission {
        var request = PlayerRequest(userAgent: "LNX 9,0,124,2", address: "192.0.2.7")
        change(&request)
        return fixture.ledger.admit(request, to: fixture.room)
    }

    @Test("class, region and rendition are counted", arguments: protocols)
    func dimensions(playback: PlaybackProtocol) {
        let fixture = LedgerFixture()
        watch(fixture, admit(fixture) { $0.region = "de" }, by: playback)
        #expect(fixture.report.byProtocol[playback] == 1)
        #expect(fixture.report.byClient[.tool] == 1)
        #expect(fixture.report.byRegion == ["DE": 1])
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("the configured region is the default")
    func gatewayRegion() {
        let fixture = LedgerFixture(configuration: .init(region: "ch"))
        watch(fixture, admit(fixture) { _ in }, by: .rtmp)
        watch(fixture, admit(fixture) { $0.region = "DE" }, by: .hls)
        #expect(fixture.report.byRegion == ["CH": 1, "DE": 1])
    }

    @Test("crawlers, monitors and relays play, never count, and are reported as excluded", arguments: protocols)
    func excluded(playback: PlaybackProtocol) {
        let fixture = LedgerFixture()
        watch(fixture, admit(fixture) { $0.role = .monitor }, by: playback)
        watch(fixture, admit(fixture) { $0.role = .relay }, by: playback)
        watch(fixture, admit(fixture) { $0.userAgent = "Googlebot/2.1" }, by: playback)
        #expect(fixture.report.concurrent == 0 && fixture.report.joins == 0)
        #expect(fixture.report.unfiltered == 3)
        #expect(fixture.report.excluded[.role] == 2 && fixture.report.excluded[.agent] == 1)
        #expect(fixture.report.watchTimeSeconds == 0)
    }

    @Test("players of one token are one user and one device; beyond twenty they do not count", arguments: protocols)
    func identity(playback: PlaybackProtocol) {
        let fixture = LedgerFixture()
        let admissions = (0..<22).map { _ in admit(fixture) { $0.identity = "ann" } }
        for admission in admissions { watch(fixture, admission, by: playback) }
        #expect(fixture.report.uniques.users == 1 && fixture.report.uniques.devices == 1)
        #expect(fixture.report.excluded[.surplus] == 2)
        #expect(fixture.report.devices <= 1)
    }

    @Test("a session that resumes in time is the same, by any protocol", arguments: protocols)
    func resumed(playback: PlaybackProtocol) {
        let fixture = LedgerFixture()
        guard case .viewer(let sid) = admit(fixture, { _ in }) else {
            Issue.record("the player was refused")
            return
        }
        play(fixture, sid, by: playback)
        if playback.isConnection {
            fixture.record(sid, .closed(.timedOut), at: fixture.clock.now.seconds(since: fixture.start), by: playback)
        }
        let back = admit(fixture) { $0.sid = sid }
        #expect(back == .viewer(sid: sid))
        for other in Self.protocols { play(fixture, sid, by: other) }
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("stalls of a connection are counted in its room and in its row")
    func stalled() throws {
        let fixture = LedgerFixture()
        fixture.ledger.enableHistory()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.watch(sid, from: 0, by: .rtmp)
        fixture.record(sid, .stalled(milliseconds: 2500), at: 12, by: .rtmp)
        fixture.record(sid, .closed(.left), at: 20, by: .rtmp)
        #expect(fixture.report.counts.stalledSeconds == 2.5)
        #expect(fixture.ledger.drainHistory().sessions.values.first?.stalled == 2500)
    }

    /// Restarts a ledger with the history of an earlier one.
    private func restarted(_ before: LedgerFixture, _ history: inout InMemoryHistory) -> LedgerFixture {
        history.write(before.ledger.drainHistory())
        let after = LedgerFixture(clock: before.clock, start: before.start)
        after.ledger.enableHistory()
        after.ledger.restore(history.recovered)
        after.ledger.roomBegan(after.room, sid: "RM1")
        return after
    }

    @Test("the share of HLS viewers with reports is known, across a restart too")
    func coverage() throws {
        let before = LedgerFixture()
        before.ledger.enableHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        let sids = (0..<4).map { _ in before.ledger.makeSession(room: before.room) }
        func report(_ fixture: LedgerFixture, _ sid: String) {
            var report = PlayerReport()
            report.sid = sid
            fixture.ledger.receive(report, room: fixture.room)
        }
        // One report before the session qualifies, and several after it.
        before.record(sids[0], .playlistServed, at: 0, by: .hls)
        report(before, sids[0])
        for second in [0.0, 2, 4] { for sid in sids { before.record(sid, .playlistServed, at: second, by: .hls) } }
        for _ in 0..<3 { report(before, sids[1]) }
        var history = InMemoryHistory()
        let after = restarted(before, &history)
        report(after, sids[1])
        history.write(after.ledger.drainHistory())
        let broadcast = try #require(history.broadcasts.values.first)
        #expect(broadcast.reportingSessions == 2)
        let sums = history.sums(epoch: broadcast.epoch)
        let figures = BroadcastFigures(broadcast: broadcast, sums: sums, now: 0)
        #expect(figures.coverage == 0.5)
        #expect(BroadcastFigures(broadcast: broadcast, sums: [], now: 0).coverage == nil)
    }

    @Test("an id that was issued and never used counts as a viewer without reports")
    func unusedIDs() throws {
        let before = LedgerFixture()
        before.ledger.enableHistory()
        before.ledger.roomBegan(before.room, sid: "RM1")
        func newSession(_ fixture: LedgerFixture) -> String {
            guard
                case .viewer(let sid) = fixture.ledger.admit(PlayerRequest(userAgent: "Mozilla/5.0"), to: fixture.room)
            else { return "" }
            return sid
        }
        // One of four plays through a server in front, and sends reports.
        let sids = (0..<4).map { _ in newSession(before) }
        var report = PlayerReport()
        report.sid = sids[0]
        report.isPlaying = true
        for second in stride(from: 1.0, through: 41, by: 10) {
            before.advance(to: second)
            before.ledger.receive(report, room: before.room)
            #expect(before.report.joins == (second < 6 ? 0 : 1))
        }
        before.advance(to: 45)
        #expect(before.report.byProtocol[.hls] == 1 && before.report.concurrent == 1)
        var history = InMemoryHistory()
        let after = restarted(before, &history)
        _ = newSession(after)
        after.advance(to: 120)
        history.write(after.ledger.drainHistory())
        let broadcast = try #require(history.broadcasts.values.first)
        #expect(broadcast.unusedIDs == 4)
        let sums = history.sums(epoch: broadcast.epoch)
        let figures = BroadcastFigures(broadcast: broadcast, sums: sums, now: 0)
        #expect(figures.whole.counts.joins == 1 && figures.coverage == 0.2)
    }
}
