@testable import FanOut
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Stage
import Testing

@Suite("Playback requests on a connection")
struct MediaHTTPHandlerTests {
    @Test("forwards other requests, their bodies and responses unchanged")
    func passesOn() throws {
        let fixture = try MediaServiceFixture()
        let request = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/v1/rooms?x=1")
        try fixture.channel.writeInbound(HTTPRequestPart.head(request))
        try fixture.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "{}")))
        try fixture.channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(fixture.backend.paths == ["/v1/rooms?x=1"])
        #expect(fixture.backend.bodies == "{}")
        #expect(fixture.backend.ends == 1)
        fixture.backend.respond("made")
        #expect(try fixture.answer()?.text == "made")
    }

    @Test("does not forward media requests")
    func answersMedia() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        #expect(try fixture.exchange("/live/r/index.m3u8")?.status == 200)
        #expect(fixture.backend.paths.isEmpty)
        #expect(fixture.channel.isActive)
    }

    @Test("writes responses in the order of the requests, also behind a slow forwarded one")
    func order() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        try fixture.ask("/v1/slow")
        try fixture.ask("/live/r/index.m3u8")
        try fixture.ask("/v1/second")
        try fixture.ask("/live/nowhere/index.m3u8")
        #expect(try fixture.answer() == nil)
        #expect(fixture.backend.paths == ["/v1/slow"])
        fixture.backend.respond("slow")
        #expect(try fixture.answer()?.text == "slow")
        #expect(try fixture.answer()?.text.hasPrefix("#EXTM3U") == true)
        #expect(try fixture.answer() == nil)
        #expect(fixture.backend.paths == ["/v1/slow", "/v1/second"])
        #expect(fixture.backend.ends == 2)
        fixture.backend.respond("second")
        #expect(try fixture.answer()?.text == "second")
        #expect(try fixture.answer()?.status == 404)
        #expect(try fixture.exchange("/live/r/index.m3u8")?.status == 200)
    }

    @Test("a response before the end of its request does not reorder the rest of the request")
    func earlyAnswer() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let request = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/v1/rooms")
        try fixture.channel.writeInbound(HTTPRequestPart.head(request))
        fixture.backend.respond("too large")
        try fixture.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "rest")))
        try fixture.channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(fixture.backend.bodies == "rest")
        try fixture.ask("/live/r/index.m3u8")
        #expect(try fixture.answer()?.text == "too large")
        #expect(try fixture.answer()?.text.hasPrefix("#EXTM3U") == true)
    }

    @Test("closes a client that pipelines too many requests behind a slow response")
    func floods() throws {
        let fixture = try MediaServiceFixture()
        try fixture.ask("/v1/slow")
        for _ in 0..<32 { try fixture.ask("/live/r/index.m3u8") }
        #expect(fixture.channel.isActive)
        try fixture.ask("/live/r/index.m3u8")
        #expect(!fixture.channel.isActive)
    }

    @Test("closes a client that pipelines too many bytes behind a slow response")
    func pipelinedBody() throws {
        // The path of a request counts as well.
        let fixture = try MediaServiceFixture(limits: HTTPLimits(pipelinedBytes: 1000 + "/v1/rooms".utf8.count))
        try fixture.ask("/v1/slow")
        let request = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/v1/rooms")
        try fixture.channel.writeInbound(HTTPRequestPart.head(request))
        try fixture.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 120, count: 1000)))
        #expect(fixture.channel.isActive)
        fixture.backend.respond("slow")
        #expect(try fixture.answer()?.text == "slow")
        // The queued requests were handled, and the rest is not queued.
        try fixture.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 120, count: 1000)))
        try fixture.channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(fixture.backend.bodies.utf8.count == 2000)
        try fixture.channel.writeInbound(HTTPRequestPart.head(request))
        try fixture.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 120, count: 1001)))
        #expect(!fixture.channel.isActive)
    }

    @Test(
        "Connection: close is answered with close, and the connection closes",
        arguments: ["close", "Close", "keep-alive, close", "TE,close"]
    )
    func closes(option: String) throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        try fixture.ask("/live/r/index.m3u8")
        try fixture.ask("/live/r/index.m3u8", fields: [.connection: option])
        let first = try fixture.answer()
        #expect(first?.head.headerFields[.connection] == nil)
        let second = try fixture.answer()
        #expect(second?.head.headerFields[.connection] == "close")
        #expect(second?.text.hasPrefix("#EXTM3U") == true)
        #expect(!fixture.channel.isActive)
        #expect(try fixture.answer() == nil)
    }

    @Test("answers a CORS preflight of any origin with the allowed methods and fields")
    func preflight() throws {
        let fixture = try MediaServiceFixture()
        let answer = try fixture.exchange(
            "/live/r/index.m3u8",
            method: .options,
            fields: [.origin: "https://a.example"]
        )
        #expect(answer?.status == 204)
        #expect(answer?.head.headerFields[.accessControlAllowOrigin] == "*")
        #expect(answer?.head.headerFields[.accessControlAllowMethods] == "GET, HEAD, OPTIONS")
        #expect(answer?.head.headerFields[.accessControlAllowHeaders]?.contains("Range") == true)
        #expect(answer?.head.headerFields[.accessControlAllowCredentials] == nil)
        #expect(answer?.body.readableBytes == 0)
    }

    @Test(
        "an unknown room is 404",
        arguments: ["/live/no/index.m3u8", "/live/no/media.m3u8?sid=no-1", "/live/no/run/s1.m4s", "/live/no.flv"]
    )
    func unknownRoom(path: String) throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let answer = try fixture.exchange(path)
        #expect(answer?.status == 404)
        #expect(answer?.head.headerFields[.cacheControl] == "no-store")
        #expect(answer?.head.headerFields[.accessControlAllowOrigin] == "*")
        #expect(try fixture.exchange(path, method: .head)?.status == 404)
        #expect(fixture.audience.events.isEmpty)
    }

    @Test(
        "an unknown session id, or another room's, is 403",
        arguments: ["/live/r/index.m3u8?sid=", "/live/r/media.m3u8?sid=", "/live/r.flv?sid="]
    )
    func forgedSession(path: String) throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        for sid in ["forged", "other-1", ""] {
            #expect(try fixture.exchange(path + sid)?.status == 403)
        }
        #expect(fixture.audience.events.isEmpty)
        #expect(fixture.channel.isActive)
    }

    @Test("other methods are 405 with Allow", arguments: [HTTPRequest.Method.post, .put, .delete, .patch])
    func otherMethods(method: HTTPRequest.Method) throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let answer = try fixture.exchange("/live/r/index.m3u8", method: method)
        #expect(answer?.status == 405 && answer?.head.headerFields[.allow] == "GET, HEAD, OPTIONS")
        #expect(try fixture.exchange("/live/r.flv", method: method)?.status == 405)
        #expect(fixture.audience.events.isEmpty)
        #expect(fixture.backend.paths.isEmpty)
    }

    @Test("HEAD has the header of GET, and is never counted")
    func head() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let get = try fixture.exchange("/live/r/media.m3u8?sid=r-7")
        let head = try fixture.exchange("/live/r/media.m3u8?sid=r-7", method: .head)
        #expect(head?.head == get?.head)
        #expect(head?.body.readableBytes == 0)
        let stream = try fixture.exchange("/live/r.flv", method: .head)
        #expect(stream?.status == 200)
        #expect(stream?.head.headerFields[.contentType] == "video/x-flv")
        #expect(fixture.audience.eventLog == ["playlist r-7"])
        #expect(fixture.feeds.feed("r")?.activity.viewers == 0)
    }

    @Test("requests above a client's rate limit get 429 in order, media or not")
    func budget() throws {
        let limits = HTTPLimits(requests: (perSecond: 0.001, burst: 3))
        let fixture = try MediaServiceFixture(limits: limits, from: "192.0.2.7")
        fixture.goOnAir("r")
        #expect(try fixture.exchange("/live/r/index.m3u8")?.status == 200)
        #expect(try fixture.exchange("/live/r/index.m3u8")?.status == 200)
        try fixture.ask("/v1/slow")
        try fixture.ask("/v1/other")
        try fixture.ask("/live/r/index.m3u8")
        #expect(try fixture.answer() == nil)
        fixture.backend.respond("slow")
        #expect(try fixture.answer()?.text == "slow")
        #expect(try fixture.answer()?.status == 429)
        #expect(try fixture.answer()?.status == 429)
        #expect(fixture.backend.paths == ["/v1/slow"])
    }

    @Test(
        "a 429 response has Retry-After and the API's error body",
        arguments: [(0.4, 3), (0.1, 10), (0, 3600)]
    )
    func comeBack(rate: Double, seconds: Int) throws {
        let fixture = try MediaServiceFixture(
            limits: HTTPLimits(requests: (perSecond: rate, burst: 1)),
            from: "192.0.2.7"
        )
        fixture.goOnAir("r")
        #expect(try fixture.exchange("/live/r/index.m3u8")?.status == 200)
        for path in ["/v1/rooms", "/live/r/index.m3u8"] {
            let answer = try #require(try fixture.exchange(path))
            #expect(answer.status == 429 && answer.head.headerFields[.retryAfter] == "\(seconds)", "\(path)")
            let error = try StageError.errorBody(in: answer.text)
            #expect(error["status"] as? Int == 429 && error["code"] as? Int == 429)
            #expect(error["retryable"] as? Bool == true && error["retry_after"] as? Int == seconds)
        }
        #expect(MediaResponse.tooManyRequests(rate: 1000).retryAfter == 1)
    }

    @Test("closes a client that stops reading during a response, but not one that resumes")
    func blockedClient() throws {
        let fixture = try MediaServiceFixture(limits: HTTPLimits(answer: .zero, idleCheck: .seconds(5)))
        func takes(_ isWritable: Bool) {
            fixture.channel.isWritable = isWritable
            fixture.channel.pipeline.fireChannelWritabilityChanged()
        }
        try fixture.ask("/v1/events")
        takes(false)
        takes(true)
        fixture.loop.advanceTime(by: .seconds(5))
        #expect(fixture.channel.isActive)
        takes(false)
        fixture.loop.advanceTime(by: .seconds(5))
        #expect(!fixture.channel.isActive)
    }

    @Test("loopback has a limit like any client, and clients forwarded by a local proxy have their own")
    func loopbackBudget() throws {
        let fixture = try MediaServiceFixture(
            limits: HTTPLimits(requests: (perSecond: 0.001, burst: 3)),
            from: "127.0.0.1"
        )
        fixture.goOnAir("r")
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        for fields in [[:], [name: "203.0.113.1"], [name: "203.0.113.2"]] {
            let statuses = try (0..<4).map { _ in try fixture.exchange("/live/r/index.m3u8", fields: fields)?.status }
            #expect(statuses == [200, 200, 200, 429], "\(fields)")
        }
    }
}
