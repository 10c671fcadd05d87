import FanOut
@testable import Gateway
import Logging
import NIOCore
import NIOEmbedded
import Testing
import Viewership

@Suite("Connections of the public HTTP port")
struct PublicHTTPChannelTests {
    /// An embedded connection with the state of its server.
    private final class ConnectionFixture {
        enum Server: Equatable {
            case none, added, neverAdded
        }

        let channel: EmbeddedChannel
        private(set) var server = Server.none

        static func service(_ limits: HTTPLimits = HTTPLimits()) throws -> MediaService {
            let loop = EmbeddedEventLoop()
            let configuration = FanOutConfiguration()
            let feeds = FeedDirectory(group: loop, configuration: configuration)
            feeds.open("show")
            let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
            ledger.roomBegan("show", sid: "RM_1")
            let hls = HLSDirectory(configuration: configuration.hls)
            return MediaService(feeds: feeds, hls: hls, audience: ledger, limits: limits)
        }

        init(service: MediaService? = nil, from address: String? = nil, isOpen: Bool = true) throws {
            channel = EmbeddedChannel(loop: EmbeddedEventLoop())
            if let address { channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1) }
            let service = try service ?? Self.service()
            let setup = PublicHTTPChannel(responder: { _, _, _ in }, service: service, headerLimit: 1024)
            let connection = try setup.setup(channel: channel, logger: Logger(label: "test")).wait()
            connection.servers.assumeIsolated().whenSuccess { [self] in server = $0 == nil ? .neverAdded : .added }
            guard isOpen else { return }
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
        }

        func send(_ text: String) throws {
            try channel.writeInbound(ByteBuffer(string: text))
            channel.embeddedEventLoop.run()
        }

        /// Returns the data written since the last call.
        func written() throws -> String {
            var text = ""
            while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
            return text
        }

        func has(_ handler: (some ChannelHandler).Type) -> Bool {
            (try? channel.pipeline.syncOperations.context(handlerType: handler)) != nil
        }
    }

    @Test("media requests add no server; the first other request adds it on the same connection")
    func late() throws {
        let fixture = try ConnectionFixture()
        for _ in 0..<3 {
            try fixture.send("GET /live/nobody/index.m3u8 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try fixture.written().hasPrefix("HTTP/1.1 404"))
        }
        #expect(fixture.server == .none)
        try fixture.send("GET /v1/rooms HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(fixture.server == .added)
        try fixture.channel.close().wait()
    }

    @Test("an HTTP-FLV stream removes the HTTP handlers and ignores pipelined requests")
    func stream() throws {
        let fixture = try ConnectionFixture()
        try fixture.send(
            "GET /live/show.flv HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/rooms HTTP/1.1\r\nHost: a\r\n\r\nGET /li"
        )
        #expect(fixture.server == .neverAdded)
        #expect(try fixture.written().hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: video/x-flv"))
        #expect(!fixture.has(MediaHTTPHandler.self) && !fixture.has(LazyServerHandler.self))
        #expect(!fixture.has(RequestLimitHandler.self))
        try fixture.send("ve/show.flv HTTP/1.1\r\nHost: a\r\n\r\n")
        try fixture.send("\u{16}\u{3}\u{1}")
        #expect(fixture.channel.isActive)
        #expect(try fixture.written() == "")
        try fixture.channel.close().wait()
    }

    @Test("limits the connections of a client, and attributes those of a proxy to the forwarded client")
    func connectionLimits() throws {
        let service = try ConnectionFixture.service(HTTPLimits(connections: 2))
        let first = try (0..<2).map { _ in try ConnectionFixture(service: service, from: "127.0.0.1") }
        #expect(try !ConnectionFixture(service: service, from: "127.0.0.1", isOpen: false).channel.isActive)
        let other = try ConnectionFixture(service: service, from: "192.0.2.1")
        #expect(other.channel.isActive)
        #expect(service.load.refusedConnections == 1)
        // A proxy that forwards for a client.
        try first[0].send("GET /live/nobody/index.m3u8 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n")
        let third = try ConnectionFixture(service: service, from: "127.0.0.1")
        #expect(try !ConnectionFixture(service: service, from: "127.0.0.1", isOpen: false).channel.isActive)
        try third.channel.close().wait()
        third.channel.embeddedEventLoop.run()
        let fourth = try ConnectionFixture(service: service, from: "127.0.0.1")
        // Only a proxy on this machine may forward for a client.
        try other.send("GET /live/nobody/index.m3u8 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n")
        let second = try ConnectionFixture(service: service, from: "192.0.2.1")
        #expect(try !ConnectionFixture(service: service, from: "192.0.2.1", isOpen: false).channel.isActive)
        for fixture in first + [other, fourth, second] { try fixture.channel.close().wait() }
    }

    @Test("invalid HTTP adds no server; a half-closed connection adds it")
    func invalidOrHalfClosed() throws {
        let fixture = try ConnectionFixture()
        #expect(throws: (any Error).self) { try fixture.send("\u{16}\u{3}\u{1}\r\n\r\n") }
        #expect(try fixture.written().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        fixture.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!fixture.channel.isActive && fixture.server == .neverAdded)
        let other = try ConnectionFixture()
        other.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(other.server == .added)
    }

    @Test("a closed connection adds no server")
    func ended() throws {
        let fixture = try ConnectionFixture()
        try fixture.channel.close().wait()
        fixture.channel.embeddedEventLoop.run()
        #expect(fixture.server == .neverAdded)
    }
}
