@testable import FanOut
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Stage
import Testing

@Suite("Playback requests on a connection")
struct MediaHTTPHandlerTests {
    @Test("What is no media passes through untouched, body and answer too")
    func passesOn() throws {
        let stand = try SiteStand()
        let request = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/v1/rooms?x=1")
        try stand.channel.writeInbound(HTTPRequestPart.head(request))
        try stand.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "{}")))
        try stand.channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(stand.behind.paths == ["/v1/rooms?x=1"])
        #expect(stand.behind.bodies == "{}")
        #expect(stand.behind.ends == 1)
        stand.behind.respond("made")
        #expect(try stand.answer()?.text == "made")
    }

    @Test("A media request never reaches the server behind")
    func answersMedia() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        #expect(try stand.exchange("/live/r/index.m3u8")?.status == 200)
        #expect(stand.behind.paths.isEmpty)
        #expect(stand.channel.isActive)
    }

    @Test("Answers leave in the order of the requests, also behind one that is slow elsewhere")
    func order() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        try stand.ask("/v1/slow")
        try stand.ask("/live/r/index.m3u8")
        try stand.ask("/v1/second")
        try stand.ask("/live/nowhere/index.m3u8")
        #expect(try stand.answer() == nil)
        #expect(stand.behind.paths == ["/v1/slow"])
        stand.behind.respond("slow")
        #expect(try stand.answer()?.text == "slow")
        #expect(try stand.answer()?.text.hasPrefix("#EXTM3U") == true)
        #expect(try stand.answer() == nil)
        #expect(stand.behind.paths == ["/v1/slow", "/v1/second"])
        #expect(stand.behind.ends == 2)
        stand.behind.respond("second")
        #expect(try stand.answer()?.text == "second")
        #expect(try stand.answer()?.status == 404)
        #expect(try stand.exchange("/live/r/index.m3u8")?.status == 200)
    }

    @Test("An answer that comes before the request is whole lets nothing overtake the rest of the request")
    func earlyAnswer() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let request = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/v1/rooms")
        try stand.channel.writeInbound(HTTPRequestPart.head(request))
        stand.behind.respond("too large")
        try stand.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "rest")))
        try stand.channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(stand.behind.bodies == "rest")
        try stand.ask("/live/r/index.m3u8")
        #expect(try stand.answer()?.text == "too large")
        #expect(try stand.answer()?.text.hasPrefix("#EXTM3U") == true)
    }

    @Test("A client that pipelines without end behind a slow answer is closed")
    func floods() throws {
        let stand = try SiteStand()
        try stand.ask("/v1/slow")
        for _ in 0..<32 { try stand.ask("/live/r/index.m3u8") }
        #expect(stand.channel.isActive)
        try stand.ask("/live/r/index.m3u8")
        #expect(!stand.channel.isActive)
    }

    @Test("A client that pipelines large requests behind a slow answer is closed")
    func pipelinedBody() throws {
        // The path of a request is counted as well.
        let stand = try SiteStand(limits: HTTPLimits(pipelinedBytes: 1000 + "/v1/rooms".utf8.count))
        try stand.ask("/v1/slow")
        let request = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/v1/rooms")
        try stand.channel.writeInbound(HTTPRequestPart.head(request))
        try stand.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 120, count: 1000)))
        #expect(stand.channel.isActive)
        stand.behind.respond("slow")
        #expect(try stand.answer()?.text == "slow")
        // What was held has gone on, and the rest is not held.
        try stand.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 120, count: 1000)))
        try stand.channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(stand.behind.bodies.utf8.count == 2000)
        try stand.channel.writeInbound(HTTPRequestPart.head(request))
        try stand.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 120, count: 1001)))
        #expect(!stand.channel.isActive)
    }

    @Test(
        "Connection: close is answered with the same, and nothing after it",
        arguments: ["close", "Close", "keep-alive, close", "TE,close"]
    )
    func closes(option: String) throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        try stand.ask("/live/r/index.m3u8")
        try stand.ask("/live/r/index.m3u8", fields: [.connection: option])
        let first = try stand.answer()
        #expect(first?.head.headerFields[.connection] == nil)
        let second = try stand.answer()
        #expect(second?.head.headerFields[.connection] == "close")
        #expect(second?.text.hasPrefix("#EXTM3U") == true)
        #expect(!stand.channel.isActive)
        #expect(try stand.answer() == nil)
    }

    @Test("A page of any origin is told that it may ask, and with which methods and fields")
    func preflight() throws {
        let stand = try SiteStand()
        let answer = try stand.exchange("/live/r/index.m3u8", method: .options, fields: [.origin: "https://a.example"])
        #expect(answer?.status == 204)
        #expect(answer?.head.headerFields[.accessControlAllowOrigin] == "*")
        #expect(answer?.head.headerFields[.accessControlAllowMethods] == "GET, HEAD, OPTIONS")
        #expect(answer?.head.headerFields[.accessControlAllowHeaders]?.contains("Range") == true)
        #expect(answer?.head.headerFields[.accessControlAllowCredentials] == nil)
        #expect(answer?.body.readableBytes == 0)
    }

    @Test(
        "A room that is not there is 404",
        arguments: ["/live/no/index.m3u8", "/live/no/media.m3u8?sid=no-1", "/live/no/run/s1.m4s", "/live/no.flv"]
    )
    func unknownRoom(path: String) throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let answer = try stand.exchange(path)
        #expect(answer?.status == 404)
        #expect(answer?.head.headerFields[.cacheControl] == "no-store")
        #expect(answer?.head.headerFields[.accessControlAllowOrigin] == "*")
        #expect(try stand.exchange(path, method: .head)?.status == 404)
        #expect(stand.audience.events.isEmpty)
    }

    @Test(
        "A session id that is not ours, or another room's, is 403",
        arguments: ["/live/r/index.m3u8?sid=", "/live/r/media.m3u8?sid=", "/live/r.flv?sid="]
    )
    func forgedSession(path: String) throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        for sid in ["forged", "other-1", ""] {
            #expect(try stand.exchange(path + sid)?.status == 403)
        }
        #expect(stand.audience.events.isEmpty)
        #expect(stand.channel.isActive)
    }

    @Test("Other methods are 405 with those there are", arguments: [HTTPRequest.Method.post, .put, .delete, .patch])
    func otherMethods(method: HTTPRequest.Method) throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let answer = try stand.exchange("/live/r/index.m3u8", method: method)
        #expect(answer?.status == 405 && answer?.head.headerFields[.allow] == "GET, HEAD, OPTIONS")
        #expect(try stand.exchange("/live/r.flv", method: method)?.status == 405)
        #expect(stand.audience.events.isEmpty)
        #expect(stand.behind.paths.isEmpty)
    }

    @Test("HEAD says what GET would, and is never counted")
    func head() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let get = try stand.exchange("/live/r/media.m3u8?sid=r-7")
        let head = try stand.exchange("/live/r/media.m3u8?sid=r-7", method: .head)
        #expect(head?.head == get?.head)
        #expect(head?.body.readableBytes == 0)
        let stream = try stand.exchange("/live/r.flv", method: .head)
        #expect(stream?.status == 200)
        #expect(stream?.head.headerFields[.contentType] == "video/x-flv")
        #expect(stand.audience.story == ["playlist r-7"])
        #expect(stand.feeds.feed("r")?.activity.viewers == 0)
    }

    @Test("Requests beyond an address's budget get 429, media or not, in their turn")
    func budget() throws {
        let limits = HTTPLimits(requests: (perSecond: 0.001, burst: 3))
        let stand = try SiteStand(limits: limits, from: "192.0.2.7")
        stand.goOnAir("r")
        #expect(try stand.exchange("/live/r/index.m3u8")?.status == 200)
        #expect(try stand.exchange("/live/r/index.m3u8")?.status == 200)
        try stand.ask("/v1/slow")
        try stand.ask("/v1/other")
        try stand.ask("/live/r/index.m3u8")
        #expect(try stand.answer() == nil)
        stand.behind.respond("slow")
        #expect(try stand.answer()?.text == "slow")
        #expect(try stand.answer()?.status == 429)
        #expect(try stand.answer()?.status == 429)
        #expect(stand.behind.paths == ["/v1/slow"])
    }

    @Test(
        "Who gets 429 is told when to ask again, by the field and by the body that all refusals of the API have",
        arguments: [(0.4, 3), (0.1, 10), (0, 3600)]
    )
    func comeBack(rate: Double, seconds: Int) throws {
        let stand = try SiteStand(limits: HTTPLimits(requests: (perSecond: rate, burst: 1)), from: "192.0.2.7")
        stand.goOnAir("r")
        #expect(try stand.exchange("/live/r/index.m3u8")?.status == 200)
        for path in ["/v1/rooms", "/live/r/index.m3u8"] {
            let answer = try #require(try stand.exchange(path))
            #expect(answer.status == 429 && answer.head.headerFields[.retryAfter] == "\(seconds)", "\(path)")
            let error = try StageError.said(in: answer.text)
            #expect(error["status"] as? Int == 429 && error["code"] as? Int == 429)
            #expect(error["retryable"] as? Bool == true && error["retry_after"] as? Int == seconds)
        }
        #expect(MediaResponse.tooManyRequests(rate: 1000).retryAfter == 1)
    }

    @Test("A client that takes nothing of an answer without end is closed; one that takes again is not")
    func blockedClient() throws {
        let stand = try SiteStand(limits: HTTPLimits(answer: .zero, idleCheck: .seconds(5)))
        func takes(_ isWritable: Bool) {
            stand.channel.isWritable = isWritable
            stand.channel.pipeline.fireChannelWritabilityChanged()
        }
        try stand.ask("/v1/events")
        takes(false)
        takes(true)
        stand.loop.advanceTime(by: .seconds(5))
        #expect(stand.channel.isActive)
        takes(false)
        stand.loop.advanceTime(by: .seconds(5))
        #expect(!stand.channel.isActive)
    }

    @Test("Loopback has a budget like any client, and those for whom a proxy on it asks have their own")
    func loopbackBudget() throws {
        let stand = try SiteStand(limits: HTTPLimits(requests: (perSecond: 0.001, burst: 3)), from: "127.0.0.1")
        stand.goOnAir("r")
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        for fields in [[:], [name: "203.0.113.1"], [name: "203.0.113.2"]] {
            let statuses = try (0..<4).map { _ in try stand.exchange("/live/r/index.m3u8", fields: fields)?.status }
            #expect(statuses == [200, 200, 200, 429], "\(fields)")
        }
    }
}
