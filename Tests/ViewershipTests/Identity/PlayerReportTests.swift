import Stage
import Testing

@testable import Viewership

@Suite("What players say of themselves")
struct PlayerReportTests {
    @Test("CMCD items are read from header, query and beacon; quotes and lists do not confuse")
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
        // Version 2 has a list with a number for each kind of media, in any order.
        let lists = PlayerReport(CMCDItems("bl=(4000;v 4200;a),br=(128;a 3000;v),bsd=(0;a 1500;v),msd=900,sta=r,v=2"))
        #expect(lists.bitrate == 3000 && lists.stalled == 1500 && lists.startup == 900 && lists.isPaused == false)
        #expect(PlayerReport(CMCDItems("br=(3200 6400)")).bitrate == 6400)
        let none = PlayerReport(CMCDItems("br=(),bsd=x,msd=99999999999999"))
        #expect(none.bitrate == nil && none.stalled == nil && none.startup == nil)
    }

    private func beat(_ stand: Stand, _ text: String, at second: Double) {
        stand.advance(to: second)
        stand.ledger.take(PlayerReport(CMCDItems(text)), room: nil)
    }

    @Test("a player behind caches is counted by its reports alone, and leaves when it says so")
    func remote() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.ledger.roomBegan(stand.room)
        beat(stand, #"sta=s,sid="\#(sid)",msd=800"#, at: 0)
        beat(stand, #"sta=p,sid="\#(sid)",bsd=0"#, at: 2)
        #expect(stand.report.concurrent == 0)
        for second in stride(from: 20.0, through: 100, by: 20) {
            beat(stand, #"sta=p,sid="\#(sid)",bsd=500"#, at: second)
        }
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.stalledSeconds == 2.5)
        #expect(stand.report.startups == 1 && stand.report.startupSeconds == 0.8)
        beat(stand, #"sta=e,sid="\#(sid)""#, at: 110)
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.resumable == 1)
        #expect(stand.report.watchTimeSeconds == 110)
        stand.advance(to: 150)
        #expect(stand.report.leaves == 1)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("without a word more it counts for two and a half intervals of twenty seconds")
    func silence() {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room)
        for second in stride(from: 0.0, through: 40, by: 20) {
            beat(stand, #"sta=p,sid="theirs",cid="show""#, at: second)
        }
        stand.advance(to: 89)
        #expect(stand.report.concurrent == 1)
        stand.advance(to: 92)
        #expect(stand.report.concurrent == 0)
        #expect(stand.report.watchTimeSeconds == 40)
    }

    @Test("names that anybody can make up are as many viewers as an address may be, and none of a crawler's")
    func invented() {
        var configuration = ViewershipConfiguration()
        configuration.countsReportsAlone = true
        let stand = Stand(configuration: configuration)
        stand.ledger.roomBegan(stand.room)
        func report(_ names: Int, _ prefix: String, from player: PlayerRequest) {
            for number in 0..<names {
                let text = #"sta=p,sid="\#(prefix)-\#(number)",cid="show""#
                stand.ledger.take(PlayerReport(CMCDItems(text)), room: nil, from: player)
            }
        }
        let crawler = PlayerRequest(userAgent: "Googlebot/2.1", address: "192.0.2.9")
        let flood = PlayerRequest(userAgent: "x", address: "192.0.2.1")
        let neighbours = ["2001:db8::1", "2001:db8::ffff:2"].map { PlayerRequest(userAgent: "x", address: $0) }
        for second in [0.0, 6, 12] {
            stand.advance(to: second)
            report(250, "flood", from: flood)
            report(10, "crawler", from: crawler)
            // One customer's network, whatever the lower half says.
            for player in neighbours { report(125, player.address ?? "", from: player) }
        }
        func admitted(_ prefixes: [String], _ names: Int) -> Int {
            let all = prefixes.flatMap { prefix in (0..<names).map { "\(prefix)-\($0)" } }
            return Dictionary(grouping: all) { SessionKeys.shard(room: stand.room, name: $0) }.values
                .map { min($0.count, AudienceShard.strangersPerSource) }.reduce(0, +)
        }
        let expected = admitted(["flood"], 250) + admitted(neighbours.compactMap(\.address), 125)
        #expect(stand.report.concurrent == expected && expected <= 2 * 128)
        #expect((stand.report.excluded[.surplus] ?? 0) > 300 && (stand.report.excluded[.agent] ?? 0) == 10)
        // When they are gone there is space for others.
        stand.advance(to: 200)
        #expect(stand.report.concurrent == 0)
        for second in [200.0, 206] {
            stand.advance(to: second)
            report(1, "later", from: flood)
        }
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("a player that is known by its reports alone is described by the requests that bring them")
    func described() {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room)
        let sid = stand.ledger.makeSession(room: stand.room)
        var player = PlayerRequest(userAgent: "Mozilla/5.0 (iPhone)", address: "192.0.2.1")
        player.region = "DE"
        for second in [0.0, 6] {
            stand.advance(to: second)
            let report = PlayerReport(CMCDItems(#"sta=p,sid="\#(sid)""#))
            stand.ledger.take(report, room: stand.room, from: player)
        }
        #expect(stand.report.byRegion == ["DE": 1] && stand.report.byClient[.ios] == 1)
        #expect(stand.report.uniques.estimated == 1)
    }

    @Test("its rate tells which rendition it plays, unless its playlists do")
    func rates() {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room)
        stand.ledger.setBitrates(stand.room, ["": 3128, "360p": 900, "audio": 128])
        for (second, rate) in [(0.0, 3500), (6, 3500), (20, 3500), (40, 700), (60, 140)] {
            beat(stand, #"sta=p,sid="theirs",cid="show",br=(\#(rate))"#, at: second)
            let name = rate == 3500 ? "" : rate == 700 ? "360p" : "audio"
            if second > 0 { #expect(stand.report.byRendition == [name: 1]) }
        }
        #expect(stand.report.switches == 2 && stand.report.joins == 1)
        let sid = stand.ledger.makeSession(room: stand.room)
        for second in [61.0, 63, 65] { stand.record(sid, .playlistServed, at: second, by: .hls, rendition: "360p") }
        beat(stand, #"sta=p,sid="\#(sid)",cid="show",br=(3500)"#, at: 66)
        #expect(stand.report.byRendition == ["audio": 1, "360p": 1] && stand.report.switches == 2)
    }

    @Test("nobody has waited longer than it played; a start is told once, and only of who is proven to watch")
    func exaggerated() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        let unproven = stand.ledger.makeSession(room: stand.room)
        stand.ledger.roomBegan(stand.room)
        beat(stand, #"sta=s,sid="\#(unproven)",msd=9000,bsd=3600000"#, at: 0)
        beat(stand, #"sta=p,sid="\#(sid)",msd=700,bsd=3600000"#, at: 0)
        #expect(stand.report.stalledSeconds == 0 && stand.report.startups == 0)
        for second in [10.0, 20, 30] { beat(stand, #"sta=p,sid="\#(sid)",msd=9000,bsd=3600000"#, at: second) }
        #expect(stand.report.stalledSeconds == 30)
        // What it said last before it was proven is what it waited.
        #expect(stand.report.startups == 1 && stand.report.startupSeconds == 9)
    }

    @Test("a starvation told with a request (CMCD 1, query or header) is half of the time since the request before")
    func starved() {
        let stand = Stand()
        let ledger = stand.ledger
        func poll(_ sid: String, at second: Double, cmcd: String? = nil, status: String? = nil) {
            stand.advance(to: second)
            var request = PlayerRequest(sid: sid, userAgent: "hls.js")
            (request.cmcd, request.cmcdStatus) = (cmcd, status)
            _ = ledger.admit(request, to: stand.room)
            stand.record(sid, .playlistServed, at: second, by: .hls)
        }
        var first = PlayerRequest(userAgent: "hls.js")
        first.cmcd = "sid%3D%22mine%22"
        guard case .viewer(let sid) = ledger.admit(first, to: stand.room) else {
            Issue.record("a player with a name is a viewer")
            return
        }
        // Before it is proven to watch nothing is told; then in the query, in the header, and not.
        poll(sid, at: 0, cmcd: "bs")
        poll(sid, at: 2, cmcd: "bs")
        #expect(stand.report.stalledSeconds == 0)
        poll(sid, at: 6, cmcd: "bl%3D0%2Cbs%2Csid%3D%22mine%22")
        #expect(stand.report.stalledSeconds == 2)
        poll(sid, at: 9, status: "bs,rtp=1200")
        poll(sid, at: 11, cmcd: "bs%3Dfalse%2Ccid%3D%22bsbs%22", status: "bs=?0")
        #expect(stand.report.stalledSeconds == 3.5)
        // With a request for media: by its own name for its playback, or by its connection.
        var segment = PlayerRequest(userAgent: "hls.js")
        segment.cmcdStatus = "bs"
        segment.cmcdSession = #"sid="mine""#
        stand.advance(to: 12)
        ledger.hear(segment, in: stand.room, on: nil)
        segment.cmcdSession = #"sid="of nobody""#
        ledger.hear(segment, in: stand.room, on: sid)
        ledger.hear(segment, in: stand.room, on: nil)
        ledger.hear(segment, in: "other", on: sid)
        #expect(stand.report.stalledSeconds == 4.5)
        // Never longer than it has played.
        for _ in 0..<100 { ledger.hear(segment, in: stand.room, on: sid) }
        #expect(stand.report.stalledSeconds == 12)
        // Whose player reports says it exactly, and nobody's who never counts is told.
        poll(sid, at: 14)
        var report = PlayerReport()
        (report.sid, report.stalled) = (sid, 300)
        ledger.take(report, room: stand.room)
        poll(sid, at: 18, cmcd: "bs")
        let monitor = PlayerRequest(userAgent: "m", role: .monitor)
        guard case .uncounted(let other) = ledger.admit(monitor, to: stand.room) else {
            Issue.record("a monitor is no viewer")
            return
        }
        for second in [20.0, 23, 26] { poll(other, at: second, cmcd: "bs") }
        #expect(stand.report.stalledSeconds == 12.3)
        #expect(stand.report.concurrent == 1 && stand.report.joins == 1)
    }

    @Test("what passes while the player says that it is paused is not watched, though it goes on to fetch playlists")
    func paused() {
        let stand = Stand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.poll(sid, from: 0, to: 10)
        beat(stand, #"sta=a,sid="\#(sid)""#, at: 11)
        stand.poll(sid, from: 12, to: 30)
        #expect(stand.report.concurrent == 1)
        #expect(stand.report.watchTimeSeconds == 11)
        beat(stand, #"sta=p,sid="\#(sid)""#, at: 31)
        stand.poll(sid, from: 32, to: 40)
        #expect(stand.report.watchTimeSeconds == 11 + 9)
    }

    @Test("reports for rooms that are not on, or without a name, are turned away and counted")
    func strangers() {
        let stand = Stand()
        let ledger = stand.ledger
        #expect(!ledger.take(PlayerReport(CMCDItems(#"sta=p,sid="x",cid="none""#)), room: nil))
        #expect(!ledger.take(PlayerReport(CMCDItems("sta=p")), room: "show"))
        #expect(stand.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 1)
        #expect(stand.metric("footlight_beats_rejected_total", ["reason": "malformed"]) == 1)
    }

    @Test(
        "a player that names its playback and shows a token or its device's id is one viewer with its reports",
        arguments: [
            PlayerRequest(identity: "ann"), PlayerRequest(identity: "machine", role: .monitor), PlayerRequest(),
        ]
    )
    func named(shown: PlayerRequest) {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room)
        // Of some players the names have the form of our ids.
        let names = (0..<18).map { "6e2fb550-c457-\($0)" } + ["1", "2"].map { String(repeating: "A", count: 31) + $0 }
        #expect(names.compactMap { SessionID($0) }.count == 2)
        for name in names {
            var request = shown
            request.cmcd = "sid%3D%22\(name)%22"
            if shown.identity == nil { request.device = "0123456789abcdef" + name.suffix(2) }
            guard case .viewer(let sid) = stand.ledger.admit(request, to: stand.room) else { continue }
            for second in [0.0, 2, 4] { stand.record(sid, .playlistServed, at: second, by: .hls) }
        }
        // The reports come by requests that show nothing but the name.
        let counted = stand.report.concurrent
        #expect(counted == (shown.role == .monitor ? 0 : 20))
        for second in [5.0, 11] {
            stand.advance(to: second)
            for name in names {
                let report = PlayerReport(CMCDItems(#"sta=p,bsd=(100),sid="\#(name)",cid="show""#))
                stand.ledger.take(report, room: nil, from: PlayerRequest(userAgent: "x", address: "192.0.2.1"))
            }
        }
        #expect(stand.report.concurrent == counted && stand.report.joins == counted)
        #expect(stand.report.unfiltered == 20)
        #expect(stand.report.stalledSeconds == Double(counted) * 0.2)
        #expect(stand.report.brokenIdentities == [])
    }

    @Test("what is told of a room that is over counts nobody in it, and makes no broadcast of it")
    func over() throws {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        let sid = stand.ledger.makeSession(room: stand.room)
        let line = "<190>Nov 21 18:00:00 hls: \(sid) /live/show/720p.m3u8 200 512 0.003 HIT"
        func tell(from first: Double, to last: Double) throws {
            for second in stride(from: first, through: last, by: 2) {
                beat(stand, #"sta=p,sid="\#(sid)""#, at: second)
                beat(stand, #"sta=r,sid="\#(sid)",cid="show""#, at: second)
                stand.ledger.take(PlayerReport(CMCDItems(#"sta=p,sid="\#(sid)""#)), room: stand.room)
                stand.ledger.take(try #require(BeatLine(line)))
            }
        }
        try tell(from: 0, to: 10)
        #expect(stand.report.concurrent == 1)
        stand.ledger.roomEnded(stand.room)
        try tell(from: 10, to: 40)
        #expect(stand.report.concurrent == 0 && stand.report.joins == 1 && stand.report.peak == 1)
        #expect(stand.ledger.totals().rooms.isEmpty && stand.ledger.totals().total.concurrent == 0)
        // Nor when everything that was known of it is forgotten.
        stand.advance(to: 400)
        try tell(from: 400, to: 420)
        #expect(stand.report.joins == 0 && stand.ledger.totals().rooms.isEmpty)
        #expect(stand.metric("footlight_beats_rejected_total", ["reason": "room"]) ?? 0 >= 100)
        #expect(stand.metric("footlight_beats_rejected_total", ["reason": "mac"]) == 0)
        // The next one of its name has the players that stayed.
        stand.ledger.roomBegan(stand.room, sid: "RM2")
        try tell(from: 422, to: 430)
        #expect(stand.report.concurrent == 1 && stand.report.joins == 1)
    }

    @Test("a line of nginx's log is a playlist of its viewer; any other line is none")
    func lines() throws {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room)
        let sid = stand.ledger.makeSession(room: stand.room)
        let line = "<190>Nov 21 18:00:00 hls: \(sid) /live/show/720p.m3u8 200 512 0.003 HIT"
        for second in [0.0, 2, 4] {
            stand.clock.move(to: stand.moment(second))
            stand.ledger.take(try #require(BeatLine(line)))
        }
        #expect(stand.report.byProtocol[.hls] == 1)
        #expect(stand.report.byRendition == ["720p": 1])
        #expect(BeatLine(line + " ll")?.isLowLatency == true)
        #expect(BeatLine("<190>x hls: \(sid) /live/show/media.m3u8 304 0 0.001 HIT")?.rendition == "")
        for other in [
            "", "<190>Nov 21 hls: - /live/show/720p.m3u8 200 1 0 -", "hls: \(sid) /live/show/720p.m3u8 404 1 0 -",
            "hls: \(sid) /live/show/index.m3u8 200 1 0 -", "hls: \(sid) /live/show/r/seg1.m4s 200 1 0 -",
            "hls: \(sid) /other/show/720p.m3u8 200 1 0 -", String(repeating: "x", count: 4000),
        ] {
            #expect(BeatLine(other) == nil, "\(other.prefix(80))")
        }
    }
}
