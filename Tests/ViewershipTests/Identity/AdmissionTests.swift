import Media
import Stage
import Testing

@testable import Viewership

@Suite("Who is behind a request")
struct AdmissionTests {
    private static let browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/125.0 Safari/537.36"

    private func admit(_ stand: Stand, _ change: (inout PlayerRequest) -> Void = { _ in }) -> ViewerAdmission {
        var request = PlayerRequest(userAgent: Self.browser)
        change(&request)
        return stand.ledger.admit(request, to: stand.room)
    }

    private func sid(_ admission: ViewerAdmission) -> String {
        switch admission {
        case .viewer(let sid), .uncounted(let sid): sid
        case .refused, .crowded: ""
        }
    }

    /// The player of an admission fetches playlists for ten seconds.
    private func watch(_ stand: Stand, _ admission: ViewerAdmission) {
        let now = stand.clock.now.seconds(since: stand.start)
        for second in stride(from: now, through: now + 10, by: 2) {
            stand.record(sid(admission), .playlistServed, at: second, by: .hls)
        }
    }

    @Test("an id in the address wins over CMCD, that over X-Playback-Session-Id, and that over nothing")
    func precedence() {
        let stand = Stand()
        let own = sid(admit(stand))
        let byCMCD = admit(stand) { $0.cmcd = "br%3D3200%2Csid%3D%22play-1%22" }
        let byHeader = admit(stand) { $0.cmcdSession = #"sid="play-1",st=l"# }
        let byApple = admit(stand) { $0.playbackSessionID = "6F2E-11" }
        #expect(byCMCD == byHeader)
        #expect(byCMCD != byApple)
        let again = admit(stand) { $0.playbackSessionID = "6F2E-11" }
        #expect(again == byApple)
        let both = admit(stand) { request in
            request.cmcd = "sid%3D%22play-1%22"
            request.playbackSessionID = "6F2E-11"
        }
        #expect(both == byCMCD)
        let offered = admit(stand) { request in
            request.sid = own
            request.cmcd = "sid%3D%22play-1%22"
        }
        #expect(offered == .viewer(sid: own))
        let told = admit(stand) { $0.cmcdSession = #"sid="\#(own)""# }
        #expect(told == .viewer(sid: own))
        let others = (admit(stand), admit(stand))
        #expect(others.0 != others.1)
        let junk = admit(stand) { $0.sid = "junk" }
        #expect(junk == .refused)
    }

    @Test("a player that names its playback is one viewer over a rotation of the keys")
    func rotation() {
        let stand = Stand()
        let before = admit(stand) { $0.playbackSessionID = "abc" }
        watch(stand, before)
        stand.ledger.use(SessionKeys(current: .random(version: 2), previous: Stand.keys.current))
        let after = admit(stand) { $0.playbackSessionID = "abc" }
        #expect(after == before)
        watch(stand, after)
        #expect(stand.report.joins == 1)
    }

    @Test("Where there is no room, an id lets in who is here or was a moment ago, and nobody beside")
    func returning() {
        let stand = Stand()
        func mayReturn(_ sid: String) -> Bool { stand.ledger.mayReturn(sid: sid, room: stand.room) }
        let sid = stand.ledger.makeSession(room: stand.room)
        #expect(!mayReturn(sid) && stand.ledger.accepts(sid: sid, room: stand.room))
        stand.watch(sid, from: 1, by: .flv)
        #expect(mayReturn(sid) && !stand.ledger.mayReturn(sid: sid, room: "other"))
        stand.record(sid, .opened, at: 7, by: .flv)
        #expect(!mayReturn(sid))
        stand.record(sid, .closed(.left), at: 8, by: .flv)
        stand.record(sid, .closed(.left), at: 9, by: .flv)
        stand.advance(to: 20)
        #expect(mayReturn(sid))
        stand.advance(to: 120)
        #expect(!mayReturn(sid) && !mayReturn("junk"))
        #expect(stand.report.joins == 1)
    }

    @Test("HEAD, prefetches, tokens of machines and link previewers never count; all are told of")
    func excluded() {
        let stand = Stand()
        watch(stand, admit(stand) { $0.isHead = true })
        #expect(stand.report.excluded[.head] == 1)
        // The id that a HEAD is answered with is nobody's; who uses it watches.
        let joins = stand.report.joins
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
            let admission = admit(stand) { request in
                request.role = role
                request.userAgent = agent
            }
            #expect(admission == .uncounted(sid: sid(admission)))
            watch(stand, admission)
        }
        let ahead = admit(stand) { $0.purpose = "prefetch;prerender" }
        #expect(ahead != .refused)
        #expect(stand.report.joins == joins)
        #expect(stand.report.excluded[.role] == 3)
        #expect(stand.report.excluded[.agent] == 9)
        #expect(stand.report.excluded[.prefetch] == 1)
        #expect(stand.report.unfiltered >= stand.report.concurrent + 12)
        #expect(stand.metric("footlight_viewers_excluded_total", ["room": "show", "reason": "role"]) == 3)
        stand.advance(to: stand.clock.now.seconds(since: stand.start) + 100)
        #expect(stand.report.unfiltered == 0)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("what never counts never does: not after a silence, not after a restart, not by a log that tells only its id")
    func excludedForGood() throws {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        var sids: [String] = []
        for role in [PlayerRequest.Role.relay, .monitor, .thumbnail] {
            sids.append(sid(admit(stand) { $0.role = role }))
        }
        sids.append(sid(admit(stand) { $0.userAgent = "Slackbot-LinkExpanding 1.0" }))
        // One that names its playback itself.
        let named = admit(stand) { request in
            request.role = .monitor
            request.playbackSessionID = "6F2E-11"
        }
        sids.append(sid(named))
        func beat(_ stand: Stand, from second: Double) throws {
            for second in stride(from: second, through: second + 10, by: 2) {
                stand.advance(to: second)
                for sid in sids {
                    let line = "<190>Nov 21 18:00:00 hls: \(sid) /live/show/720p.m3u8 200 512 0.003 HIT"
                    stand.ledger.take(try #require(BeatLine(line)))
                }
            }
        }
        try beat(stand, from: 0)
        #expect(stand.report.excluded[.role] == 4 && stand.report.excluded[.agent] == 1)
        // Forgotten by now.
        stand.advance(to: 100)
        #expect(stand.report.unfiltered == 0)
        try beat(stand, from: 100)
        #expect(stand.report.joins == 0 && stand.report.unfiltered == 5)
        let after = Stand(clock: stand.clock, start: stand.start)
        after.ledger.roomBegan(after.room, sid: "RM1")
        try beat(after, from: 112)
        #expect(after.report.joins == 0 && after.report.unfiltered == 5)
        for sid in sids { #expect(admit(after) { $0.sid = sid } == .uncounted(sid: sid)) }
        // By a connection they do not count either.
        after.watch(sids[1], from: 124, by: .rtmp)
        #expect(after.report.joins == 0)
        #expect(after.report.brokenIdentities == [])
    }

    @Test("a monitor that asks by a viewer's id is told apart from that viewer, who goes on to count")
    func borrowed() throws {
        let stand = Stand()
        let viewer = sid(admit(stand))
        for second in [0.0, 2, 4] { stand.record(viewer, .playlistServed, at: second, by: .hls) }
        let monitor = admit(stand) { request in
            request.sid = viewer
            request.role = .monitor
        }
        #expect(monitor == .uncounted(sid: sid(monitor)) && sid(monitor) != viewer)
        let again = admit(stand) { request in
            request.sid = viewer
            request.role = .monitor
        }
        #expect(again == monitor)
        #expect(admit(stand) { $0.sid = viewer } == .viewer(sid: viewer))
        stand.advance(to: 30)
        #expect(stand.report.concurrent == 0 && stand.report.joins == 1)
        // Nobody's id is no way in.
        let id = try #require(SessionID(viewer))
        let forged = SessionID(head: id.head, tail: id.tail ^ 1, code: id.code).text
        let refused = admit(stand) { request in
            request.sid = forged
            request.role = .monitor
        }
        #expect(refused == .refused)
    }

    @Test("who leaves before it is proven to watch is told of as unqualified")
    func unqualified() {
        let stand = Stand()
        let admission = admit(stand)
        stand.record(sid(admission), .playlistServed, at: 0, by: .hls)
        #expect(stand.report.unfiltered == 1)
        stand.advance(to: 60)
        #expect(stand.report.unfiltered == 0)
        #expect(stand.report.excluded[.unqualified] == 1)
        #expect(stand.report.joins == 0)
    }

    @Test("players are told apart by class and region, and every sum is the total")
    func dimensions() {
        let stand = Stand()
        let players: [(String, String?)] = [
            (Self.browser, "DE"), (Self.browser, "us-ca"), ("AppleCoreMedia/1.0 (iPhone; U; CPU OS 17_0)", "DE"),
            ("Lavf/60.3.100", "XX"), ("Roku/DVP-12.0", nil),
            ("ExoPlayerLib/2.19 (Linux; Android 14)", "not a region"),
        ]
        for (agent, region) in players {
            watch(
                stand,
                admit(stand) { request in
                    request.userAgent = agent
                    request.region = region
                }
            )
        }
        #expect(stand.report.byClient == [.web: 2, .ios: 1, .android: 1, .tv: 1, .tool: 1, .unknown: 0])
        #expect(stand.report.byRegion == ["DE": 2, "US-CA": 1, "": 3])
        #expect(stand.report.brokenIdentities == [])
        let labels = ["room": "show", "protocol": "hls", "region": "DE"]
        #expect(stand.metric("footlight_viewers", labels) == 2)
    }

    @Test("a switch of rendition moves the viewer and counts as a switch, never as a join")
    func renditions() {
        let stand = Stand()
        let sid = sid(admit(stand))
        func fetch(_ rendition: String?, _ second: Double) {
            stand.ledger.record(
                AudienceEvent(
                    sid: sid,
                    room: stand.room,
                    playback: .hls,
                    rendition: rendition,
                    kind: .playlistServed,
                    at: stand.moment(second)
                )
            )
            stand.clock.move(to: stand.moment(second))
        }
        for second in stride(from: 0.0, through: 10, by: 2) { fetch("720p", second) }
        #expect(stand.report.byRendition == ["720p": 1])
        for second in stride(from: 12.0, through: 20, by: 2) { fetch("360p", second) }
        #expect(stand.report.byRendition == ["360p": 1])
        fetch(nil, 22)
        #expect(stand.report.byRendition == ["": 1])
        #expect(stand.report.switches == 2)
        #expect(stand.report.joins == 1)
        #expect(stand.report.watchTimeSeconds == 22)
        #expect(stand.metric("footlight_viewer_switches_total", ["room": "show"]) == 2)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("tabs of one device are one device; beyond twenty sessions a viewer's further ones do not count")
    func devices() {
        let stand = Stand()
        let device = "0123456789abcdef0123456789abcdef"
        for _ in 0..<3 { watch(stand, admit(stand) { $0.device = device }) }
        watch(stand, admit(stand))
        #expect(stand.report.concurrent == 4)
        #expect(stand.report.devices == 2)
        #expect(stand.report.anonymous == 4)
        #expect(stand.report.uniques == UniqueViewers(users: 0, devices: 2, estimated: 2))
        let many = (0..<25).map { _ in admit(stand) { $0.identity = "ann" } }
        let counted = many.map { if case .viewer = $0 { true } else { false } }
        #expect(counted == Array(repeating: true, count: 20) + Array(repeating: false, count: 5))
        #expect(stand.report.excluded[.surplus] == 5)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("G7 the estimate joins players of one address and name, and tells rooms apart")
    func estimate() {
        let stand = Stand()
        for address in ["10.0.0.1", "10.0.0.1", "10.0.0.2"] {
            watch(stand, admit(stand) { $0.address = address })
        }
        #expect(stand.report.uniques.estimated == 2)
        #expect(stand.report.uniques.devices == 3)
    }

    @Test("ten thousand forged ids make no viewer")
    func forged() {
        let stand = Stand()
        var random = SeededGenerator(seed: 5)
        var refused = 0
        for _ in 0..<10_000 {
            let id = SessionID(
                version: 1,
                shard: UInt8.random(in: 0..<16, using: &random),
                issuedAt: 1_800_000_000,
                roomHash: SessionID.stableHash(stand.room),
                nonce: random.next(),
                code: random.next()
            )
            let admission = admit(stand) { $0.sid = id.text }
            if admission == .refused { refused += 1 }
            stand.record(id.text, .playlistServed, at: 0, by: .hls)
        }
        #expect(refused == 10_000)
        #expect(stand.report.unfiltered == 0)
        #expect(stand.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 20_000)
    }
}
