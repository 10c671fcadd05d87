@testable import FanOut
import Foundation
import Stage
import Testing

@Suite("A line of a content network's log")
struct LoggedRequestTests {
    private func read(_ line: String, takesDevices: Bool = false) throws -> LoggedRequest {
        try LoggedRequest(Data(line.utf8), takesDevices: takesDevices)
    }

    private func fault(_ line: String) -> LoggedRequest.Fault? {
        do throws(LoggedRequest.Fault) {
            _ = try LoggedRequest(Data(line.utf8), takesDevices: false)
            return nil
        } catch {
            return error
        }
    }

    @Test("under our own names")
    func plain() throws {
        let line = #"""
            {"time":1700000000.25,"uri":"/live/show/720p.m3u8?sid=abc&_HLS_msn=7&did=0123456789abcdef","status":200,
            "ip":"192.0.2.7","user_agent":"VLC/3.0","country":"de","cmcd_session":"sid=\"x\"","method":"GET",
            "playback_session_id":"P","sec_purpose":"prefetch"}
            """#
        let request = try read(line, takesDevices: true)
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

    @Test("as Cloudflare's Logpush writes it")
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

    @Test("as Akamai's DataStream writes it, every value a text")
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

    @Test("as Amazon's CloudFront writes it")
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
        "times in every unit, and as dates",
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

    @Test("whole addresses are read to their path")
    func address() throws {
        let request = try read(#"{"url":"https://cdn.example:8443/live/show/media.m3u8?sid=a","status":206}"#)
        #expect(request.room == "show" && request.player.sid == "a" && request.date == nil)
    }

    @Test(
        "what is no line, what tells of something else, and what nothing says whose it was",
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

    @Test("a line that is too long is none")
    func length() {
        let filling = String(repeating: "x", count: LogLine.limit)
        #expect(fault(#"{"uri":"/live/show/media.m3u8?sid=a","status":200,"x":"\#(filling)"}"#) == .malformed)
    }
}
