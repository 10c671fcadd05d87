import FootlightTesting
import Stage
import Testing

@testable import Viewership

@Suite("Player reports")
struct PlayerReportTests {
    @Test("parses CMCD in headers, queries and reports, with quotes and lists")
    func items() {
        let header = CMCDItems(#"bl=21300,bs,br=(3200 6400),cid="a, \"b\"",sid="6e2fb550-c457""#)
        #expect(header.values["bs"] == "true")
        #expect(header.values["cid"] == #"a, "b""#)
        #expect(header.values["sid"] == "6e2fb550-c457")
        #expect(header.values["br"] == "(3200 6400)")
        #expect(CMCDItems(query: "br%3D3200%2Csid%3D%22x%22").values == ["br": "3200", "sid": "x"])
        #expect(CMCDItems("").values == [:])
        let report = PlayerReport(CMCDItems(#"e=ps,sta=a,sid="x",cid="show",bsd=1200,msd=350,sf=h,st=ll"#))
        #expect(report.isPaused == true && !report.isPlaying && !report.isEnd && report.isLowLatency)
        #expect(report.stalled == 1200 && report.startup == 350 && report.contentID == "show")
        #expect(PlayerReport(CMCDItems("sta=e")).isEnd)
        // Version 2 has a list with a number per media type, in any order.
        let lists = PlayerReport(CMCDItems("bl=(4000;v 4200;a),br=(128;a 3000;v),bsd=(0;a 1500;v),msd=900,sta=r,v=2"))
        #expect(lists.bitrate == 3000 && lists.stalled == 1500 && lists.startup == 900 && lists.isPaused == false)
        #expect(PlayerReport(CMCDItems("br=(3200 6400)")).bitrate == 6400)
        let none = PlayerReport(CMCDItems("br=(),bsd=x,msd=99999999999999"))
        #expect(none.bitrate == nil && none.stalled == nil && none.startup == nil)
    }

    private func sendReport(_ fixture: LedgerFixture, _ text: String, at second: Double) {
        fixture.advance(to: second)
        fixture.ledger.receive(PlayerReport(CMCDItems(text)), room: nil)
    }

    @Test("a player behind a CDN counts by its reports alone, and leaves when it reports its end")
    func remote() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.ledger.roomBegan(fixture.room)
        sendReport(fixture, #"sta=s,sid="\#(sid)",msd=800"#, at: 0)
        sendReport(fixture, #"sta=p,sid="\#(sid)",bsd=0"#, at: 2)
        #expect(fixture.report.concurrent == 0)
        for second in stride(from: 20.0, through: 100, by: 20) {
            sendReport(fixture, #"sta=p,sid="\#(sid)",bsd=500"#, at: second)
        }
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.counts.stalledSeconds == 2.5)
        #expect(fixture.report.counts.startups == 1 && fixture.report.counts.startup == 800)
        sendReport(fixture, #"sta=e,sid="\#(sid)""#, at: 110)
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.resumable == 1)
        #expect(fixture.report.watchTimeSeconds == 110)
        fixture.advance(to: 150)
        #expect(fixture.report.leaves == 1)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("without reports it times out after two and a half intervals of twenty seconds")
    func silence() {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room)
        for second in stride(from: 0.0, through: 40, by: 20) {
            sendReport(fixture, #"sta=p,sid="theirs",cid="show""#, at: second)
        }
        fixture.advance(to: 89)
        #expect(fixture.report.concurrent == 1)
        fixture.advance(to: 92)
        #expect(fixture.report.concurrent == 0)
        #expect(fixture.report.watchTimeSeconds == 40)
    }

    @Test("unsigned names count up to the limit of an address, and not at all for a crawler")
    func unsignedNames() {
        var configuration = ViewershipConfiguration()
        configuration.countsReportsAlone = true
        let fixture = LedgerFixture(configuration: configuration)
        fixture.ledger.roomBegan(fixture.room)
        func report(_ names: Int, _ prefix: String, from player: PlayerRequest) {
            for number in 0..<names {
                let text = #"sta=p,sid="\#(prefix)-\#(number)",cid="show""#
                fixture.ledger.receive(PlayerReport(CMCDItems(text)), room: nil, from: player)
            }
        }
        let crawler = PlayerRequest(userAgent: "Googlebot/2.1", address: "192.0.2.9")
        let flood = PlayerRequest(userAgent: "x", address: "192.0.2.1")
        let neighbours = ["2001:db8::1", "2001:db8::ffff:2"].map { PlayerRequest(userAgent: "x", address: $0) }
        for second in [0.0, 6, 12] {
            fixture.advance(to: second)
            report(250, "flood", from: flood)
            report(10, "crawler", from: crawler)
            // Both are in the network of one customer (/64).
            for player in neighbours { report(125, player.address ?? "", from: player) }
        }
        func admitted(_ prefixes: [String], _ names: Int) -> Int {
            let all = prefixes.flatMap { prefix in (0..<names).map { "\(prefix)-\($0)" } }
            return Dictionary(grouping: all) { SessionKeys.shard(room: fixture.room, name: $0) }.values
                .map { min($0.count, AudienceShard.unverifiedSessionsPerSource) }.reduce(0, +)
        }
        let expected = admitted(["flood"], 250) + admitted(neighbours.compactMap(\.address), 125)
        #expect(fixture.report.concurrent == expected && expected <= 2 * 128)
        #expect((fixture.report.excluded[.surplus] ?? 0) > 300 && (fixture.report.excluded[.agent] ?? 0) == 10)
        // After their timeout others may count.
        fixture.advance(to: 200)
        #expect(fixture.report.concurrent == 0)
        for second in [200.0, 206] {
            fixture.advance(to: second)
            report(1, "later", from: flood)
        }
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("the requests of its reports give a player's region and class")
    func described() {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room)
        let sid = fixture.ledger.makeSession(room: fixture.room)
        var player = PlayerRequest(userAgent: "Mozilla/5.0 (iPhone)", address: "192.0.2.1")
        player.region = "DE"
        for second in [0.0, 6] {
            fixture.advance(to: second)
            let report = PlayerReport(CMCDItems(#"sta=p,sid="\#(sid)""#))
            fixture.ledger.receive(report, room: fixture.room, from: player)
        }
        #expect(fixture.report.byRegion == ["DE": 1] && fixture.report.byClient[.ios] == 1)
        #expect(fixture.report.uniques.estimated == 1)
    }

    @Test("the bit rate gives the rendition, unless playlists do")
    func rates() {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room)
        fixture.ledger.setBitrates(fixture.room, ["": 3128, "360p": 900, "audio": 128])
        for (second, rate) in [(0.0, 3500), (6, 3500), (20, 3500), (40, 700), (60, 140)] {
            sendReport(fixture, #"sta=p,sid="theirs",cid="show",br=(\#(rate))"#, at: second)
            let name = rate == 3500 ? "" : rate == 700 ? "360p" : "audio"
            if second > 0 { #expect(fixture.report.byRendition == [name: 1]) }
        }
        #expect(fixture.report.counts.switches == 2 && fixture.report.joins == 1)
        let sid = fixture.ledger.makeSession(room: fixture.room)
        for second in [61.0, 63, 65] { fixture.record(sid, .playlistServed, at: second, by: .hls, rendition: "360p") }
        sendReport(fixture, #"sta=p,sid="\#(sid)",cid="show",br=(3500)"#, at: 66)
        #expect(fixture.report.byRendition == ["audio": 1, "360p": 1] && fixture.report.counts.switches == 2)
    }

    @Test("stalls are limited to the playing time; a startup counts once, and only of a qualified session")
    func exaggerated() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        let unproven = fixture.ledger.makeSession(room: fixture.room)
        fixture.ledger.roomBegan(fixture.room)
        sendReport(fixture, #"sta=s,sid="\#(unproven)",msd=9000,bsd=3600000"#, at: 0)
        sendReport(fixture, #"sta=p,sid="\#(sid)",msd=700,bsd=3600000"#, at: 0)
        #expect(fixture.report.counts.stalledSeconds == 0 && fixture.report.counts.startups == 0)
        for second in [10.0, 20, 30] { sendReport(fixture, #"sta=p,sid="\#(sid)",msd=9000,bsd=3600000"#, at: second) }
        #expect(fixture.report.counts.stalledSeconds == 30)
        // The last value before qualification counts.
        #expect(fixture.report.counts.startups == 1 && fixture.report.counts.startup == 9000)
    }

    @Test("a starvation in a request (CMCD 1, query or header) counts as half of the time since the previous request")
    func starved() {
        let fixture = LedgerFixture()
        let ledger = fixture.ledger
        func poll(_ sid: String, at second: Double, cmcd: String? = nil, status: String? = nil) {
            fixture.advance(to: second)
            var request = PlayerRequest(sid: sid, userAgent: "hls.js")
            (request.cmcd, request.cmcdStatus) = (cmcd, status)
            _ = ledger.admit(request, to: fixture.room)
            fixture.record(sid, .playlistServed, at: second, by: .hls)
        }
        var first = PlayerRequest(userAgent: "hls.js")
        first.cmcd = "sid%3D%22mine%22"
        guard case .viewer(let sid) = ledger.admit(first, to: fixture.room) else {
            Issue.record("a player with its own session name is a viewer")
            return
        }
        // Nothing counts before qualification; then in the query, in the header, and absent.
        poll(sid, at: 0, cmcd: "bs")
        poll(sid, at: 2, cmcd: "bs")
        #expect(fixture.report.counts.stalledSeconds == 0)
        poll(sid, at: 6, cmcd: "bl%3D0%2Cbs%2Csid%3D%22mine%22")
        #expect(fixture.report.counts.stalledSeconds == 2)
        poll(sid, at: 9, status: "bs,rtp=1200")
        poll(sid, at: 11, cmcd: "bs%3Dfalse%2Ccid%3D%22bsbs%22", status: "bs=?0")
        #expect(fixture.report.counts.stalledSeconds == 3.5)
        // In a media request: by its session name, or by its connection.
        var segment = PlayerRequest(userAgent: "hls.js")
        segment.cmcdStatus = "bs"
        segment.cmcdSession = #"sid="mine""#
        fixture.advance(to: 12)
        ledger.recordPlayerReport(segment, in: fixture.room, on: nil)
        segment.cmcdSession = #"sid="unknown""#
        ledger.recordPlayerReport(segment, in: fixture.room, on: sid)
        ledger.recordPlayerReport(segment, in: fixture.room, on: nil)
        ledger.recordPlayerReport(segment, in: "other", on: sid)
        #expect(fixture.report.counts.stalledSeconds == 4.5)
        // Limited to the playing time.
        for _ in 0..<100 { ledger.recordPlayerReport(segment, in: fixture.room, on: sid) }
        #expect(fixture.report.counts.stalledSeconds == 12)
        // Reports take precedence, and an excluded session counts no stalls.
        poll(sid, at: 14)
        var report = PlayerReport()
        (report.sid, report.stalled) = (sid, 300)
        ledger.receive(report, room: fixture.room)
        poll(sid, at: 18, cmcd: "bs")
        let monitor = PlayerRequest(userAgent: "m", role: .monitor)
        guard case .uncounted(let other) = ledger.admit(monitor, to: fixture.room) else {
            Issue.record("a monitor is no viewer")
            return
        }
        for second in [20.0, 23, 26] { poll(other, at: second, cmcd: "bs") }
        #expect(fixture.report.counts.stalledSeconds == 12.3)
        #expect(fixture.report.concurrent == 1 && fixture.report.joins == 1)
    }

    @Test("time during a reported pause is not watched, although playlists are requested")
    func paused() {
        let fixture = LedgerFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.poll(sid, from: 0, to: 10)
        sendReport(fixture, #"sta=a,sid="\#(sid)""#, at: 11)
        fixture.poll(sid, from: 12, to: 30)
        #expect(fixture.report.concurrent == 1)
        #expect(fixture.report.watchTimeSeconds == 11)
        sendReport(fixture, #"sta=p,sid="\#(sid)""#, at: 31)
        fixture.poll(sid, from: 32, to: 40)
        #expect(fixture.report.watchTimeSeconds == 11 + 9)
    }

    @Test("rejects and counts reports for rooms without a broadcast, or without a session id")
    func unknownRooms() {
        let fixture = LedgerFixture()
        let ledger = fixture.ledger
        #expect(!ledger.receive(PlayerReport(CMCDItems(#"sta=p,sid="x",cid="none""#)), room: nil))
        #expect(!ledger.receive(PlayerReport(CMCDItems("sta=p")), room: "show"))
        #expect(fixture.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 1)
        #expect(fixture.metric("footlight_beats_rejected_total", ["reason": "malformed"]) == 1)
    }

    @Test(
        "a player with its own session name and a token or device id is one viewer with its reports",
        arguments: [
            PlayerRequest(identity: "ann"), PlayerRequest(identity: "machine", role: .monitor), PlayerRequest(),
        ]
    )
    func named(shown: PlayerRequest) {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room)
        // Some names have the form of session ids.
        let names = (0..<18).map { "6e2fb550-c457-\($0)" } + ["1", "2"].map { String(repeating: "A", count: 31) + $0 }
        #expect(names.compactMap { SessionID($0) }.count == 2)
        for name in names {
            var request = shown
            request.cmcd = "sid%3D%22\(name)%22"
            if shown.identity == nil { request.device = "0123456789abcdef" + name.suffix(2) }
            guard case .viewer(let sid) = fixture.ledger.admit(request, to: fixture.room) else { continue }
            for second in [0.0, 2, 4] { fixture.record(sid, .playlistServed, at: second, by: .hls) }
        }
        // The requests of the reports carry the name only.
        let counted = fixture.report.concurrent
        #expect(counted == (shown.role == .monitor ? 0 : 20))
        for second in [5.0, 11] {
            fixture.advance(to: second)
            for name in names {
                let report = PlayerReport(CMCDItems(#"sta=p,bsd=(100),sid="\#(name)",cid="show""#))
                fixture.ledger.receive(report, room: nil, from: PlayerRequest(userAgent: "x", address: "192.0.2.1"))
            }
        }
        #expect(fixture.report.concurrent == counted && fixture.report.joins == counted)
        #expect(fixture.report.unfiltered == 20)
        #expect(fixture.report.counts.stalledSeconds == Double(counted) * 0.2)
        #expect(fixture.report.brokenIdentities == [])
    }

    @Test("reports and logs of an ended room count no viewer, and begin no broadcast")
    func over() throws {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        let sid = fixture.ledger.makeSession(room: fixture.room)
        let line = "<190>Nov 21 18:00:00 hls: \(sid) /live/show/720p.m3u8 200 512 0.003 HIT"
        func reportAll(from first: Double, to last: Double) throws {
            for second in stride(from: first, through: last, by: 2) {
                sendReport(fixture, #"sta=p,sid="\#(sid)""#, at: second)
                sendReport(fixture, #"sta=r,sid="\#(sid)",cid="show""#, at: second)
                fixture.ledger.receive(PlayerReport(CMCDItems(#"sta=p,sid="\#(sid)""#)), room: fixture.room)
                fixture.ledger.receive(try #require(AccessLogLine(line)))
            }
        }
        try reportAll(from: 0, to: 10)
        #expect(fixture.report.concurrent == 1)
        fixture.ledger.roomEnded(fixture.room)
        try reportAll(from: 10, to: 40)
        #expect(fixture.report.concurrent == 0 && fixture.report.joins == 1 && fixture.report.peak == 1)
        #expect(fixture.ledger.totals().rooms.isEmpty && fixture.ledger.totals().total.concurrent == 0)
        // The same holds after the room was removed.
        fixture.advance(to: 400)
        try reportAll(from: 400, to: 420)
        #expect(fixture.report.joins == 0 && fixture.ledger.totals().rooms.isEmpty)
        #expect(fixture.metric("footlight_beats_rejected_total", ["reason": "room"]) ?? 0 >= 100)
        #expect(fixture.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 0)
        // The remaining players count in the next room of its name.
        fixture.ledger.roomBegan(fixture.room, sid: "RM2")
        try reportAll(from: 422, to: 430)
        #expect(fixture.report.concurrent == 1 && fixture.report.joins == 1)
    }

    @Test("an nginx log line counts as a playlist request; rejects other lines")
    func lines() throws {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room)
        let sid = fixture.ledger.makeSession(room: fixture.room)
        let line = "<190>Nov 21 18:00:00 hls: \(sid) /live/show/720p.m3u8 200 512 0.003 HIT"
        for second in [0.0, 2, 4] {
            fixture.clock.advance(to: fixture.moment(second))
            fixture.ledger.receive(try #require(AccessLogLine(line)))
        }
        #expect(fixture.report.byProtocol[.hls] == 1)
        #expect(fixture.report.byRendition == ["720p": 1])
        #expect(AccessLogLine(line + " ll")?.isLowLatency == true)
        #expect(AccessLogLine("<190>x hls: \(sid) /live/show/media.m3u8 304 0 0.001 HIT")?.rendition == "")
        for other in [
            "", "<190>Nov 21 hls: - /live/show/720p.m3u8 200 1 0 -", "hls: \(sid) /live/show/720p.m3u8 404 1 0 -",
            "hls: \(sid) /live/show/index.m3u8 200 1 0 -", "hls: \(sid) /live/show/r/seg1.m4s 200 1 0 -",
            "hls: \(sid) /other/show/720p.m3u8 200 1 0 -", String(repeating: "x", count: 4000),
        ] {
            #expect(AccessLogLine(other) == nil, "\(other.prefix(80))")
        }
    }
}
