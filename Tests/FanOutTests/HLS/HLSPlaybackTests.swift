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

    @Test("Each multivariant playlist carries a fresh session id, and is kept by nobody")
    func freshSession() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let answers = try (0..<3).map { _ in try stand.exchange("/live/r/index.m3u8") }
        #expect(answers.map { mediaURI($0?.text) } == (1...3).map { "media.m3u8?sid=r-\($0)" })
        for answer in answers {
            #expect(answer?.head.headerFields[.cacheControl] == "no-store")
            #expect(answer?.head.headerFields[.contentType] == "application/vnd.apple.mpegurl")
            #expect(answer?.text.contains("avc1.42C01E,mp4a.40.2") == true)
            #expect(answer?.text.contains("RESOLUTION=638x358") == true)
        }
        #expect(stand.audience.events.isEmpty)
    }

    @Test("A player that comes back with its session id keeps it")
    func sameSession() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        #expect(try mediaURI(stand.exchange("/live/r/index.m3u8?sid=r-5")?.text) == "media.m3u8?sid=r-5")
    }

    @Test("A media playlist is counted once for each GET, and leads to files that exist")
    func counted() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        for number in 1...3 {
            let answer = try stand.exchange("/live/r/media.m3u8?sid=r-5")
            #expect(answer?.status == 200)
            #expect(stand.audience.story == Array(repeating: "playlist r-5", count: number))
            #expect(stand.audience.events.last?.playback == .hls)
        }
        let text = try #require(try stand.exchange("/live/r/media.m3u8?sid=r-6")?.text)
        let segments = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(segments.count >= 3)
        for segment in segments {
            let answer = try stand.exchange("/live/r/\(segment)")
            #expect(answer?.status == 200)
            #expect(answer?.head.headerFields[.cacheControl] == "public, max-age=3600, immutable")
            #expect(["styp", "moof"].contains(answer?.body.getString(at: 4, length: 4)))
        }
        let map = try #require(text.firstMatch(of: /#EXT-X-MAP:URI="(.+?)"/)).output.1
        #expect(try stand.exchange("/live/r/\(map)")?.body.getString(at: 4, length: 4) == "ftyp")
        #expect(stand.audience.events.count == 4)
    }

    @Test("When a room ends its list ends, players can fetch the rest, and nobody is counted any more")
    func endedRoom() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        stand.feeds.close("r", reason: .roomEnded)
        stand.hls.close("r")
        let text = try #require(try stand.exchange("/live/r/media.m3u8?sid=r-5")?.text)
        #expect(text.hasSuffix("#EXT-X-ENDLIST\n"))
        let last = try #require(text.split(separator: "\n").last { !$0.hasPrefix("#") })
        #expect(try stand.exchange("/live/r/\(last)")?.status == 200)
        #expect(stand.audience.events.isEmpty)
    }

    @Test("Parts of a segment can be asked for, and together are the whole")
    func ranges() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let text = try #require(try stand.exchange("/live/r/media.m3u8?sid=r-6")?.text)
        let segment = try #require(text.split(separator: "\n").first { !$0.hasPrefix("#") })
        let whole = try #require(try stand.exchange("/live/r/\(segment)")?.body)
        let half = whole.readableBytes / 2
        let first = try stand.exchange("/live/r/\(segment)", fields: [.range: "bytes=0-\(half - 1)"])
        let second = try stand.exchange("/live/r/\(segment)", fields: [.range: "bytes=\(half)-"])
        #expect(first?.status == 206)
        #expect(second?.status == 206)
        var joined = try #require(first?.body)
        joined.writeImmutableBuffer(try #require(second?.body))
        #expect(joined == whole)
    }

    @Test("Without a session id the media playlist sends the player to where it gets one")
    func withoutSession() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let answer = try stand.exchange("/live/r/media.m3u8")
        #expect(answer?.status == 302)
        #expect(answer?.head.headerFields[.location] == "index.m3u8")
        #expect(stand.audience.events.isEmpty)
    }

    @Test("Before the first whole segment, and for segments that are gone, players hear 404 and are not counted")
    func notYet() throws {
        let stand = try SiteStand()
        stand.goOnAir("r", seconds: 1)
        #expect(try stand.exchange("/live/r/media.m3u8?sid=r-1")?.status == 404)
        let program = stand.goOnAir("s", seconds: 60)
        #expect(try stand.exchange("/live/s/\(program.run)/nothing.m4s")?.status == 404)
        #expect(try stand.exchange("/live/s/otherrun/init1.mp4")?.status == 404)
        #expect(stand.audience.events.isEmpty)
    }

    @Test("A change of publisher shows as a discontinuity")
    func discontinuity() throws {
        let stand = try SiteStand()
        let program = stand.goOnAir("r", seconds: 6)
        program.publisherChanged()
        for packet in Packets.program(from: 7_000, seconds: 6) { program.receive(packet) }
        let text = try #require(try stand.exchange("/live/r/media.m3u8?sid=r-1")?.text)
        #expect(text.contains("\n#EXT-X-DISCONTINUITY\n"))
    }
}
