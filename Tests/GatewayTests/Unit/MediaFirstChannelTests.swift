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

        init(gate: ConnectionGate = ConnectionGate(limit: .max)) throws {
            let loop = EmbeddedEventLoop()
            channel = EmbeddedChannel(loop: loop)
            let configuration = FanOutConfiguration()
            let feeds = FeedDirectory(group: loop, configuration: configuration)
            feeds.open("show")
            let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
            ledger.roomBegan("show", sid: "RM_1")
            let site = MediaSite(feeds: feeds, hls: HLSDirectory(configuration: configuration.hls), audience: ledger)
            let setup = MediaFirstChannel(responder: { _, _, _ in }, site: site, headerLimit: 1024, gate: gate)
            let connection = try setup.setup(channel: channel, logger: Logger(label: "test")).wait()
            connection.server.assumeIsolated().whenSuccess { [self] in server = $0 == nil ? .neverComes : .here }
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
        #expect(!stand.has(SegmentLane.self) && !stand.has(MediaHTTPHandler.self))
        #expect(!stand.has(LateServer.self))
        try stand.send("ve/show.flv HTTP/1.1\r\nHost: a\r\n\r\n")
        try stand.send("\u{16}\u{3}\u{1}")
        #expect(stand.channel.isActive)
        #expect(try stand.written() == "")
        try stand.channel.close().wait()
    }

    @Test("One connection too many is answered with 503 and closed, whatever it asks; the next is in when another ends")
    func full() throws {
        let gate = ConnectionGate(limit: 2)
        let stands = try (0..<2).map { _ in try Stand(gate: gate) }
        for request in ["GET /live/show/index.m3u8", "POST /v1/rooms"] {
            let surplus = try Stand(gate: gate)
            #expect(surplus.server == .neverComes && !surplus.has(MediaHTTPHandler.self))
            #expect(try surplus.written() == "" && surplus.channel.isActive)
            try surplus.send("\(request) HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try surplus.written()
            #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n") && answer.contains("53006"))
            #expect(answer.contains("\r\nRetry-After: 5\r\n") && answer.contains("\r\nConnection: close\r\n"))
            surplus.channel.embeddedEventLoop.advanceTime(by: .seconds(3))
            #expect(!surplus.channel.isActive)
        }
        #expect(gate.connections == 2 && gate.refused == 2)
        // One that asks nothing keeps its place for a moment only.
        let silent = try Stand(gate: gate)
        silent.channel.embeddedEventLoop.advanceTime(by: .seconds(3))
        #expect(!silent.channel.isActive)
        try stands[0].channel.close().wait()
        stands[0].channel.embeddedEventLoop.run()
        let next = try Stand(gate: gate)
        try next.send("GET /live/nobody/index.m3u8 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try next.written().hasPrefix("HTTP/1.1 404"))
        for stand in [stands[1], next] { try stand.channel.close().wait() }
    }

    @Test("What is no HTTP goes to the server, which says so, and so does a client that has closed its side")
    func strange() throws {
        let stand = try Stand()
        #expect(throws: (any Error).self) { try stand.send("\u{16}\u{3}\u{1}\r\n\r\n") }
        #expect(stand.server == .here)
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
