import FootlightTesting
import Media
import Stage
import TestSupport
import Testing

@testable import Viewership

@Suite("Admission of requests")
struct AdmissionTests {
    private static let browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/125.0 Safari/537.36"

    private func admit(_ fixture: LedgerFixture, _ change: (inout PlayerRequest) -> Void = { _ in }) -> ViewerAdmission
    {
        var request = PlayerRequest(userAgent: Self.browser)
        change(&request)
        return fixture.ledger.admit(request, to: fixture.room)
    }

    private func sid(_ admission: ViewerAdmission) -> String {
        switch admission {
        case .viewer(let sid), .uncounted(let sid): sid
        case .refused, .crowded, .denied: ""
        }
    }

    /// Requests playlists for ten seconds.
    private func watch(_ fixture: LedgerFixture, _ admission: ViewerAdmission) {
        let now = fixture.clock.now.seconds(since: fixture.start)
        for second in stride(from: now, through: now + 10, by: 2) {
            fixture.record(sid(admission), .playlistServed, at: second, by: .hls)
        }
    }

    @Test("an id in the address takes precedence over CMCD, and CMCD over X-Playback-Session-Id")
    func precedence() {
        let fixture = LedgerFixture()
        let own = sid(admit(fixture))
        let byCMCD = admit(fixture) { $0.cmcd = "br%3D3200%2Csid%3D%22play-1%22" }
        let byHeader = admit(fixture) { $0.cmcdSession = #"sid="play-1",st=l"# }
        let byApple = admit(fixture) { $0.playbackSessionID = "6F2E-11" }
        #expect(byCMCD == byHeader)
        #expect(byCMCD != byApple)
        let again = admit(fixture) { $0.playbackSessionID = "6F2E-11" }
        #expect(again == byApple)
        let both = admit(fixture) { request in
            request.cmcd = "sid%3D%22play-1%22"
            request.playbackSessionID = "6F2E-11"
        }
        #expect(both == byCMCD)
        let offered = admit(fixture) { request in
            request.sid = own
            request.cmcd = "sid%3D%22play-1%22"
        }
        #expect(offered == .viewer(sid: own))
        let byCMCDSession = admit(fixture) { $0.cmcdSession = #"sid="\#(own)""# }
        #expect(byCMCDSession == .viewer(sid: own))
        let others = (admit(fixture), admit(fixture))
        #expect(others.0 != others.1)
        let junk = admit(fixture) { $0.sid = "junk" }
        #expect(junk == .refused)
    }

    @Test("a player with its own session name is one viewer across a key rotation")
    func rotation() {
        let fixture = LedgerFixture()
        let before = admit(fixture) { $0.playbackSessionID = "abc" }
        watch(fixture, before)
        fixture.ledger.use(SessionKeys(current: .random(version: 2), previous: LedgerFixture.keys.current))
        let after = admit(fixture) { $0.playbackSessionID = "abc" }
        #expect(after == before)
        watch(fixture, after)
        #expect(fixture.report.joins == 1)
    }

    @Test("an id admits a current or recent viewer to a full room, with one connection")
    func returning() {
        let fixture = LedgerFixture()
        func mayReturn(_ sid: String) -> Bool { fixture.ledger.mayReturn(sid: sid, room: fixture.room) }
        let sid = fixture.ledger.makeSession(room: fixture.room)
        #expect(!mayReturn(sid) && fixture.ledger.accepts(sid: sid, room: fixture.room))
        fixture.watch(sid, from: 1, by: .flv)
        #expect(mayReturn(sid) && !fixture.ledger.mayReturn(sid: sid, room: "other"))
        fixture.record(sid, .opened, at: 7, by: .flv)
        #expect(!mayReturn(sid))
        fixture.record(sid, .closed(.left), at: 8, by: .flv)
        fixture.record(sid, .closed(.left), at: 9, by: .flv)
        fixture.advance(to: 20)
        #expect(mayReturn(sid))
        fixture.advance(to: 120)
        #expect(!mayReturn(sid) && !mayReturn("junk"))
        #expect(fixture.report.joins == 1)
    }

    @Test("HEAD requests, prefetches, machine tokens and link previewers never count, and are reported as excluded")
    func excluded() {
        let fixture = LedgerFixture()
        watch(fixture, admit(fixture) { $0.isHead = true })
        #expect(fixture.report.excluded[.head] == 1)
        // The id of a response to HEAD is unused; its next user counts.
        let joins = fixture.report.joins
        let machines: [(PlayerRequest.Role, String)] = [
            (.relay, Self.browser), (.monitor, Self.browser), (.thumbnail, Self.browser),
            (.viewer, "facebookexternalhit/1.1"), (.viewer, "Slackbot-LinkExpanding 1.0"),
            (.viewer, "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"),
            (.viewer, "AdsBot-Google (+http://www.google.com/adsbot.html)"), (.viewer, "meta-externalagent/1.1"),
            (.viewer, "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)"),
            (.viewer, "Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)"),
            (.viewer, "Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)"),
            (.viewer, "Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots"),
        ]
        for (role, agent) in machines {
            let admission = admit(fixture) { request in
                request.role = role
                request.userAgent = agent
            }
            #expect(admission == .uncounted(sid: sid(admission)))
            watch(fixture, admission)
        }
        let ahead = admit(fixture) { $0.purpose = "prefetch;prerender" }
        #expect(ahead != .refused)
        #expect(fixture.report.joins == joins)
        #expect(fixture.report.excluded[.role] == 3)
        #expect(fixture.report.excluded[.agent] == 9)
        #expect(fixture.report.excluded[.prefetch] == 1)
        #expect(fixture.report.unfiltered >= fixture.report.concurrent + 12)
        #expect(fixture.metric("footlight_viewers_excluded_total", ["room": "show", "reason": "role"]) == 3)
        fixture.advance(to: fixture.clock.now.seconds(since: fixture.start) + 100)
        #expect(fixture.report.unfiltered == 0)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("an excluded id never counts: not after a timeout, nor after a restart, nor by a log with its id only")
    func excludedForGood() throws {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        var sids: [String] = []
        for role in [PlayerRequest.Role.relay, .monitor, .thumbnail] {
            sids.append(sid(admit(fixture) { $0.role = role }))
        }
        sids.append(sid(admit(fixture) { $0.userAgent = "Slackbot-LinkExpanding 1.0" }))
        // This one has its own session name.
        let named = admit(fixture) { request in
            request.role = .monitor
            request.playbackSessionID = "6F2E-11"
        }
        sids.append(sid(named))
        func deliverLog(_ fixture: LedgerFixture, from second: Double) throws {
            for second in stride(from: second, through: second + 10, by: 2) {
                fixture.advance(to: second)
                for sid in sids {
                    let line = "<190>Nov 21 18:00:00 hls: \(sid) /live/show/720p.m3u8 200 512 0.003 HIT"
                    fixture.ledger.receive(try #require(AccessLogLine(line)))
                }
            }
        }
        try deliverLog(fixture, from: 0)
        #expect(fixture.report.excluded[.role] == 4 && fixture.report.excluded[.agent] == 1)
        // The sessions have expired.
        fixture.advance(to: 100)
        #expect(fixture.report.unfiltered == 0)
        try deliverLog(fixture, from: 100)
        #expect(fixture.report.joins == 0 && fixture.report.unfiltered == 5)
        let after = LedgerFixture(clock: fixture.clock, start: fixture.start)
        after.ledger.roomBegan(after.room, sid: "RM1")
        try deliverLog(after, from: 112)
        #expect(after.report.joins == 0 && after.report.unfiltered == 5)
        for sid in sids { #expect(admit(after) { $0.sid = sid } == .uncounted(sid: sid)) }
        // Connections are excluded too.
        after.watch(sids[1], from: 124, by: .rtmp)
        #expect(after.report.joins == 0)
        #expect(after.report.brokenIdentities == [])
    }

    @Test("a monitor with a viewer's id has its own session, and the viewer continues to count")
    func sharedID() throws {
        let fixture = LedgerFixture()
        let viewer = sid(admit(fixture))
        for second in [0.0, 2, 4] { fixture.record(viewer, .playlistServed, at: second, by: .hls) }
        let monitor = admit(fixture) { request in
            request.sid = viewer
            request.role = .monitor
        }
        #expect(monitor == .uncounted(sid: sid(monitor)) && sid(monitor) != viewer)
        let again = admit(fixture) { request in
            request.sid = viewer
            request.role = .monitor
        }
        #expect(again == monitor)
        #expect(admit(fixture) { $0.sid = viewer } == .viewer(sid: viewer))
        fixture.advance(to: 30)
        #expect(fixture.report.concurrent == 0 && fixture.report.joins == 1)
        // A forged id is refused for machines too.
        let id = try #require(SessionID(viewer))
        let forged = SessionID(head: id.head, tail: id.tail ^ 1, code: id.code).text
        let refused = admit(fixture) { request in
            request.sid = forged
            request.role = .monitor
        }
        #expect(refused == .refused)
    }

    @Test("a viewer that leaves before it qualifies is reported as unqualified")
    func unqualified() {
        let fixture = LedgerFixture()
        let admission = admit(fixture)
        fixture.record(sid(admission), .playlistServed, at: 0, by: .hls)
        #expect(fixture.report.unfiltered == 1)
        fixture.advance(to: 60)
        #expect(fixture.report.unfiltered == 0)
        #expect(fixture.report.excluded[.unqualified] == 1)
        #expect(fixture.report.joins == 0)
    }

    @Test("players are grouped by class and region, and each grouping sums up to the total")
    func dimensions() {
        let fixture = LedgerFixture()
        let players: [(String, String?)] = [
            (Self.browser, "DE"), (Self.browser, "us-ca"), ("AppleCoreMedia/1.0 (iPhone; U; CPU OS 17_0)", "DE"),
            ("Lavf/60.3.100", "XX"), ("Roku/DVP-12.0", nil),
            ("ExoPlayerLib/2.19 (Linux; Android 14)", "not a region"),
        ]
        for (agent, region) in players {
            watch(
                fixture,
                admit(fixture) { request in
                    request.userAgent = agent
                    request.region = region
                }
            )
        }
        #expect(fixture.report.byClient == [.web: 2, .ios: 1, .android: 1, .tv: 1, .tool: 1, .unknown: 0])
        #expect(fixture.report.byRegion == ["DE": 2, "US-CA": 1, "": 3])
        #expect(fixture.report.brokenIdentities == [])
        let labels = ["room": "show", "protocol": "hls", "region": "DE"]
        #expect(fixture.metric("footlight_viewers", labels) == 2)
    }

    @Test("a rendition switch moves the viewer, and is no join")
    func renditions() {
        let fixture = LedgerFixture()
        let sid = sid(admit(fixture))
        func fetch(_ rendition: String?, _ second: Double) {
            fixture.ledger.record(
                AudienceEvent(
                    sid: sid,
                    room: fixture.room,
                    playback: .hls,
                    rendition: rendition,
                    kind: .playlistServed,
                    at: fixture.moment(second)
                )
            )
            fixture.clock.advance(to: fixture.moment(second))
        }
        for second in stride(from: 0.0, through: 10, by: 2) { fetch("720p", second) }
        #expect(fixture.report.byRendition == ["720p": 1])
        for second in stride(from: 12.0, through: 20, by: 2) { fetch("360p", second) }
        #expect(fixture.report.byRendition == ["360p": 1])
        fetch(nil, 22)
        #expect(fixture.report.byRendition == ["": 1])
        #expect(fixture.report.counts.switches == 2)
        #expect(fixture.report.joins == 1)
        #expect(fixture.report.watchTimeSeconds == 22)
        #expect(fixture.metric("footlight_viewer_switches_total", ["room": "show"]) == 2)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("tabs of one device are one device; a viewer's sessions beyond twenty do not count")
    func devices() {
        let fixture = LedgerFixture()
        let device = "0123456789abcdef0123456789abcdef"
        for _ in 0..<3 { watch(fixture, admit(fixture) { $0.device = device }) }
        watch(fixture, admit(fixture))
        #expect(fixture.report.concurrent == 4)
        #expect(fixture.report.devices == 2)
        #expect(fixture.report.anonymous == 4)
        #expect(fixture.report.uniques == UniqueViewers(users: 0, devices: 2, estimated: 2))
        let many = (0..<25).map { _ in admit(fixture) { $0.identity = "ann" } }
        let counted = many.map { if case .viewer = $0 { true } else { false } }
        #expect(counted == Array(repeating: true, count: 20) + Array(repeating: false, count: 5))
        #expect(fixture.report.excluded[.surplus] == 5)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("G7 the estimate merges players with the same address and user agent, and separates rooms")
    func estimate() {
        let fixture = LedgerFixture()
        for address in ["10.0.0.1", "10.0.0.1", "10.0.0.2"] {
            watch(fixture, admit(fixture) { $0.address = address })
        }
        #expect(fixture.report.uniques.estimated == 2)
        #expect(fixture.report.uniques.devices == 3)
    }

    @Test("ten thousand forged ids add no viewer")
    func forged() {
        let fixture = LedgerFixture()
        var random = SeededGenerator(seed: 5)
        var refused = 0
        for _ in 0..<10_000 {
            let id = SessionID(
                version: 1,
                shard: UInt8.random(in: 0..<16, using: &random),
                issuedAt: 1_800_000_000,
                roomHash: SessionID.stableHash(fixture.room),
                nonce: random.next(),
                code: random.next()
            )
            let admission = admit(fixture) { $0.sid = id.text }
            if admission == .refused { refused += 1 }
            fixture.record(id.text, .playlistServed, at: 0, by: .hls)
        }
        #expect(refused == 10_000)
        #expect(fixture.report.unfiltered == 0)
        #expect(fixture.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 20_000)
    }
}
