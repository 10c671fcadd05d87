import FanOut
@testable import Gateway
import Logging
import NIOCore
import NIOEmbedded
import Testing
import Viewership

@Suite("A connection to the public port")
struct MediaFirstChannelTests {
    /// One connection in memory, and whether the server for all else has come to it.
    private final class Stand {
        enum Server: Equatable {
            case none, here, neverComes
        }

        let channel: EmbeddedChannel
        private(set) var server = Server.none

        static func site(_ limits: HTTPLimits = HTTPLimits()) throws -> MediaSite {
            let loop = EmbeddedEventLoop()
            let configuration = FanOutConfiguration()
            let feeds = FeedDirectory(group: loop, configuration: configuration)
            feeds.open("show")
            let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
            ledger.roomBegan("show", sid: "RM_1")
            let hls = HLSDirectory(configuration: configuration.hls)
            return MediaSite(feeds: feeds, hls: hls, audience: ledger, limits: limits)
        }

        init(site: MediaSite? = nil, from address: String? = nil, isOpen: Bool = true) throws {
            channel = EmbeddedChannel(loop: EmbeddedEventLoop())
            if let address { channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1) }
            let site = try site ?? Self.site()
            let setup = MediaFirstChannel(responder: { _, _, _ in }, site: site, headerLimit: 1024)
            let connection = try setup.setup(channel: channel, logger: Logger(label: "test")).wait()
            connection.server.assumeIsolated().whenSuccess { [self] in server = $0 == nil ? .neverComes : .here }
            guard isOpen else { return }
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
        }

        func send(_ text: String) throws {
            try channel.writeInbound(ByteBuffer(string: text))
            channel.embeddedEventLoop.run()
        }

        /// What was written since the last call.
        func written() throws -> String {
            var text = ""
            while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
            return text
        }

        func has(_ handler: (some ChannelHandler).Type) -> Bool {
            (try? channel.pipeline.syncOperations.context(handlerType: handler)) != nil
        }
    }

    @Test("Requests for media never make the server for all else; the first other one does, on the same connection")
    func late() throws {
        let stand = try Stand()
        for _ in 0..<3 {
            try stand.send("GET /live/nobody/index.m3u8 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try stand.written().hasPrefix("HTTP/1.1 404"))
        }
        #expect(stand.server == .none)
        try stand.send("GET /v1/rooms HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(stand.server == .here)
        try stand.channel.close().wait()
    }

    @Test("A viewer by HTTP-FLV keeps nothing of what read the request, and what it pipelines behind does no harm")
    func stream() throws {
        let stand = try Stand()
        try stand.send("GET /live/show.flv HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/rooms HTTP/1.1\r\nHost: a\r\n\r\nGET /li")
        #expect(stand.server == .neverComes)
        #expect(try stand.written().hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: video/x-flv"))
        #expect(!stand.has(MediaHTTPHandler.self) && !stand.has(LateServer.self))
        #expect(!stand.has(RequestLimitHandler.self))
        try stand.send("ve/show.flv HTTP/1.1\r\nHost: a\r\n\r\n")
        try stand.send("\u{16}\u{3}\u{1}")
        #expect(stand.channel.isActive)
        #expect(try stand.written() == "")
        try stand.channel.close().wait()
    }

    @Test("A client's connections have a limit; beyond it they are closed, and a proxy's that forwards are not counted")
    func crowded() throws {
        let site = try Stand.site(HTTPLimits(connections: 2))
        let first = try (0..<2).map { _ in try Stand(site: site, from: "127.0.0.1") }
        #expect(try !Stand(site: site, from: "127.0.0.1", isOpen: false).channel.isActive)
        let other = try Stand(site: site, from: "192.0.2.1")
        #expect(other.channel.isActive)
        #expect(site.load.refusedConnections == 1)
        // It says for whom it asks.
        try first[0].send("GET /live/nobody/index.m3u8 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n")
        let third = try Stand(site: site, from: "127.0.0.1")
        #expect(try !Stand(site: site, from: "127.0.0.1", isOpen: false).channel.isActive)
        try third.channel.close().wait()
        third.channel.embeddedEventLoop.run()
        let fourth = try Stand(site: site, from: "127.0.0.1")
        // Nobody but a proxy on this machine says for whom it asks.
        try other.send("GET /live/nobody/index.m3u8 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n")
        let second = try Stand(site: site, from: "192.0.2.1")
        #expect(try !Stand(site: site, from: "192.0.2.1", isOpen: false).channel.isActive)
        for stand in first + [other, fourth, second] { try stand.channel.close().wait() }
    }

    @Test("What is no HTTP makes no server; a client that has closed its side does, which ends the connection")
    func strange() throws {
        let stand = try Stand()
        #expect(throws: (any Error).self) { try stand.send("\u{16}\u{3}\u{1}\r\n\r\n") }
        #expect(try stand.written().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        stand.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!stand.channel.isActive && stand.server == .neverComes)
        let other = try Stand()
        other.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(other.server == .here)
    }

    @Test("A connection that ends has asked nothing of the server")
    func ended() throws {
        let stand = try Stand()
        try stand.channel.close().wait()
        stand.channel.embeddedEventLoop.run()
        #expect(stand.server == .neverComes)
    }
}
