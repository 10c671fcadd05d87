@testable import FanOut
import FootlightTesting
import Foundation
import Media
import NIOCore
import Stage
import Testing

@Suite("Media in the logs of content networks")
struct LoggedMediaTests {
    private let audience = RecordingAudience()
    private let clock = ManualClock()

    private func logs() -> AudienceLogs {
        AudienceLogs(audience: audience, clock: clock, wall: { Date(timeIntervalSince1970: 1_700_000_000) }) { _ in true
        }
    }

    private static func line(_ path: String, status: Int = 200, ip: String? = "192.0.2.7", more: String = "") -> String
    {
        let ip = ip.map { #","ip":"\#($0)""# } ?? ""
        return #"{"uri":"\#(path)","status":\#(status),"time":1700000000\#(ip)\#(more)}"#
    }

    private func take(_ lines: [String]) async throws {
        let logs = logs()
        _ = try await logs.take(ByteBuffer(string: lines.joined(separator: "\n")), of: "cdn")
        clock.advance(by: .seconds(1))
        logs.advance()
    }

    @Test("Segments, parts and what else plays went to the address that the line says; nothing else did")
    func files() async throws {
        try await take([
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

    @Test("A file whose path names a session is that session's, whatever its address")
    func named() async throws {
        try await take([Self.line("/live/r/~r-1/1x9/s12.m4s"), Self.line("/live/r/~r-1/media.m3u8")])
        #expect(audience.story.sorted() == ["delivered r-1", "playlist r-1"] && audience.media.isEmpty)
    }

    @Test(
        "Playlists of a log with media prove nobody without it; those of a log without any do",
        arguments: [true, false]
    )
    func seen(hasMedia: Bool) async throws {
        let media = hasMedia ? [Self.line("/live/r/1x9/s12.m4s")] : []
        try await take(media + [Self.line("/live/r/media.m3u8?sid=r-1")])
        #expect(audience.events.map(\.isMediaSeen) == [hasMedia])
    }

    @Test(
        "A line about media that was refused tells of none, so that the log's playlists suffice",
        arguments: [404, 500]
    )
    func refused(status: Int) async throws {
        try await take([
            Self.line("/live/r/1x9/s12.m4s", status: status), Self.line("/live/r/media.m3u8?sid=r-1"),
        ])
        #expect(audience.media.isEmpty && audience.events.map(\.isMediaSeen) == [false])
    }

    @Test("Each log tells for itself whether it has media, and from then on with every bundle")
    func senders() async throws {
        let logs = logs()
        for (name, path) in [
            ("one", "/live/r/media.m3u8?sid=r-1"), ("one", "/live/r/1x9/s12.m4s"),
            ("one", "/live/r/media.m3u8?sid=r-2"),
            ("two", "/live/r/media.m3u8?sid=r-3"),
        ] {
            _ = try await logs.take(ByteBuffer(string: Self.line(path)), of: name)
        }
        clock.advance(by: .seconds(1))
        logs.advance()
        let seen = audience.events.filter(\.isMediaSeen).map(\.sid)
        #expect(audience.events.count == 3 && seen == ["r-2"])
    }

    @Test("Of 10,000 lines of media all are read, and 128 files of one client in ten seconds are told of")
    func most() async throws {
        let media = (0..<10_000).map { Self.line("/live/r/1x9/s\($0).m4s") }
        try await take(media + [Self.line("/live/r/media.m3u8?sid=r-1")])
        #expect(audience.media.count == 128 && audience.events.map(\.isMediaSeen) == [true])
    }

    @Test("With more than 10,000 lines of media in one log its playlists suffice, for the rest is not read")
    func tooMany() async throws {
        let media = (0..<10_001).map { Self.line("/live/r/1x9/s\($0).m4s", ip: "10.0.\($0 / 250).\($0 % 250)") }
        try await take(media + [Self.line("/live/r/media.m3u8?sid=r-1")])
        #expect(audience.events.map(\.isMediaSeen) == [false])
    }
}
