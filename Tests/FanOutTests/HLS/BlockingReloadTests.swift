@testable import FanOut
import HLS
import HTTPTypes
import NIOCore
import NIOEmbedded
import Stage
import Testing

@Suite("Blocking reloads and announced parts")
struct BlockingReloadTests {
    /// What a playlist announces: the segment and the part that come next, and where the part will be.
    private struct Announcement {
        var sequence: Int
        var part: Int
        var path: String
        var reload: String { "_HLS_msn=\(sequence)&_HLS_part=\(part)" }
    }

    private func announcement(_ stand: SiteStand, room: String = "r") throws -> Announcement {
        let text = try #require(try stand.exchange("/live/\(room)/media.m3u8?sid=\(room)-1")?.text)
        let hint = try #require(text.firstMatch(of: /#EXT-X-PRELOAD-HINT:TYPE=PART,URI="(.+\/s(\d+)\.p(\d+)\.m4s)"/))
        return Announcement(
            sequence: try #require(Int(hint.output.2)),
            part: try #require(Int(hint.output.3)),
            path: "/live/\(room)/\(hint.output.1)"
        )
    }

    @Test("A reload for the next part waits, is answered with it the moment it is there, and counted then as llhls")
    func reload() throws {
        let stand = try SiteStand()
        let program = stand.goOnAir("r")
        let next = try announcement(stand)
        #expect(stand.audience.events.map(\.playback) == [.hls])
        try stand.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)")
        #expect(try stand.answer() == nil)
        #expect(stand.site.waits.count == 1)
        #expect(stand.audience.events.count == 1)
        stand.goOn(program, from: 12_000, milliseconds: 400)
        let answer = try #require(try stand.answer())
        #expect(answer.status == 200)
        #expect(answer.text.contains("s\(next.sequence).p\(next.part).m4s\""))
        #expect(answer.head.headerFields[.cacheControl] == "max-age=2")
        #expect(stand.audience.story == ["playlist r-1", "playlist r-2"])
        #expect(stand.audience.events.last?.playback == .llhls)
        #expect(stand.site.waits.count == 0)
        // What has come already is not waited for.
        #expect(try stand.exchange("/live/r/media.m3u8?sid=r-2&\(next.reload)")?.status == 200)
    }

    @Test("The announced part is given when it is whole, bit for bit as it stays; nothing else is waited for")
    func announcedPart() throws {
        let stand = try SiteStand()
        let program = stand.goOnAir("r")
        let next = try announcement(stand)
        try stand.ask(next.path)
        #expect(try stand.answer() == nil)
        let ahead = next.path.replacing("p\(next.part).m4s", with: "p\(next.part + 1).m4s")
        let other = try stand.connect()
        try stand.ask(ahead, on: other)
        #expect(try stand.answer(on: other)?.status == 404)
        try stand.ask(next.path, method: .head, on: other)
        #expect(try stand.answer(on: other)?.status == 404)
        stand.goOn(program, from: 12_000, milliseconds: 400)
        let first = try #require(try stand.answer())
        #expect(first.status == 200)
        #expect(first.head.headerFields[.cacheControl] == "public, max-age=3600, immutable")
        #expect(first.body.getString(at: 4, length: 4) == "moof")
        #expect(try stand.exchange(next.path)?.body == first.body)
    }

    @Test("What is asked behind a waiting request is answered behind it")
    func order() throws {
        let stand = try SiteStand()
        let program = stand.goOnAir("r")
        let next = try announcement(stand)
        try stand.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)")
        try stand.ask(next.path)
        try stand.ask("/v1/rooms")
        try stand.ask("/live/none/index.m3u8")
        #expect(try stand.answer() == nil)
        #expect(stand.behind.paths.isEmpty)
        stand.goOn(program, from: 12_000, milliseconds: 400)
        #expect(try stand.answer()?.text.hasPrefix("#EXTM3U") == true)
        #expect(try stand.answer()?.body.getString(at: 4, length: 4) == "moof")
        #expect(try stand.answer() == nil)
        stand.behind.respond("rooms")
        #expect(try stand.answer()?.text == "rooms")
        #expect(try stand.answer()?.status == 404)
    }

    @Test("Too far ahead and nonsense are 400 at once, and nobody is counted")
    func refusals() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let next = try announcement(stand)
        let queries = [
            "_HLS_msn=\(next.sequence + 2)", "_HLS_msn=\(next.sequence + 1)&_HLS_part=99",
            "_HLS_msn=\(next.sequence)&_HLS_part=\(next.part + 14)", "_HLS_msn=9223372036854775807&_HLS_part=0",
            "_HLS_msn=0&_HLS_part=9223372036854775808", "_HLS_part=1", "_HLS_msn=", "_HLS_msn=-1", "_HLS_msn=1e2",
            "_HLS_msn=\(next.sequence)&_HLS_part=", "_HLS_skip=NO", "_HLS_skip", "_HLS_msn=%31",
            "_HLS_msn=99999999999999999999999999999999", "_HLS_msn=\u{0661}",
        ]
        for query in queries where query != "_HLS_skip" {
            #expect(try stand.exchange("/live/r/media.m3u8?sid=r-2&\(query)")?.status == 400, "\(query)")
        }
        #expect(stand.audience.events.count == 1)
        #expect(stand.site.waits.count == 0)
        for query in ["_HLS_skip", "_HLS_future=1", "_HLS_msn=0", "_HLS_msn=0&_HLS_part=400", "_HLS_skip=v2", "&&=&"] {
            #expect(try stand.exchange("/live/r/media.m3u8?sid=r-2&\(query)")?.status == 200, "\(query)")
        }
    }

    @Test("Who waits for the head alone does not wait, and is not counted")
    func head() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let next = try announcement(stand)
        let answer = try stand.exchange("/live/r/media.m3u8?sid=r-2&\(next.reload)", method: .head)
        #expect(answer?.status == 200)
        #expect(stand.audience.events.count == 1)
    }

    @Test("When the program stands still a wait ends after three target durations with 503")
    func deadline() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let next = try announcement(stand)
        let other = try stand.connect()
        try stand.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)")
        try stand.ask(next.path, on: other)
        stand.loop.advanceTime(by: .milliseconds(5_900))
        #expect(try stand.answer() == nil)
        stand.loop.advanceTime(by: .milliseconds(600))
        for channel in [stand.channel, other] {
            let answer = try stand.answer(on: channel)
            #expect(answer?.status == 503)
            #expect(answer?.head.headerFields[.cacheControl] == "no-store")
            #expect(answer?.head.headerFields[.retryAfter] == "1")
            #expect(channel.isActive)
        }
        #expect(stand.site.waits.count == 0)
        #expect(stand.audience.events.count == 1)
        #expect(try stand.exchange("/live/r/media.m3u8?sid=r-2")?.status == 200)
    }

    @Test(
        "A wait ends with its connection, also when only the client's side of it is closed",
        arguments: [true, false]
    )
    func goneClients(isHalf: Bool) throws {
        let stand = try SiteStand()
        let program = stand.goOnAir("r")
        let next = try announcement(stand)
        try stand.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)")
        #expect(stand.site.waits.count == 1)
        if isHalf {
            stand.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            try stand.channel.close().wait()
        }
        #expect(stand.site.waits.count == 0)
        #expect(!stand.channel.isActive)
        stand.goOn(program, from: 12_000, milliseconds: 400)
        #expect(stand.audience.events.count == 1)
    }

    @Test("When the listener ends, who waits for media is answered, and its connection is told so after that answer")
    func endOfListener() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        try stand.ask("/live/r/media.m3u8?sid=r-2&\(try announcement(stand).reload)")
        #expect(stand.site.waits.count == 1)
        stand.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        let answer = try #require(try stand.answer())
        #expect(answer.status == 503 && answer.head.headerFields[.retryAfter] == "1")
        #expect(stand.behind.isQuiescing && stand.site.waits.count == 0)
        let idle = try SiteStand()
        idle.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(idle.behind.isQuiescing)
    }

    @Test("When the listener ends, an answer on its way has a second to leave")
    func leavingAnswer() throws {
        let leaving = try SiteStand()
        let slow = SlowSocket()
        try leaving.channel.pipeline.syncOperations.addHandler(slow, position: .first)
        leaving.goOnAir("r")
        try leaving.ask("/live/r/media.m3u8?sid=r-2")
        leaving.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(!leaving.behind.isQuiescing && !slow.promises.isEmpty)
        for promise in slow.promises { promise.succeed() }
        #expect(leaving.behind.isQuiescing)

        let stuck = try SiteStand()
        let blocked = SlowSocket()
        try stuck.channel.pipeline.syncOperations.addHandler(blocked, position: .first)
        stuck.goOnAir("r")
        try stuck.ask("/live/r/media.m3u8?sid=r-2")
        stuck.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        stuck.loop.advanceTime(by: .milliseconds(900))
        #expect(!stuck.behind.isQuiescing)
        stuck.loop.advanceTime(by: .milliseconds(200))
        #expect(stuck.behind.isQuiescing)
        for promise in blocked.promises { promise.succeed() }
    }

    /// Takes what is written, and says that it has left when its test does.
    private final class SlowSocket: ChannelOutboundHandler {
        typealias OutboundIn = Any

        private(set) var promises: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if let promise { promises.append(promise) }
        }
    }

    @Test("Of one viewer two requests wait, of all no more than there is room for")
    func budget() throws {
        let stand = try SiteStand(limits: HTTPLimits(waits: (perSession: 2, total: 3)))
        let program = stand.goOnAir("r")
        let next = try announcement(stand)
        let channels = try (0..<5).map { _ in try stand.connect() }
        for channel in channels.prefix(3) { try stand.ask("/live/r/media.m3u8?sid=r-2&\(next.reload)", on: channel) }
        let third = try #require(try stand.answer(on: channels[2]))
        #expect(third.status == 429 && third.head.headerFields[.retryAfter] == "1")
        #expect(try StageError.said(in: third.text)["retryable"] as? Bool == true)
        try stand.ask("/live/r/media.m3u8?sid=r-3&\(next.reload)", on: channels[3])
        try stand.ask(next.path, on: channels[4])
        #expect(try stand.answer(on: channels[4])?.status == 503)
        #expect(stand.site.waits.count == 3)
        stand.goOn(program, from: 12_000, milliseconds: 400)
        for index in [0, 1, 3] { #expect(try stand.answer(on: channels[index])?.status == 200) }
        #expect(stand.site.waits.count == 0)
    }

    @Test("The end of the room answers everybody who waits")
    func roomEnds() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let next = try announcement(stand)
        let other = try stand.connect()
        try stand.ask("/live/r/media.m3u8?sid=r-2&_HLS_msn=\(next.sequence + 1)")
        try stand.ask("/live/r/\(next.path.split(separator: "/").dropFirst(2).joined(separator: "/"))", on: other)
        stand.feeds.close("r", reason: .roomEnded)
        stand.hls.close("r")
        stand.loop.run()
        #expect(try stand.answer()?.text.hasSuffix("#EXT-X-ENDLIST\n") == true)
        // What was being made is whole by that.
        #expect(try stand.answer(on: other)?.status == 200)
        #expect(stand.audience.events.count == 1)
    }

    @Test("V23 A restart of the mixer is waited over: the next part begins a discontinuity")
    func mixerRestart() throws {
        let stand = try SiteStand()
        let program = stand.goOnAir("r")
        let next = try announcement(stand)
        program.publisherChanged()
        try stand.ask("/live/r/media.m3u8?sid=r-2&_HLS_msn=\(next.sequence + 1)&_HLS_part=0")
        stand.loop.advanceTime(by: .milliseconds(1_500))
        #expect(try stand.answer() == nil)
        stand.goOn(program, from: 13_500, milliseconds: 400)
        let text = try #require(try stand.answer()?.text)
        #expect(
            text.firstMatch(of: /#EXT-X-DISCONTINUITY\n[^\n]*DATE-TIME[^\n]*\n#EXT-X-PART[^\n]*s\d+\.p0\.m4s/) != nil
        )
        #expect(text.contains("s\(next.sequence).m4s"))
    }

    @Test("One part releases three thousand waiting reloads from one text, in turns of the loop")
    func crowd() throws {
        let stand = try SiteStand()
        let program = stand.goOnAir("r")
        let next = try announcement(stand)
        let channels = try (0..<3_000).map { _ in try stand.connect() }
        for (index, channel) in channels.enumerated() {
            try stand.ask("/live/r/media.m3u8?sid=r-\(index + 2)&\(next.reload)", on: channel)
        }
        #expect(stand.site.waits.count == 3_000)
        stand.goOn(program, from: 12_000, milliseconds: 400)
        #expect(stand.site.waits.count == 0)
        #expect(stand.audience.events.count == 3_001)
        let text = try #require(try stand.answer(on: channels[0])?.text)
        #expect(text.contains("s\(next.sequence).p\(next.part).m4s\""))
        let others = try channels.dropFirst().count { try stand.answer(on: $0)?.text == text }
        #expect(others == 2_999)
        for channel in channels { try channel.close().wait() }
    }
}
