@testable import FanOut
import Foundation
import HTTPTypes
import NIOCore
import Stage
import Testing

@Suite("HLS playback")
struct HLSPlaybackTests {
    private func mediaURI(_ playlist: String?) -> String? {
        playlist?.split(separator: "\n").first { $0.hasPrefix("media.m3u8") }.map(String.init)
    }

    @Test("each multivariant playlist has a new session id and is not cached")
    func freshSession() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let answers = try (0..<3).map { _ in try fixture.exchange("/live/r/index.m3u8") }
        #expect(answers.map { mediaURI($0?.text) } == (1...3).map { "media.m3u8?sid=r-\($0)" })
        for answer in answers {
            #expect(answer?.head.headerFields[.cacheControl] == "no-store")
            #expect(answer?.head.headerFields[.contentType] == "application/vnd.apple.mpegurl")
            #expect(answer?.text.contains("avc1.42C01E,mp4a.40.2") == true)
            #expect(answer?.text.contains("RESOLUTION=638x358") == true)
        }
        #expect(fixture.audience.events.isEmpty)
    }

    @Test("a player keeps its session id")
    func sameSession() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        #expect(try mediaURI(fixture.exchange("/live/r/index.m3u8?sid=r-5")?.text) == "media.m3u8?sid=r-5")
    }

    @Test("counts a media playlist once per GET, and its files exist")
    func counted() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        for number in 1...3 {
            let answer = try fixture.exchange("/live/r/media.m3u8?sid=r-5")
            #expect(answer?.status == 200)
            #expect(fixture.audience.eventLog == Array(repeating: "playlist r-5", count: number))
            #expect(fixture.audience.events.last?.playback == .hls)
        }
        let text = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-6")?.text)
        let segments = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(segments.count >= 3)
        for segment in segments {
            let answer = try fixture.exchange("/live/r/\(segment)")
            #expect(answer?.status == 200)
            #expect(answer?.head.headerFields[.cacheControl] == "public, max-age=3600, immutable")
            #expect(["styp", "moof"].contains(answer?.body.getString(at: 4, length: 4)))
        }
        let map = try #require(text.firstMatch(of: /#EXT-X-MAP:URI="(.+?)"/)).output.1
        #expect(try fixture.exchange("/live/r/\(map)")?.body.getString(at: 4, length: 4) == "ftyp")
        #expect(fixture.audience.events.count == 4)
    }

    @Test("ends the playlist with the room; players fetch the rest and are not counted")
    func endedRoom() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        fixture.feeds.close("r", reason: .roomEnded)
        fixture.hls.close("r")
        let text = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        #expect(text.hasSuffix("#EXT-X-ENDLIST\n"))
        let last = try #require(text.split(separator: "\n").last { !$0.hasPrefix("#") })
        #expect(try fixture.exchange("/live/r/\(last)")?.status == 200)
        #expect(fixture.audience.events.isEmpty)
    }

    @Test("byte ranges of a segment add up to the whole")
    func ranges() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let text = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-6")?.text)
        let segment = try #require(text.split(separator: "\n").first { !$0.hasPrefix("#") })
        let whole = try #require(try fixture.exchange("/live/r/\(segment)")?.body)
        let half = whole.readableBytes / 2
        let first = try fixture.exchange("/live/r/\(segment)", fields: [.range: "bytes=0-\(half - 1)"])
        let second = try fixture.exchange("/live/r/\(segment)", fields: [.range: "bytes=\(half)-"])
        #expect(first?.status == 206)
        #expect(second?.status == 206)
        var joined = try #require(first?.body)
        joined.writeImmutableBuffer(try #require(second?.body))
        #expect(joined == whole)
    }

    @Test("redirects a media playlist request without a session id to the multivariant playlist")
    func withoutSession() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let answer = try fixture.exchange("/live/r/media.m3u8")
        #expect(answer?.status == 302)
        #expect(answer?.head.headerFields[.location] == "index.m3u8")
        #expect(fixture.audience.events.isEmpty)
    }

    @Test("answers 404 before the first complete segment and for expired segments, without counting")
    func notYet() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r", seconds: 1)
        #expect(try fixture.exchange("/live/r/media.m3u8?sid=r-1")?.status == 404)
        let program = fixture.goOnAir("s", seconds: 60)
        #expect(try fixture.exchange("/live/s/\(program.run)/nothing.m4s")?.status == 404)
        #expect(try fixture.exchange("/live/s/otherrun/init1.mp4")?.status == 404)
        #expect(fixture.audience.events.isEmpty)
    }

    @Test("a change of publisher starts a discontinuity")
    func discontinuity() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r", seconds: 6)
        program.publisherChanged()
        for packet in Packets.program(from: 7_000, seconds: 6) { program.receive(packet) }
        let text = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-1")?.text)
        #expect(text.contains("\n#EXT-X-DISCONTINUITY\n"))
    }
}
