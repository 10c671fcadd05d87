@testable import FanOut
import HLS
import HTTPTypes
import Media
import NIOCore
import NIOEmbedded
import NIOHTTPTypes

/// The media side behind one connection that exists in memory only, with a server behind it that answers by hand.
final class SiteStand {
    let loop = EmbeddedEventLoop()
    let audience = RecordingAudience()
    let feeds: FeedDirectory
    let hls: HLSDirectory
    let site: MediaSite
    let channel: EmbeddedChannel
    let behind = ServerBehind()

    init(
        limits: HTTPLimits = HTTPLimits(),
        reading: PlayerReading = PlayerReading(),
        from address: String? = nil
    ) throws {
        let configuration = FanOutConfiguration()
        feeds = FeedDirectory(group: loop, configuration: configuration)
        hls = HLSDirectory(configuration: configuration.hls)
        // The same date on all answers, whenever they are given.
        let dates = AnswerDates { 784_111_777 }
        site = MediaSite(
            feeds: feeds,
            hls: hls,
            audience: audience,
            limits: limits,
            reading: reading,
            dates: dates
        )
        channel = EmbeddedChannel(loop: loop)
        if let address { channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1) }
        try channel.pipeline.syncOperations.addHandlers([MediaHTTPHandler(site: site), behind])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
    }

    /// Opens a room and puts `seconds` of a program on the air.
    @discardableResult
    func goOnAir(_ room: String, seconds: Int = 12) -> HLSProgram {
        let program = hls.open(room)
        feeds.open(room).attach(program)
        for packet in Packets.program(seconds: seconds) { program.receive(packet) }
        return program
    }

    /// One more connection to the same site, on the same loop.
    func connect() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        try channel.pipeline.syncOperations.addHandlers([MediaHTTPHandler(site: site), ServerBehind()])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
        return channel
    }

    /// Puts more of a program on the air, and lets its waiting players be answered.
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

    /// The next whole answer that left the connection; nil when there is none.
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

    /// Asks, and takes the answer.
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

/// Stands for the server of everything that is no media: keeps the requests that reach it.
final class ServerBehind: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private(set) var paths: [String] = []
    private(set) var ends = 0
    private(set) var bodies = ""
    /// Was told that the listener ends.
    private(set) var isQuiescing = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): paths.append(head.path ?? "")
        case .body(let buffer): bodies += String(buffer: buffer)
        case .end: ends += 1
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { isQuiescing = true }
        context.fireUserInboundEventTriggered(event)
    }

    /// Begins an answer to the oldest request that has none, and does not end it.
    func begin() {
        context?.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .ok))), promise: nil)
    }

    /// Answers the oldest request that has no answer yet.
    func respond(_ text: String) {
        context?.write(wrapOutboundOut(.head(HTTPResponse(status: .ok))), promise: nil)
        context?.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
        context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
