import Foundation
import HLS
import HTTPTypes
import Media
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Stage
import Testing

@testable import FanOut

/// The media service behind an embedded channel, with a backend that a test answers by hand.
final class MediaServiceFixture {
    let loop = EmbeddedEventLoop()
    let audience = RecordingAudience()
    let feeds: FeedDirectory
    let hls: HLSDirectory
    let service: MediaService
    let channel: EmbeddedChannel
    let backend = BackendHandler()

    init(
        limits: HTTPLimits = HTTPLimits(),
        trust: ClientTrustPolicy = ClientTrustPolicy(),
        routing: NodeRouting? = nil,
        from address: String? = nil
    ) throws {
        let configuration = FanOutConfiguration()
        feeds = FeedDirectory(group: loop, configuration: configuration)
        hls = HLSDirectory(configuration: configuration.hls)
        // The same date on all responses.
        let dates = HTTPDateCache { 784_111_777 }
        var service = MediaService(
            feeds: feeds,
            hls: hls,
            audience: audience,
            limits: limits,
            trust: trust,
            dates: dates
        )
        service.routing = routing
        self.service = service
        channel = EmbeddedChannel(loop: loop)
        if let address { channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1) }
        try channel.pipeline.syncOperations.addHandlers([MediaHTTPHandler(service: service), backend])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
    }

    /// Opens a room and receives `seconds` of a program.
    @discardableResult
    func goOnAir(_ room: String, seconds: Int = 12) -> HLSProgram {
        let program = hls.open(room)
        feeds.open(room).attach(program)
        for packet in Packets.program(seconds: seconds) { program.receive(packet) }
        return program
    }

    /// Opens one more connection to the service, on the same loop.
    func connect() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        try channel.pipeline.syncOperations.addHandlers([MediaHTTPHandler(service: service), BackendHandler()])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
        return channel
    }

    /// Continues a program, and lets waiting requests be answered.
    func goOn(_ program: HLSProgram, from start: Int64, milliseconds: Int64) {
        let packets = Packets.program(from: start, seconds: Int(milliseconds / 1000) + 1)
        for packet in packets where packet.timestamp < start + milliseconds { program.receive(packet) }
        loop.run()
    }

    func ask(
        _ path: String,
        method: HTTPRequest.Method = .get,
        fields: [HTTPField.Name: String] = [:],
        on other: EmbeddedChannel? = nil
    ) throws {
        let channel = other ?? channel
        var request = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        for (name, value) in fields { request.headerFields[name] = value }
        try channel.writeInbound(HTTPRequestPart.head(request))
        try channel.writeInbound(HTTPRequestPart.end(nil))
    }

    /// Returns the next complete response; nil if there is none.
    func answer(on other: EmbeddedChannel? = nil) throws -> Answer? {
        let channel = other ?? channel
        guard let first = try channel.readOutbound(as: HTTPResponsePart.self) else { return nil }
        guard case .head(let head) = first else { return nil }
        var body = ByteBuffer()
        while let part = try channel.readOutbound(as: HTTPResponsePart.self) {
            switch part {
            case .head: return nil
            case .body(let buffer): body.writeImmutableBuffer(buffer)
            case .end: return Answer(head: head, body: body)
            }
        }
        return nil
    }

    /// Sends a request and returns the response.
    func exchange(
        _ path: String,
        method: HTTPRequest.Method = .get,
        fields: [HTTPField.Name: String] = [:]
    ) throws -> Answer? {
        try ask(path, method: method, fields: fields)
        return try answer()
    }

    struct Answer {
        var head: HTTPResponse
        var body: ByteBuffer

        var status: Int { head.status.code }
        var text: String { String(buffer: body) }
    }
}

/// Stands in for the server behind, and records the requests that reach it.
final class BackendHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private(set) var paths: [String] = []
    private(set) var heads: [HTTPRequest] = []
    private(set) var ends = 0
    private(set) var bodies = ""
    /// Whether the listener's shutdown was signalled.
    private(set) var isQuiescing = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            paths.append(head.path ?? "")
            heads.append(head)
        case .body(let buffer): bodies += String(buffer: buffer)
        case .end: ends += 1
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { isQuiescing = true }
        context.fireUserInboundEventTriggered(event)
    }

    /// Starts a response to the oldest unanswered request, without ending it.
    func begin() {
        context?.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .ok))), promise: nil)
    }

    /// Answers the oldest unanswered request.
    func respond(_ text: String) {
        context?.write(wrapOutboundOut(.head(HTTPResponse(status: .ok))), promise: nil)
        context?.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
        context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

/// A connection to the service that sends and receives bytes.
final class RawHTTPConnection {
    let channel: EmbeddedChannel
    let backend = BackendHandler()

    init(to fixture: MediaServiceFixture, from address: String = "127.0.0.1") throws {
        channel = EmbeddedChannel(loop: fixture.loop)
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        let pipeline = channel.pipeline.syncOperations
        let media = MediaHTTPHandler(service: fixture.service)
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        let limit = RequestLimitHandler(limits: fixture.service.limits)
        try pipeline.addHandlers([HTTPServerCodec(), limit, media, backend])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
    }

    /// Sends a request with additional header lines, and returns the response.
    func ask(_ path: String, _ fields: String = "", method: String = "GET") throws -> [UInt8] {
        try send("\(method) \(path) HTTP/1.1\r\nHost: a.example\r\n\(fields)\r\n")
    }

    /// Sends bytes, and returns the response.
    func send(_ text: String) throws -> [UInt8] {
        try channel.writeInbound(ByteBuffer(string: text))
        return try received()
    }

    /// Returns the bytes received since the last call.
    func received() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        return bytes
    }
}

extension StageError {
    /// Returns the error in the body of a refusal.
    static func errorBody(in text: String) throws -> [String: Any] {
        let body = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]]
        return try #require(body?["error"])
    }
}
