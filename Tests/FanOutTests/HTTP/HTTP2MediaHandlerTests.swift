import HLS
import HTTPTypes
import Media
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Stage
import Testing

@testable import FanOut

@Suite("Playback requests on an HTTP/2 connection")
struct HTTP2MediaHandlerTests {
    /// Returns the addresses of the segments of a room on air.
    private func files(_ fixture: MediaServiceFixture) throws -> [String] {
        let playlist = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-1")).text
        return playlist.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { "/live/r/\($0)" }
    }

    /// Returns a blocking reload of the next playlist, and the address of the part that it announces.
    private func next(_ fixture: MediaServiceFixture) throws -> (reload: String, part: String) {
        let text = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-1")?.text)
        let hint = try #require(text.firstMatch(of: /HINT:TYPE=PART,URI="(.+\/s(\d+)\.p(\d+)\.m4s)"/)).output
        return ("/live/r/media.m3u8?sid=r-2&_HLS_msn=\(hint.2)&_HLS_part=\(hint.3)", "/live/r/\(hint.1)")
    }

    // MARK: Responses

    @Test("answers playlists and files as over HTTP/1.1, whole, in parts, to HEAD and with errors")
    func same() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let files = try files(fixture)
        let range = try #require(HTTPField.Name("Range"))
        let requests: [(path: String, method: HTTPRequest.Method, fields: [HTTPField.Name: String])] = [
            ("/live/r/media.m3u8?sid=r-1", .get, [:]),
            ("/live/r/media.m3u8?sid=r-1", .get, [.acceptEncoding: "gzip"]),
            ("/live/r/media.m3u8?sid=r-1", .head, [:]),
            ("/live/r/media.m3u8", .get, [:]),
            ("/live/r/media.m3u8?sid=r-1&_HLS_msn=999999", .get, [:]),
            (files[0], .get, [:]), (files[0], .head, [:]), (files[0], .get, [range: "bytes=3-9"]),
            (files[0], .get, [range: "bytes=99999999-"]), (files[0] + "x", .get, [:]),
            ("/live/none/index.m3u8", .get, [:]),
        ]
        let line = try HTTP2Connection(to: fixture)
        for (path, method, fields) in requests {
            let expected = try #require(try fixture.exchange(path, method: method, fields: fields))
            let lines = fields.map { ($0.key.canonicalName, $0.value) }
            let response = try line.response(path, method: method.rawValue, lines)
            #expect(response.status == expected.status, "\(path)")
            #expect(response.body == expected.body, "\(path)")
            #expect(response.isComplete, "\(path)")
            let found = response.fields.map { "\($0.name): \($0.value)" }.filter { !$0.hasPrefix(":") }
            let fields = expected.head.headerFields.map { "\($0.name.canonicalName): \($0.value)" }
            #expect(found.sorted() == fields.sorted(), "\(path)")
        }
        #expect(line.forwarded.isEmpty)
    }

    @Test("answers the requests of one read with one flush")
    func flushes() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let files = try files(fixture)
        let line = try HTTP2Connection(to: fixture)
        let flushes = FlushCounter()
        try line.server.pipeline.syncOperations.addHandler(flushes, position: .first)
        var bytes = ByteBuffer()
        for (index, file) in files.prefix(3).enumerated() {
            let stream = HTTP2StreamID(1 + 2 * index)
            let head = [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", file)]
            try line.send(.headers(.init(headers: HPACKHeaders(head), endStream: true)), on: stream)
            while let part = try line.client.readOutbound(as: ByteBuffer.self) { bytes.writeImmutableBuffer(part) }
        }
        try line.server.writeInbound(bytes)
        #expect(flushes.count == 1)
        try line.exchange()
        #expect(line.responses.values.count { $0.isComplete && $0.status == 200 && $0.body.readableBytes > 1000 } == 3)
        // All have arrived, so that nothing is pending.
        line.connection.began((2 << 20) - 1)
        #expect(!line.connection.isFull)
    }

    @Test("attributes files to the connection's viewer, and refuses a client above its rate limit")
    func counted() throws {
        let fixture = try MediaServiceFixture(limits: HTTPLimits(requests: (perSecond: 0.001, burst: 3)))
        fixture.goOnAir("r")
        let files = try files(fixture)
        let line = try HTTP2Connection(to: fixture, from: "192.0.2.7")
        _ = try line.response("/live/r/media.m3u8?sid=r-5")
        let bodies = try files.prefix(2).map { try line.response($0).body.readableBytes }
        #expect(fixture.audience.eventLog.suffix(3) == ["playlist r-5", "delivered r-5", "delivered r-5"])
        #expect(fixture.audience.events.suffix(2).map(\.bytes) == bodies)
        let refusal = try line.response(files[0])
        #expect(refusal.status == 429 && refusal.fields.first(name: "retry-after") == "1000")
    }

    // MARK: Forwarding

    @Test("forwards all other requests, requests with a body, and those of players with a token")
    func forwards() throws {
        let trust = ClientTrustPolicy { _, _ in ViewerBearer() }
        let fixture = try MediaServiceFixture(trust: trust)
        fixture.goOnAir("r")
        let line = try HTTP2Connection(to: fixture)
        let paths = [
            "/", "/v1/rooms", "/live/r.flv", "/live/r/index.m3u8?token=x", "/live/r/a/b/c", "*", "/live//index.m3u8",
        ]
        for path in paths { try line.ask(path) }
        try line.ask("/live/r/media.m3u8?sid=r-1", [("x-footlight-relay", "x")])
        for method in ["POST", "OPTIONS", "get", "DELETE"] { try line.ask("/live/r/index.m3u8", method: method) }
        let open = try line.ask("/live/r/index.m3u8", isOpen: true)
        try line.send(.headers(.init(headers: ["x-checksum": "1"], endStream: true)), on: open)
        try line.exchange()
        let index = "/live/r/index.m3u8"
        let others = ["/live/r/media.m3u8?sid=r-1"] + Array(repeating: index, count: 5) + ["trailer"]
        #expect(line.forwarded == paths + others)
        #expect(line.responses.isEmpty)
        // Without a token it is answered.
        #expect(try line.response(index).status == 200)
    }

    @Test("forwards requests while the client has not read earlier responses")
    func full() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let line = try HTTP2Connection(to: fixture)
        line.connection.began(2 << 20)
        try line.ask("/live/r/index.m3u8")
        #expect(line.forwarded == ["/live/r/index.m3u8"])
        line.connection.completed(1)
        #expect(try line.response("/live/r/index.m3u8").status == 200)
    }

    // MARK: Waiting

    @Test("answers a blocking reload and the part that it announces together when the part arrives")
    func reload() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let next = try next(fixture)
        let line = try HTTP2Connection(to: fixture)
        let (reload, part) = (try line.ask(next.reload), try line.ask(next.part))
        #expect(line.responses.isEmpty && fixture.service.waits.count == 2)
        let flushes = FlushCounter()
        try line.server.pipeline.syncOperations.addHandler(flushes, position: .first)
        fixture.goOn(program, from: 12_000, milliseconds: 400)
        #expect(flushes.count == 1)
        try line.exchange()
        #expect(line.responses[reload]?.text.contains(next.part.dropFirst("/live/r/".count)) == true)
        #expect(line.responses[part]?.body.getString(at: 4, length: 4) == "moof")
        #expect(line.responses.values.allSatisfy { $0.isComplete })
        #expect(fixture.service.waits.count == 0)
        #expect(fixture.audience.events.last { $0.sid == "r-2" }?.playback == .llhls)
    }

    @Test("a reset, a close and the removal of the handler end waits without a response")
    func endedWaits() throws {
        let fixture = try MediaServiceFixture()
        let program = fixture.goOnAir("r")
        let next = try next(fixture)
        let line = try HTTP2Connection(to: fixture)
        let reload = try line.ask(next.reload)
        try line.send(.rstStream(.cancel), on: reload)
        try line.exchange()
        #expect(fixture.service.waits.count == 0)
        try line.ask(next.reload)
        #expect(fixture.service.waits.count == 1)
        try line.server.close().wait()
        fixture.loop.run()
        #expect(fixture.service.waits.count == 0)
        fixture.goOn(program, from: 12_000, milliseconds: 400)
        #expect(fixture.audience.eventLog.allSatisfy { $0 == "playlist r-1" })
    }

    @Test("refuses waits above a session's limit, and gives up waiting when the listener shuts down")
    func givenUp() throws {
        let fixture = try MediaServiceFixture(limits: HTTPLimits(waits: (perSession: 1, total: 10)))
        fixture.goOnAir("r")
        let next = try next(fixture)
        let line = try HTTP2Connection(to: fixture)
        let reload = try line.ask(next.reload)
        #expect(try line.response(next.reload).status == 429)
        line.server.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        try line.exchange()
        #expect(line.responses[reload]?.status == 503 && line.responses[reload]?.isComplete == true)
        #expect(line.isEnding && fixture.service.waits.count == 0)
    }

    // MARK: Flow control

    @Test("sends no more than the client's window, and the rest when it grows")
    func window() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let file = try #require(try files(fixture).first)
        let whole = try #require(try fixture.exchange(file)).body
        let line = try HTTP2Connection(
            to: fixture,
            settings: [HTTP2Setting(parameter: .initialWindowSize, value: 1000)]
        )
        let stream = try line.ask(file)
        #expect(line.responses[stream]?.body.readableBytes == 1000)
        #expect(line.responses[stream]?.isComplete == false)
        for _ in 0..<3 { try line.send(.windowUpdate(windowSizeIncrement: 100), on: stream) }
        try line.exchange()
        #expect(line.responses[stream]?.body.readableBytes == 1300)
        try line.send(.windowUpdate(windowSizeIncrement: 1 << 20), on: stream)
        try line.exchange()
        #expect(line.responses[stream]?.body == whole)
        #expect(line.responses[stream]?.isComplete == true && line.forwarded.isEmpty)
    }

    @Test("resets a response that the client does not read, and counts it as pending no longer")
    func unread() throws {
        let fixture = try MediaServiceFixture(limits: HTTPLimits(answer: .zero, idleCheck: .seconds(5)))
        fixture.goOnAir("r")
        let file = try #require(try files(fixture).first)
        let line = try HTTP2Connection(to: fixture, settings: [HTTP2Setting(parameter: .initialWindowSize, value: 10)])
        let stream = try line.ask(file)
        line.connection.began((2 << 20) - 1)
        #expect(line.connection.isFull)
        fixture.loop.advanceTime(by: .seconds(5))
        try line.exchange()
        #expect(line.responses[stream]?.reset == .cancel)
        #expect(!line.connection.isFull)
    }

    // MARK: Idle connections

    @Test("ends a connection without streams after its idle timeout, and not one with a stream")
    func idle() throws {
        let fixture = try MediaServiceFixture(limits: HTTPLimits(idle: .zero, idleCheck: .seconds(5)))
        fixture.goOnAir("r")
        let line = try HTTP2Connection(to: fixture)
        let open = try line.ask("/v1/rooms")
        fixture.loop.advanceTime(by: .seconds(5))
        try line.exchange()
        #expect(!line.isEnding)
        try line.send(.rstStream(.cancel), on: open)
        try line.exchange()
        fixture.loop.advanceTime(by: .seconds(5))
        try line.exchange()
        #expect(line.isEnding)
        fixture.loop.advanceTime(by: .seconds(5))
        #expect(!line.server.isActive)
    }
}

/// Counts flushes that reach the socket.
private final class FlushCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var count = 0

    func flush(context: ChannelHandlerContext) {
        count += 1
        context.flush()
    }
}
