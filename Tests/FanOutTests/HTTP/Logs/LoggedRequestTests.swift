import FootlightTesting
import Foundation
import Media
import NIOCore
import Stage
import Testing

@testable import FanOut

@Suite("Lines of CDN logs")
struct LoggedRequestTests {
    private func read(_ line: String, usesDeviceIDs: Bool = false) throws -> LoggedRequest {
        try LoggedRequest(Data(line.utf8), usesDeviceIDs: usesDeviceIDs)
    }

    private func fault(_ line: String) -> LoggedRequest.Fault? {
        do throws(LoggedRequest.Fault) {
            _ = try LoggedRequest(Data(line.utf8), usesDeviceIDs: false)
            return nil
        } catch {
            return error
        }
    }

    @Test("parses this project's field names")
    func plain() throws {
        let line = #"""
            {"time":1700000000.25,"uri":"/live/show/720p.m3u8?sid=abc&_HLS_msn=7&did=0123456789abcdef","status":200,
            "ip":"192.0.2.7","user_agent":"VLC/3.0","country":"de","cmcd_session":"sid=\"x\"","method":"GET",
            "playback_session_id":"P","sec_purpose":"prefetch"}
            """#
        let request = try read(line, usesDeviceIDs: true)
        #expect(request.room == "show" && request.rendition == "720p" && request.isLowLatency)
        #expect(request.date == 1_700_000_000.25)
        var player = PlayerRequest(sid: "abc", userAgent: "VLC/3.0", address: "192.0.2.7")
        player.region = "de"
        player.cmcdSession = "sid=\"x\""
        player.playbackSessionID = "P"
        player.purpose = "prefetch"
        player.device = "0123456789abcdef"
        player.isLogged = true
        #expect(request.player == player)
        #expect(try read(line).player.device == nil)
    }

    @Test("parses Cloudflare Logpush")
    func cloudflare() throws {
        let request = try read(
            #"""
            {"ClientIP":"203.0.113.9","ClientRequestHost":"cdn.example","ClientRequestMethod":"GET",
            "ClientRequestURI":"/live/show/media.m3u8?CMCD=sf%3Dh%2Csid%3D%22one%22","ClientCountry":"fr",
            "ClientRequestUserAgent":"Mozilla/5.0 (X11)","EdgeResponseStatus":200,
            "EdgeStartTimestamp":1700000001500000000,"RequestHeaders":{"cmcd-session":"sid=\"two\"","sec-purpose":"x"}}
            """#
        )
        #expect(request.room == "show" && request.rendition == nil && !request.isLowLatency)
        #expect(request.date == 1_700_000_001.5)
        #expect(request.player.cmcd == "sf%3Dh%2Csid%3D%22one%22" && request.player.cmcdSession == "sid=\"two\"")
        #expect(request.player.address == "203.0.113.9" && request.player.region == "fr")
        #expect(request.player.userAgent == "Mozilla/5.0 (X11)" && request.player.purpose == "x")
    }

    @Test("parses Akamai DataStream, all values as strings")
    func akamai() throws {
        let request = try read(
            #"""
            {"version":1,"reqTimeSec":"1700000002","cliIP":"198.51.100.4","statusCode":"304","reqMethod":"HEAD",
            "reqPath":"live/show/360p.m3u8","queryStr":"sid=abc","UA":"Googlebot%2F2.1+%28x%29","country":"IN",
            "cmcd":"//1.0@V/br=1426,sid=%229f36f5c9%22"}
            """#
        )
        #expect(request.room == "show" && request.rendition == "360p" && request.date == 1_700_000_002)
        #expect(request.player.sid == "abc" && request.player.isHead)
        #expect(request.player.userAgent == "Googlebot/2.1 (x)" && request.player.cmcd == "br=1426,sid=%229f36f5c9%22")
        #expect(request.player.address == "198.51.100.4" && request.player.region == "IN")
    }

    @Test("parses Amazon CloudFront")
    func cloudfront() throws {
        let request = try read(
            #"""
            {"timestamp":"1700000003.125","c-ip":"2001:db8::1","sc-status":"200","cs-method":"GET","cs-uri-query":"-",
            "cs-uri-stem":"/live/show/media.m3u8","cs-user-agent":"AppleCoreMedia/1.0%20(iPhone)","c-country":"US",
            "cmcd-session-id":"\"abc\""}
            """#
        )
        #expect(request.date == 1_700_000_003.125 && request.player.address == "2001:db8::1")
        #expect(request.player.userAgent == "AppleCoreMedia/1.0 (iPhone)")
        #expect(request.player.cmcdSession == "sid=\"abc\"")
    }

    @Test(
        "parses times in all units and as dates",
        arguments: [
            ("1700000000", 1_700_000_000), ("1700000000.5", 1_700_000_000.5), ("1700000000500", 1_700_000_000.5),
            ("1700000000500000", 1_700_000_000.5), ("1700000000500000000", 1_700_000_000.5),
            ("2023-11-14T22:13:20Z", 1_700_000_000), ("2023-11-14T22:13:20.500Z", 1_700_000_000.5),
            ("2023-11-15T00:13:20+02:00", 1_700_000_000), ("yesterday", nil), ("-5", nil), ("", nil),
        ] as [(String, Double?)]
    )
    func times(text: String, date: Double?) throws {
        let read = LogLine.date(text)
        #expect((read == nil) == (date == nil))
        if let read, let date { #expect(abs(read - date) < 0.001) }
    }

    @Test("reduces absolute URLs to their path")
    func address() throws {
        let request = try read(#"{"url":"https://cdn.example:8443/live/show/media.m3u8?sid=a","status":206}"#)
        #expect(request.room == "show" && request.player.sid == "a" && request.date == nil)
    }

    @Test(
        "rejects malformed lines, other requests and requests without a viewer id",
        arguments: [
            ("", .malformed), ("{", .malformed), ("[1]", .malformed), ("\"x\"", .malformed), ("{}", .malformed),
            (#"{"uri":"/live/show/media.m3u8?sid=a"}"#, .malformed),
            (#"{"uri":"/live/show/media.m3u8?sid=a","status":"ok"}"#, .malformed),
            (#"{"uri":7,"status":200}"#, .other), (#"{"status":200}"#, .malformed),
            (#"{"uri":["/live/show/media.m3u8"],"status":200}"#, .malformed),
            (#"{"content":"tests"}"#, .malformed),
            (#"{"uri":"https://cdn.example","status":200}"#, .malformed),
            (#"{"uri":"/live/show/media.m3u8?sid=a","status":404}"#, .other),
            (#"{"uri":"/live/show/index.m3u8?sid=a","status":200}"#, .other),
            (#"{"uri":"/live/show/1/s1.m4s?sid=a","status":200}"#, .other),
            (#"{"uri":"/live/../media.m3u8?sid=a","status":200}"#, .other),
            (#"{"uri":"/other","status":200}"#, .other),
            (#"{"uri":"/live/show/media.m3u8","status":200}"#, .nameless),
            (#"{"uri":"/live/show/media.m3u8","status":200,"cmcd":"br=1"}"#, .nameless),
        ] as [(String, LoggedRequest.Fault)]
    )
    func faults(line: String, fault: LoggedRequest.Fault) {
        #expect(self.fault(line) == fault)
    }

    @Test("rejects a line that is too long")
    func length() {
        let filling = String(repeating: "x", count: LogLine.limit)
        #expect(fault(#"{"uri":"/live/show/media.m3u8?sid=a","status":200,"x":"\#(filling)"}"#) == .malformed)
    }
}

@Suite("Media in CDN logs")
struct LoggedMediaTests {
    private let audience = RecordingAudience()
    private let clock = ManualClock()

    private func logs() -> CDNLogReader {
        CDNLogReader(audience: audience, clock: clock, wall: { Date(timeIntervalSince1970: 1_700_000_000) }) { _ in true
        }
    }

    private static func line(_ path: String, status: Int = 200, ip: String? = "192.0.2.7", more: String = "") -> String
    {
        let ip = ip.map { #","ip":"\#($0)""# } ?? ""
        return #"{"uri":"\#(path)","status":\#(status),"time":1700000000\#(ip)\#(more)}"#
    }

    private func read(_ lines: [String]) async throws {
        let logs = logs()
        _ = try await logs.read(ByteBuffer(string: lines.joined(separator: "\n")), of: "cdn")
        clock.advance(by: .seconds(1))
        logs.advance()
    }

    @Test("attributes segments and parts to the client of the line, and ignores everything else")
    func files() async throws {
        try await read([
            Self.line("/live/r/1x9/s12.m4s"), Self.line("/live/r/1x9/s13.p2.m4s", ip: "2001:db8::1"),
            Self.line("/live/r/1x9/s14.m4s", status: 206), Self.line("/live/r/1x9/s15.m4s", status: 304),
            Self.line("/live/r/1x9/s16.m4s", status: 404), Self.line("/live/r/1x9/s17.m4s", ip: nil),
            Self.line("/live/r/1x9/s18.m4s", more: #","method":"HEAD""#), Self.line("/live/r/1x9"),
            Self.line("/x/r/1x9/s1.m4s"),
        ])
        let house = try #require(PeerAddress("2001:db8::ffff")).account
        let address = try #require(PeerAddress("192.0.2.7")).account
        #expect(audience.media.map(\.client) == [address, house, address, address])
        #expect(audience.media.allSatisfy { $0.room == "r" && $0.connection == nil })
        #expect(audience.events.isEmpty)
    }

    @Test("attributes a file whose path names a session to that session, whatever the client")
    func named() async throws {
        try await read([Self.line("/live/r/~r-1/1x9/s12.m4s"), Self.line("/live/r/~r-1/media.m3u8")])
        #expect(audience.eventLog.sorted() == ["delivered r-1", "playlist r-1"] && audience.media.isEmpty)
    }

    @Test(
        "playlists prove a viewer only in a log without media",
        arguments: [true, false]
    )
    func seen(hasMedia: Bool) async throws {
        let media = hasMedia ? [Self.line("/live/r/1x9/s12.m4s")] : []
        try await read(media + [Self.line("/live/r/media.m3u8?sid=r-1")])
        #expect(audience.events.map(\.isMediaSeen) == [hasMedia])
    }

    @Test(
        "a refused media request does not make a log one with media",
        arguments: [404, 500]
    )
    func refused(status: Int) async throws {
        try await read([
            Self.line("/live/r/1x9/s12.m4s", status: status), Self.line("/live/r/media.m3u8?sid=r-1"),
        ])
        #expect(audience.media.isEmpty && audience.events.map(\.isMediaSeen) == [false])
    }

    @Test("each log is classified by itself, for all later batches too")
    func senders() async throws {
        let logs = logs()
        for (name, path) in [
            ("one", "/live/r/media.m3u8?sid=r-1"), ("one", "/live/r/1x9/s12.m4s"),
            ("one", "/live/r/media.m3u8?sid=r-2"),
            ("two", "/live/r/media.m3u8?sid=r-3"),
        ] {
            _ = try await logs.read(ByteBuffer(string: Self.line(path)), of: name)
        }
        clock.advance(by: .seconds(1))
        logs.advance()
        let seen = audience.events.filter(\.isMediaSeen).map(\.sid)
        #expect(audience.events.count == 3 && seen == ["r-2"])
    }

    @Test("parses 10,000 media lines, and reports 128 files of one client in ten seconds")
    func most() async throws {
        let media = (0..<10_000).map { Self.line("/live/r/1x9/s\($0).m4s") }
        try await read(media + [Self.line("/live/r/media.m3u8?sid=r-1")])
        #expect(audience.media.count == 128 && audience.events.map(\.isMediaSeen) == [true])
    }

    @Test("with more than 10,000 media lines, the playlists of a log prove viewers again")
    func tooMany() async throws {
        let media = (0..<10_001).map { Self.line("/live/r/1x9/s\($0).m4s", ip: "10.0.\($0 / 250).\($0 % 250)") }
        try await read(media + [Self.line("/live/r/media.m3u8?sid=r-1")])
        #expect(audience.events.map(\.isMediaSeen) == [false])
    }
}
