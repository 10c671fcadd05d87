@testable import FanOut
import HTTPTypes
import Media
import NIOCore
import NIOEmbedded
import Stage
import Testing

@Suite("HLS after a restart of the gateway")
struct ProgramRestartTests {
    /// Creates a service with a room whose program is expected and not there yet.
    private func restarted(limits: HTTPLimits = HTTPLimits(), renditions: [String] = []) throws -> MediaServiceFixture {
        let fixture = try MediaServiceFixture(limits: limits)
        _ = fixture.hls.open("r", renditions: renditions, isExpected: true)
        fixture.feeds.open("r")
        return fixture
    }

    private func expectTryAgain(_ answer: MediaServiceFixture.Answer?, _ what: Comment) {
        #expect(answer?.status == 503, what)
        #expect(answer?.head.headerFields[.retryAfter] == "1", what)
        #expect(answer?.head.headerFields[.cacheControl] == "no-store", what)
    }

    @Test("holds playlist requests until the first segment, and counts each waiting player once")
    func held() throws {
        let fixture = try restarted()
        let channels = try (0..<3).map { _ in try fixture.connect() }
        try fixture.ask("/live/r/index.m3u8", on: channels[0])
        // With the session id of the previous run, one request with delivery directives and one without.
        try fixture.ask("/live/r/media.m3u8?sid=r-7&_HLS_msn=0&_HLS_part=3", on: channels[1])
        try fixture.ask("/live/r/media.m3u8?sid=r-8", on: channels[2])
        #expect(fixture.service.waits.count == 3)
        #expect(fixture.audience.requests.isEmpty && fixture.audience.events.isEmpty)
        #expect(fixture.hls.roomsWithWaitingPlayers == ["r"])

        let program = fixture.goOnAir("r", seconds: 3)
        fixture.loop.run()
        #expect(fixture.service.waits.count == 0)
        let multivariant = try #require(try fixture.answer(on: channels[0]))
        #expect(multivariant.status == 200 && multivariant.text.contains("media.m3u8?sid=r-1"))
        for channel in channels[1...] {
            let answer = try #require(try fixture.answer(on: channel))
            #expect(answer.status == 200 && answer.text.contains("\(program.run)/s0.m4s"))
            // The tags also tell players that these segments do not continue the ones that they know.
            #expect(answer.text.split(separator: "\n").filter { $0 == "#EXT-X-DISCONTINUITY" }.count == 1)
        }
        #expect(fixture.audience.requests.map(\.sid).filter { $0 == nil }.count == 1)
        #expect(fixture.audience.eventLog.sorted() == ["playlist r-7", "playlist r-8"])
        #expect(fixture.audience.events.map(\.playback).contains(.llhls))
    }

    @Test("answers a timed-out request with 503 and Retry-After, never with 404")
    func tooLong() throws {
        let fixture = try restarted()
        for _ in 0..<3 {
            let other = try fixture.connect()
            try fixture.ask("/live/r/media.m3u8?sid=r-7")
            try fixture.ask("/live/r/index.m3u8", on: other)
            fixture.loop.advanceTime(by: .milliseconds(5_900))
            #expect(try fixture.answer() == nil)
            fixture.loop.advanceTime(by: .milliseconds(600))
            expectTryAgain(try fixture.answer(), "media playlist")
            expectTryAgain(try fixture.answer(on: other), "multivariant playlist")
        }
        expectTryAgain(try fixture.exchange("/live/r/index.m3u8", method: .head), "only the head is asked for")
        #expect(fixture.audience.requests.isEmpty && fixture.service.waits.count == 0)
    }

    @Test("holds at most the configured number of requests, and two per viewer")
    func bounded() throws {
        let fixture = try restarted(limits: HTTPLimits(waits: (perSession: 2, total: 3)))
        let channels = try (0..<5).map { _ in try fixture.connect() }
        for channel in channels[..<3] { try fixture.ask("/live/r/media.m3u8?sid=r-7", on: channel) }
        #expect(try fixture.answer(on: channels[2])?.status == 429)
        try fixture.ask("/live/r/index.m3u8?sid=r-7", on: channels[3])
        #expect(fixture.service.waits.count == 3)
        try fixture.ask("/live/r/index.m3u8", on: channels[4])
        expectTryAgain(try fixture.answer(on: channels[4]), "one too many")
    }

    @Test("does not hold requests for other rooms, unknown session ids, old segments or unknown renditions")
    func notHeld() throws {
        let fixture = try restarted(renditions: ["360p"])
        _ = fixture.hls.open("new")
        let answers = [
            ("/live/new/index.m3u8", 404), ("/live/none/index.m3u8", 404), ("/live/r/media.m3u8?sid=x-1", 403),
            ("/live/r/oldrun/s1.m4s", 404), ("/live/r/1080p.m3u8?sid=r-7", 404), ("/live/r/media.m3u8", 302),
        ]
        for (path, status) in answers { #expect(try fixture.exchange(path)?.status == status, "\(path)") }
        try fixture.ask("/live/r/360p.m3u8?sid=r-7")
        #expect(fixture.service.waits.count == 1)
    }

    @Test("numbers the discontinuities of all renditions alike, whichever rendition was first")
    func discontinuityNumbers() throws {
        let fixture = try restarted(renditions: ["360p", "late"])
        let programs = try #require(fixture.hls.programs("r"))
        let feeds = [programs.program, try #require(programs.rendition("360p"))]
        for packet in Packets.program(seconds: 8) {
            for feed in feeds { feed.receive(packet) }
            if packet.isConfiguration || packet.timestamp >= 4_000 { programs.rendition("late")?.receive(packet) }
        }
        var numbers: [Int: Set<Int>] = [:]
        for name in ["media", "360p", "late"] {
            let text = try #require(try fixture.exchange("/live/r/\(name).m3u8?sid=r-1")?.text)
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

    @Test("ends the waiting requests of a room that is closed")
    func ended() throws {
        let fixture = try restarted()
        try fixture.ask("/live/r/index.m3u8")
        fixture.feeds.close("r", reason: .roomEnded)
        fixture.hls.close("r")
        fixture.loop.run()
        #expect(try fixture.answer()?.status == 404)
        #expect(try fixture.exchange("/live/r/index.m3u8")?.status == 404)
    }
}
