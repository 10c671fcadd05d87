import Media
import Stage
import Testing

@testable import Viewership

@Suite("Access log lines about media")
struct MediaAccessLogLineTests {
    @Test("a line names the client and the room")
    func line() throws {
        let line = try #require(
            MediaAccessLogLine("<190>Nov 21 18:00:00 hls: 192.0.2.7 /live/show/1x9/s12.m4s 200 5120")
        )
        #expect(line.room == "show" && line.client == PeerAddress("192.0.2.7")?.account)
        #expect(
            MediaAccessLogLine("2001:db8::1 /live/show/1x9/s12.m4s 304 0")?.client
                == PeerAddress("2001:db8::2")?.account
        )
    }

    @Test(
        "rejects other lines",
        arguments: [
            "", "192.0.2.7", "192.0.2.7 /live/show/1x9/s12.m4s", "192.0.2.7 /live/show/1x9/s12.m4s 404 0",
            "192.0.2.7 /live/show/media.m3u8 200 5", "- /live/show/1x9/s12.m4s 200 5", "/live/show/1x9/s12.m4s 200 5",
            "192.0.2.7 /live//1x9/s12.m4s 200 5", "192.0.2.7 /live/show/1x9/s12.m4s x 5",
            "192.0.2.7 /live/show/1x9/" + String(repeating: "a", count: 2100) + " 200 5",
        ]
    )
    func others(text: String) {
        #expect(MediaAccessLogLine(text) == nil)
    }

    @Test("after the first media line, a client behind that server does not qualify by playlists alone")
    func proof() throws {
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room)
        func begin() throws -> String {
            var request = PlayerRequest(userAgent: "x", address: "192.0.2.1")
            request.isMediaSeen = false
            guard case .viewer(let sid) = fixture.ledger.admit(request, to: fixture.room) else { throw Refused() }
            return sid
        }
        func ask(_ sid: String, at seconds: Double) throws {
            fixture.advance(to: seconds)
            fixture.ledger.receive(try #require(AccessLogLine("\(sid) /live/show/media.m3u8 200 500 0.001 HIT")))
        }
        let before = try begin()
        for time in [0.0, 2.5] { try ask(before, at: time) }
        #expect(fixture.report.joins == 1)
        fixture.ledger.receive(try #require(MediaAccessLogLine("192.0.2.9 /live/show/1x9/s1.m4s 200 5")))
        let after = try begin()
        for time in [4.0, 6.5, 9] { try ask(after, at: time) }
        #expect(fixture.report.joins == 1)
        fixture.ledger.receive(try #require(MediaAccessLogLine("192.0.2.1 /live/show/1x9/s2.m4s 200 5")))
        try ask(after, at: 11)
        #expect(fixture.report.joins == 2)
    }

    private struct Refused: Error {}
}
