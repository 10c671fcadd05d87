import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2

@testable import FanOut

/// An HTTP/2 connection to the service: a client that sends and receives frames, and a server with the handlers of the
/// gateway.
final class HTTP2Connection {
    /// A response as far as it has arrived.
    struct Response {
        var fields = HPACKHeaders()
        var body = ByteBuffer()
        /// The number of DATA frames.
        var frames = 0
        var isComplete = false
        /// The reason of a reset.
        var reset: HTTP2ErrorCode?

        var status: Int { fields.first(name: ":status").flatMap { Int($0) } ?? 0 }
        var text: String { String(buffer: body) }
    }

    let server: EmbeddedChannel
    let client: EmbeddedChannel
    let connection = MediaConnection()
    /// The paths of the requests that passed the handler.
    private(set) var forwarded: [String] = []
    private(set) var responses: [HTTP2StreamID: Response] = [:]
    /// The number of writes to the server's socket.
    private(set) var writes = 0
    /// Whether the server has sent GOAWAY.
    private(set) var isEnding = false
    private let fixture: MediaServiceFixture
    private var nextStream: HTTP2StreamID = 1

    /// - Parameter settings: The settings of the client.
    init(
        to fixture: MediaServiceFixture,
        from address: String = "127.0.0.1",
        settings: HTTP2Settings = []
    ) throws {
        self.fixture = fixture
        server = EmbeddedChannel(loop: fixture.loop)
        client = EmbeddedChannel(loop: fixture.loop)
        server.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        try client.pipeline.syncOperations.addHandler(NIOHTTP2Handler(mode: .client, initialSettings: settings))
        let recorder = ForwardRecorder { [unowned self] path in forwarded.append(path) }
        try server.pipeline.syncOperations.addHandlers([
            NIOHTTP2Handler(mode: .server), HTTP2MediaHandler(service: fixture.service, connection: connection),
            NIOHTTP2ServerConnectionManagementHandler(
                eventLoop: fixture.loop,
                configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil)
            ),
            recorder,
        ])
        for channel in [client, server] {
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
        }
        try exchange()
        writes = 0
    }

    /// Sends a request.
    ///
    /// - Parameter isOpen: Whether a body follows.
    @discardableResult
    func ask(
        _ path: String,
        method: String = "GET",
        _ fields: [(String, String)] = [],
        isOpen: Bool = false
    ) throws -> HTTP2StreamID {
        let stream = nextStream
        nextStream = stream.advanced(by: 2)
        let head = [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
        try send(.headers(.init(headers: HPACKHeaders(head + fields), endStream: !isOpen)), on: stream)
        try exchange()
        return stream
    }

    /// Sends a frame.
    func send(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID) throws {
        client.writeAndFlush(HTTP2Frame(streamID: stream, payload: payload), promise: nil)
    }

    /// Sends a request, and returns what has arrived of its response.
    func response(_ path: String, method: String = "GET", _ fields: [(String, String)] = []) throws -> Response {
        responses[try ask(path, method: method, fields)] ?? Response()
    }

    /// Moves bytes between client and server until there are no more, and reads what the client has received.
    func exchange() throws {
        var isMoving = true
        while isMoving {
            isMoving = false
            fixture.loop.run()
            while let bytes = try client.readOutbound(as: ByteBuffer.self) {
                isMoving = true
                try server.writeInbound(bytes)
            }
            while let bytes = try server.readOutbound(as: ByteBuffer.self) {
                isMoving = true
                writes += 1
                try client.writeInbound(bytes)
            }
        }
        while let frame = try client.readInbound(as: HTTP2Frame.self) { receive(frame) }
    }

    private func receive(_ frame: HTTP2Frame) {
        var response = responses[frame.streamID] ?? Response()
        switch frame.payload {
        case .headers(let headers):
            response.fields = headers.headers
            response.isComplete = headers.endStream
        case .data(let data):
            if case .byteBuffer(let bytes) = data.data { response.body.writeImmutableBuffer(bytes) }
            response.frames += 1
            response.isComplete = data.endStream
        case .rstStream(let reason):
            response.reset = reason
        case .goAway:
            isEnding = true
            return
        default:
            return
        }
        responses[frame.streamID] = response
    }
}

/// Stands in for the multiplexer, and records the requests that reach it.
private final class ForwardRecorder: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let forward: (String) -> Void

    init(_ forward: @escaping (String) -> Void) { self.forward = forward }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .headers(let headers) = unwrapInboundIn(data).payload else { return }
        forward(headers.headers.first(name: ":path") ?? "trailer")
    }
}
