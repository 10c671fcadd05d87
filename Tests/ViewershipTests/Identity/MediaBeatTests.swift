import Media
import Stage
import Testing

@testable import Viewership

@Suite("What a server in front tells of media")
struct MediaBeatTests {
    @Test("a line says to whom media of which room went")
    func line() throws {
        let line = try #require(MediaBeatLine("<190>Nov 21 18:00:00 hls: 192.0.2.7 /live/show/1x9/s12.m4s 200 5120"))
        #expect(line.room == "show" && line.client == PeerAddress("192.0.2.7")?.account)
        #expect(
            MediaBeatLine("2001:db8::1 /live/show/1x9/s12.m4s 304 0")?.client == PeerAddress("2001:db8::2")?.account
        )
    }

    @Test(
        "anything else is no such line",
        arguments: [
            "", "192.0.2.7", "192.0.2.7 /live/show/1x9/s12.m4s", "192.0.2.7 /live/show/1x9/s12.m4s 404 0",
            "192.0.2.7 /live/show/media.m3u8 200 5", "- /live/show/1x9/s12.m4s 200 5", "/live/show/1x9/s12.m4s 200 5",
            "192.0.2.7 /live//1x9/s12.m4s 200 5", "192.0.2.7 /live/show/1x9/s12.m4s x 5",
            "192.0.2.7 /live/show/1x9/" + String(repeating: "a", count: 2100) + " 200 5",
        ]
    )
    func others(text: String) {
        #expect(MediaBeatLine(text) == nil)
    }

    @Test("from the first line about media on, whoever asks for playlists alone is no viewer behind that server either")
    func proof() throws {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room)
        func begin() throws -> String {
            var request = PlayerRequest(userAgent: "x", address: "192.0.2.1")
            request.isMediaSeen = false
            guard case .viewer(let sid) = stand.ledger.admit(request, to: stand.room) else { throw Refused() }
            return sid
        }
        func ask(_ sid: String, at seconds: Double) throws {
            stand.advance(to: seconds)
            stand.ledger.take(try #require(BeatLine("\(sid) /live/show/media.m3u8 200 500 0.001 HIT")))
        }
        let before = try begin()
        for time in [0.0, 2.5] { try ask(before, at: time) }
        #expect(stand.report.joins == 1)
        stand.ledger.take(try #require(MediaBeatLine("192.0.2.9 /live/show/1x9/s1.m4s 200 5")))
        let after = try begin()
        for time in [4.0, 6.5, 9] { try ask(after, at: time) }
        #expect(stand.report.joins == 1)
        stand.ledger.take(try #require(MediaBeatLine("192.0.2.1 /live/show/1x9/s2.m4s 200 5")))
        try ask(after, at: 11)
        #expect(stand.report.joins == 2)
    }

    private struct Refused: Error {}
}
