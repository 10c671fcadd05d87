@testable import FanOut
import HTTPTypes
import Media
import NIOCore
import NIOEmbedded
import Stage
import Testing

@Suite("A program that comes back after a restart of the gateway")
struct ReturningProgramTests {
    /// A site with a room whose program was on the air before, and is not there yet.
    private func restarted(limits: HTTPLimits = HTTPLimits(), renditions: [String] = []) throws -> SiteStand {
        let stand = try SiteStand(limits: limits)
        _ = stand.hls.open("r", renditions: renditions, isExpected: true)
        stand.feeds.open("r")
        return stand
    }

    private func expectTryAgain(_ answer: SiteStand.Answer?, _ what: Comment) {
        #expect(answer?.status == 503, what)
        #expect(answer?.head.headerFields[.retryAfter] == "1", what)
        #expect(answer?.head.headerFields[.cacheControl] == "no-store", what)
    }

    @Test("A playlist is held until the first segment is there, and who waited for it is one viewer")
    func held() throws {
        let stand = try restarted()
        let channels = try (0..<3).map { _ in try stand.connect() }
        try stand.ask("/live/r/index.m3u8", on: channels[0])
        // By the session id of the time before, as a player goes on: with what it would have asked for next, and plainly.
        try stand.ask("/live/r/media.m3u8?sid=r-7&_HLS_msn=0&_HLS_part=3", on: channels[1])
        try stand.ask("/live/r/media.m3u8?sid=r-8", on: channels[2])
        #expect(stand.site.waits.count == 3)
        #expect(stand.audience.requests.isEmpty && stand.audience.events.isEmpty)
        #expect(stand.hls.awaitedRooms == ["r"])

        let program = stand.goOnAir("r", seconds: 3)
        stand.loop.run()
        #expect(stand.site.waits.count == 0)
        let multivariant = try #require(try stand.answer(on: channels[0]))
        #expect(multivariant.status == 200 && multivariant.text.contains("media.m3u8?sid=r-1"))
        for channel in channels[1...] {
            let answer = try #require(try stand.answer(on: channel))
            #expect(answer.status == 200 && answer.text.contains("\(program.run)/s0.m4s"))
            // Players that go by the tags alone are told as well that these segments do not follow those that they know.
            #expect(answer.text.split(separator: "\n").filter { $0 == "#EXT-X-DISCONTINUITY" }.count == 1)
        }
        #expect(stand.audience.requests.map(\.sid).filter { $0 == nil }.count == 1)
        #expect(stand.audience.story.sorted() == ["playlist r-7", "playlist r-8"])
        #expect(stand.audience.events.map(\.playback).contains(.llhls))
    }

    @Test("What takes too long is told to try again, never that there is nothing, however often it asks")
    func tooLong() throws {
        let stand = try restarted()
        for _ in 0..<3 {
            let other = try stand.connect()
            try stand.ask("/live/r/media.m3u8?sid=r-7")
            try stand.ask("/live/r/index.m3u8", on: other)
            stand.loop.advanceTime(by: .milliseconds(5_900))
            #expect(try stand.answer() == nil)
            stand.loop.advanceTime(by: .milliseconds(600))
            expectTryAgain(try stand.answer(), "media playlist")
            expectTryAgain(try stand.answer(on: other), "multivariant playlist")
        }
        expectTryAgain(try stand.exchange("/live/r/index.m3u8", method: .head), "only the head is asked for")
        #expect(stand.audience.requests.isEmpty && stand.site.waits.count == 0)
    }

    @Test("No more are held than there is room for; one viewer holds two at most")
    func bounded() throws {
        let stand = try restarted(limits: HTTPLimits(waits: (perSession: 2, total: 3)))
        let channels = try (0..<5).map { _ in try stand.connect() }
        for channel in channels[..<3] { try stand.ask("/live/r/media.m3u8?sid=r-7", on: channel) }
        #expect(try stand.answer(on: channels[2])?.status == 429)
        try stand.ask("/live/r/index.m3u8?sid=r-7", on: channels[3])
        #expect(stand.site.waits.count == 3)
        try stand.ask("/live/r/index.m3u8", on: channels[4])
        expectTryAgain(try stand.answer(on: channels[4]), "one too many")
    }

    @Test("What is not coming back is not waited for: other rooms, strangers' ids, old segments, unknown renditions")
    func notHeld() throws {
        let stand = try restarted(renditions: ["360p"])
        _ = stand.hls.open("new")
        let answers = [
            ("/live/new/index.m3u8", 404), ("/live/none/index.m3u8", 404), ("/live/r/media.m3u8?sid=x-1", 403),
            ("/live/r/oldrun/s1.m4s", 404), ("/live/r/1080p.m3u8?sid=r-7", 404), ("/live/r/media.m3u8", 302),
        ]
        for (path, status) in answers { #expect(try stand.exchange(path)?.status == status, "\(path)") }
        try stand.ask("/live/r/360p.m3u8?sid=r-7")
        #expect(stand.site.waits.count == 1)
    }

    @Test("Segments of one moment have one discontinuity number in every playlist, whichever rendition was there first")
    func discontinuityNumbers() throws {
        let stand = try restarted(renditions: ["360p", "late"])
        let programs = try #require(stand.hls.programs("r"))
        let feeds = [programs.program, try #require(programs.rendition("360p"))]
        for packet in Packets.program(seconds: 8) {
            for feed in feeds { feed.receive(packet) }
            if packet.isConfiguration || packet.timestamp >= 4_000 { programs.rendition("late")?.receive(packet) }
        }
        var numbers: [Int: Set<Int>] = [:]
        for name in ["media", "360p", "late"] {
            let text = try #require(try stand.exchange("/live/r/\(name).m3u8?sid=r-1")?.text)
            var number = 0
            for line in text.split(separator: "\n") {
                if let base = line.firstMatch(of: /^#EXT-X-DISCONTINUITY-SEQUENCE:(\d+)/) {
                    number = try #require(Int(base.output.1))
                }
                if line == "#EXT-X-DISCONTINUITY" { number += 1 }
                if let file = line.firstMatch(of: /^[^#].*\/s(\d+)\.m4s/) {
                    numbers[try #require(Int(file.output.1)), default: []].insert(number)
                }
            }
        }
        #expect(numbers.count >= 3 && numbers.values.allSatisfy { $0 == [1] }, "\(numbers)")
    }

    @Test("A room that ends while its program is awaited is over for those who wait")
    func ended() throws {
        let stand = try restarted()
        try stand.ask("/live/r/index.m3u8")
        stand.feeds.close("r", reason: .roomEnded)
        stand.hls.close("r")
        stand.loop.run()
        #expect(try stand.answer()?.status == 404)
        #expect(try stand.exchange("/live/r/index.m3u8")?.status == 404)
    }
}
