import HLS
import HTTPTypes
import NIOCore
import NIOEmbedded
import Stage
import TestSupport
import Testing

@testable import FanOut

@Suite("Blocking reloads and preload hints", .enabled(if: TestRun.isFull))
struct BlockingReloadTests {
    /// The contents of a playlist's hint: next segment, next part and the part's URI.
    private struct Announcement {
        var sequence: Int
        var part: Int
        var path: String
        var reload: String { "_HLS_msn=\(sequence)&_HLS_part=\(part)" }
    }

    private func announcement(_ fixture: MediaServiceFixture, room: String = "r") throws -> Announcement {
        let text = try #require(try fixture.exchange("/live/\(room)/media.m3u8?sid=\(room)-1")?.text)
        let hint = try #require(
            text.firstMatch(of: /#EXT-X-PRELOAD-HINT:TYPE=PART,URI="(.+\/s(\d+)\.p(\d+)\.(?:\w+\.)?m4s)"/)
        )
        return Announcement(
            sequence: try #require(Int(hint.output.2)),
            part: try #require(Int(hint.output.3)),
            path: "/live/\(room)/\(hint.output.1)"
        )
    }

    @Test("answers a blocking reload when the part arrives, and counts the viewer as llhls")
    func reload() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let next = try announcement(fixture)
        #expect(fixture.audience.events.map(\.playback) == [.hls])
        try fixture.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)")
        #expect(try fixture.answer() == nil)
        #expect(fixture.service.waits.count == 1)
        #expect(fixture.audience.events.count == 1)
        fixture.goOn(program, from: 12_000, milliseconds: 400)
        let answer = try #require(try fixture.answer())
        #expect(answer.status == 200)
        #expect(answer.text.contains("s\(next.sequence).p\(next.part).m4s\""))
        #expect(answer.head.headerFields[.cacheControl] == "max-age=2")
        #expect(fixture.audience.eventLog == ["playlist r-1", "playlist r-2"])
        #expect(fixture.audience.events.last?.playback == .llhls)
        #expect(fixture.service.waits.count == 0)
        // Media that is already there is not waited for.
        #expect(try fixture.exchange("/live/r/media.m3u8?sid=r-2&\(next.reload)")?.status == 200)
    }

    @Test("answers a request for the hinted part when it is complete; other missing files are 404")
    func announcedPart() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let next = try announcement(fixture)
        try fixture.ask(next.path)
        #expect(try fixture.answer() == nil)
        let ahead = next.path.replacing("p\(next.part).m4s", with: "p\(next.part + 1).m4s")
        let other = try fixture.connect()
        try fixture.ask(ahead, on: other)
        #expect(try fixture.answer(on: other)?.status == 404)
        try fixture.ask(next.path, method: .head, on: other)
        #expect(try fixture.answer(on: other)?.status == 404)
        fixture.goOn(program, from: 12_000, milliseconds: 400)
        let first = try #require(try fixture.answer())
        #expect(first.status == 200)
        #expect(first.head.headerFields[.cacheControl] == "public, max-age=3600, immutable")
        #expect(first.body.getString(at: 4, length: 4) == "moof")
        #expect(try fixture.exchange(next.path)?.body == first.body)
    }

    @Test("answers a request for the hinted part of a private program, whose names cannot be guessed")
    func announcedPrivatePart() throws {
        let fixture = try MediaServiceFixture()
        fixture.hls.setPrivate("r", true)
        let program = fixture.goOnAir("r")
        let next = try announcement(fixture)
        #expect(next.path.split(separator: ".").count == 4)
        try fixture.ask(next.path)
        #expect(try fixture.answer() == nil)
        fixture.goOn(program, from: 12_000, milliseconds: 400)
        let first = try #require(try fixture.answer())
        #expect(first.status == 200 && first.body.getString(at: 4, length: 4) == "moof")
    }

    @Test("answers pipelined requests in order behind a waiting one")
    func order() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let next = try announcement(fixture)
        try fixture.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)")
        try fixture.ask(next.path)
        try fixture.ask("/v1/rooms")
        try fixture.ask("/live/none/index.m3u8")
        #expect(try fixture.answer() == nil)
        #expect(fixture.backend.paths.isEmpty)
        fixture.goOn(program, from: 12_000, milliseconds: 400)
        #expect(try fixture.answer()?.text.hasPrefix("#EXTM3U") == true)
        #expect(try fixture.answer()?.body.getString(at: 4, length: 4) == "moof")
        #expect(try fixture.answer() == nil)
        fixture.backend.respond("rooms")
        #expect(try fixture.answer()?.text == "rooms")
        #expect(try fixture.answer()?.status == 404)
    }

    @Test("answers directives that are too far ahead or invalid with 400 at once, without counting")
    func refusals() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let next = try announcement(fixture)
        let queries = [
            "_HLS_msn=\(next.sequence + 2)", "_HLS_msn=\(next.sequence + 1)&_HLS_part=99",
            "_HLS_msn=\(next.sequence)&_HLS_part=\(next.part + 14)", "_HLS_msn=9223372036854775807&_HLS_part=0",
            "_HLS_msn=0&_HLS_part=9223372036854775808", "_HLS_part=1", "_HLS_msn=", "_HLS_msn=-1", "_HLS_msn=1e2",
            "_HLS_msn=\(next.sequence)&_HLS_part=", "_HLS_skip=NO", "_HLS_skip", "_HLS_msn=%31",
            "_HLS_msn=99999999999999999999999999999999", "_HLS_msn=\u{0661}",
        ]
        for query in queries where query != "_HLS_skip" {
            #expect(try fixture.exchange("/live/r/media.m3u8?sid=r-2&\(query)")?.status == 400, "\(query)")
        }
        #expect(fixture.audience.events.count == 1)
        #expect(fixture.service.waits.count == 0)
        for query in ["_HLS_skip", "_HLS_future=1", "_HLS_msn=0", "_HLS_msn=0&_HLS_part=400", "_HLS_skip=v2", "&&=&"] {
            #expect(try fixture.exchange("/live/r/media.m3u8?sid=r-2&\(query)")?.status == 200, "\(query)")
        }
    }

    @Test("a HEAD request neither waits nor counts")
    func head() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let next = try announcement(fixture)
        let answer = try fixture.exchange("/live/r/media.m3u8?sid=r-2&\(next.reload)", method: .head)
        #expect(answer?.status == 200)
        #expect(fixture.audience.events.count == 1)
    }

    @Test("answers 503 after three target durations if the program stalls")
    func deadline() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let next = try announcement(fixture)
        let other = try fixture.connect()
        try fixture.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)")
        try fixture.ask(next.path, on: other)
        fixture.loop.advanceTime(by: .milliseconds(5_900))
        #expect(try fixture.answer() == nil)
        fixture.loop.advanceTime(by: .milliseconds(600))
        for channel in [fixture.channel, other] {
            let answer = try fixture.answer(on: channel)
            #expect(answer?.status == 503)
            #expect(answer?.head.headerFields[.cacheControl] == "no-store")
            #expect(answer?.head.headerFields[.retryAfter] == "1")
            #expect(channel.isActive)
        }
        #expect(fixture.service.waits.count == 0)
        #expect(fixture.audience.events.count == 1)
        #expect(try fixture.exchange("/live/r/media.m3u8?sid=r-2")?.status == 200)
    }

    @Test(
        "ends a wait with its connection, also if only the client's side is closed",
        arguments: [true, false]
    )
    func goneClients(isHalf: Bool) throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let next = try announcement(fixture)
        try fixture.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)")
        #expect(fixture.service.waits.count == 1)
        if isHalf {
            fixture.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            try fixture.channel.close().wait()
        }
        #expect(fixture.service.waits.count == 0)
        #expect(!fixture.channel.isActive)
        fixture.goOn(program, from: 12_000, milliseconds: 400)
        #expect(fixture.audience.events.count == 1)
    }

    @Test("when the listener shuts down, answers waiting requests before the connection is told")
    func endOfListener() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        try fixture.ask("/live/r/media.m3u8?sid=r-2&\(try announcement(fixture).reload)")
        #expect(fixture.service.waits.count == 1)
        fixture.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        let answer = try #require(try fixture.answer())
        #expect(answer.status == 503 && answer.head.headerFields[.retryAfter] == "1")
        #expect(fixture.backend.isQuiescing && fixture.service.waits.count == 0)
        let idle = try MediaServiceFixture()
        idle.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(idle.backend.isQuiescing)
    }

    @Test("when the listener shuts down, gives a pending response one second")
    func leavingAnswer() throws {
        let leaving = try MediaServiceFixture()
        let slow = SlowSocket()
        try leaving.channel.pipeline.syncOperations.addHandler(slow, position: .first)
        leaving.goOnAir("r")
        try leaving.ask("/live/r/media.m3u8?sid=r-2")
        leaving.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(!leaving.backend.isQuiescing && !slow.promises.isEmpty)
        for promise in slow.promises { promise.succeed() }
        #expect(leaving.backend.isQuiescing)

        let stuck = try MediaServiceFixture()
        let blocked = SlowSocket()
        try stuck.channel.pipeline.syncOperations.addHandler(blocked, position: .first)
        stuck.goOnAir("r")
        try stuck.ask("/live/r/media.m3u8?sid=r-2")
        stuck.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        stuck.loop.advanceTime(by: .milliseconds(900))
        #expect(!stuck.backend.isQuiescing)
        stuck.loop.advanceTime(by: .milliseconds(200))
        #expect(stuck.backend.isQuiescing)
        for promise in blocked.promises { promise.succeed() }
    }

    /// Holds writes until the test completes them.
    private final class SlowSocket: ChannelOutboundHandler {
        typealias OutboundIn = Any

        private(set) var promises: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if let promise { promises.append(promise) }
        }
    }

    @Test("limits the waiting requests to two per viewer and to the configured total")
    func budget() throws {
        let fixture = try MediaServiceFixture(limits: HTTPLimits(waits: (perSession: 2, total: 3)))
        let program = fixture.goOnAir("r")
        let next = try announcement(fixture)
        let channels = try (0..<5).map { _ in try fixture.connect() }
        for channel in channels.prefix(3) { try fixture.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)", on: channel) }
        let third = try #require(try fixture.answer(on: channels[2]))
        #expect(third.status == 429 && third.head.headerFields[.retryAfter] == "1")
        #expect(try StageError.errorBody(in: third.text)["retryable"] as? Bool == true)
        try fixture.ask("/live/r/media.m3u8?sid=r-3&\(next.reload)", on: channels[3])
        try fixture.ask(next.path, on: channels[4])
        #expect(try fixture.answer(on: channels[4])?.status == 503)
        #expect(fixture.service.waits.count == 3)
        fixture.goOn(program, from: 12_000, milliseconds: 400)
        for index in [0, 1, 3] { #expect(try fixture.answer(on: channels[index])?.status == 200) }
        #expect(fixture.service.waits.count == 0)
    }

    @Test("the end of the room answers all waiting requests")
    func roomEnds() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let next = try announcement(fixture)
        let other = try fixture.connect()
        try fixture.ask("/live/r/media.m3u8?sid=r-2&_HLS_msn=\(next.sequence + 1)")
        try fixture.ask("/live/r/\(next.path.split(separator: "/").dropFirst(2).joined(separator: "/"))", on: other)
        fixture.feeds.close("r", reason: .roomEnded)
        fixture.hls.close("r")
        fixture.loop.run()
        #expect(try fixture.answer()?.text.hasSuffix("#EXT-X-ENDLIST\n") == true)
        // The incomplete part is completed by the end of the room.
        #expect(try fixture.answer(on: other)?.status == 200)
        #expect(fixture.audience.events.count == 1)
    }

    @Test("V23 waits over a mixer restart: the next part starts a discontinuity")
    func mixerRestart() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let next = try announcement(fixture)
        program.publisherChanged()
        try fixture.ask("/live/r/media.m3u8?sid=r-2&_HLS_msn=\(next.sequence + 1)&_HLS_part=0")
        fixture.loop.advanceTime(by: .milliseconds(1_500))
        #expect(try fixture.answer() == nil)
        fixture.goOn(program, from: 13_500, milliseconds: 400)
        let text = try #require(try fixture.answer()?.text)
        #expect(
            text.firstMatch(of: /#EXT-X-DISCONTINUITY\n[^\n]*DATE-TIME[^\n]*\n#EXT-X-PART[^\n]*s\d+\.p0\.m4s/) != nil
        )
        #expect(text.contains("s\(next.sequence).m4s"))
    }

    @Test("one part answers three thousand reloads with one rendered playlist, in several turns of the loop")
    func crowd() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let next = try announcement(fixture)
        let channels = try (0..<3_000).map { _ in try fixture.connect() }
        for (index, channel) in channels.enumerated() {
            try fixture.ask("/live/r/media.m3u8?sid=r-\(index + 2)&\(next.reload)", on: channel)
        }
        #expect(fixture.service.waits.count == 3_000)
        fixture.goOn(program, from: 12_000, milliseconds: 400)
        #expect(fixture.service.waits.count == 0)
        #expect(fixture.audience.events.count == 3_001)
        let text = try #require(try fixture.answer(on: channels[0])?.text)
        #expect(text.contains("s\(next.sequence).p\(next.part).m4s\""))
        let others = try channels.dropFirst().count { try fixture.answer(on: $0)?.text == text }
        #expect(others == 2_999)
        for channel in channels { try channel.close().wait() }
    }
}

@Suite("Waiting request limiter")
struct WaitingRequestLimiterTests {
    @Test("limits each session, counts requests without one only in total, and releases slots")
    func shares() {
        let budget = WaitingRequestLimiter((perSession: 2, total: 4))
        #expect(budget.acquire("a") == nil)
        #expect(budget.acquire("a") == nil)
        #expect(budget.acquire("a") == .session)
        #expect(budget.acquire(nil) == nil)
        #expect(budget.acquire("b") == nil)
        #expect(budget.acquire("c") == .total)
        #expect(budget.count == 4 && budget.refused == 2)
        budget.release("a")
        #expect(budget.acquire("a") == nil)
        for session in ["a", "a", nil, "b"] { budget.release(session) }
        #expect(budget.count == 0)
        #expect(budget.acquire("a") == nil)
    }
}
