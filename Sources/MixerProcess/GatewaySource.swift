import NIOCore
import NIOHTTP1
import NIOPosix

/// The gateway's address, and the token of the mixer.
///
/// Every request of a mixer to its gateway goes over plain HTTP to this one address, which is no user's choice. The
/// mixer is confined, so that `OutboundConnection`, whose client has threads, queues and TLS of its own, is not used.
struct GatewaySource: Sendable {
    var host: String
    var port: Int
    var path: String
    var token: String
    /// The read timeout of the event stream; heartbeats come every five seconds.
    var silence: TimeAmount = .seconds(15)
    var connectDeadline: TimeAmount = .seconds(5)

    /// Connects, and adds the HTTP client's handlers and those of `initialize`.
    func connect(
        on group: any EventLoopGroup,
        _ initialize: @escaping @Sendable (ChannelPipeline.SynchronousOperations) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: group)
            .connectTimeout(connectDeadline)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try initialize(channel.pipeline.syncOperations)
                }
            }
            .connect(host: host, port: port)
    }

    /// Sends a request on a connection from `connect`.
    ///
    /// - Parameters:
    ///   - query: Appended to the path.
    ///   - body: The body with its media type, if any.
    func send(
        _ method: HTTPMethod,
        query: String = "",
        fields: [(String, String)] = [],
        body: (bytes: ByteBuffer, type: String)? = nil,
        on channel: any Channel
    ) {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: path + query)
        head.headers.add(name: "Host", value: "\(host):\(port)")
        head.headers.add(name: "Authorization", value: "Bearer \(token)")
        for (name, value) in fields { head.headers.add(name: name, value: value) }
        if let body {
            head.headers.add(name: "Content-Type", value: body.type)
            head.headers.add(name: "Content-Length", value: "\(body.bytes.readableBytes)")
        }
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        if let body { channel.write(HTTPClientRequestPart.body(.byteBuffer(body.bytes)), promise: nil) }
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }

    /// Sends a request on a connection of its own, and returns the response, with a body of at most `limit` bytes.
    ///
    /// Fails after `timeout` in all.
    func exchange(
        _ method: HTTPMethod,
        query: String = "",
        fields: [(String, String)] = [],
        body: (bytes: ByteBuffer, type: String)? = nil,
        limit: Int,
        within timeout: TimeAmount,
        on loop: any EventLoop
    ) -> EventLoopFuture<MixerRequestResponse> {
        let promise = loop.makePromise(of: MixerRequestResponse.self)
        let timer = loop.scheduleTask(in: timeout) { promise.fail(GatewayRequestError.timedOut) }
        let fields = fields + [("Connection", "close")]
        let connecting = connect(on: loop) { try $0.addHandler(GatewayResponseHandler(promise, limit: limit)) }
        connecting.whenFailure { promise.fail($0) }
        connecting.whenSuccess { send(method, query: query, fields: fields, body: body, on: $0) }
        promise.futureResult.whenComplete { _ in
            timer.cancel()
            // Also of a connection that is made too late.
            connecting.whenSuccess { $0.close(promise: nil) }
        }
        return promise.futureResult
    }
}

/// The reason why the gateway's response to a mixer's request is missing.
enum GatewayRequestError: Error {
    case timedOut
    case tooLarge
    case closed
}

/// The gateway's response to a mixer's request.
struct MixerRequestResponse: Sendable {
    var status: Int
    var body = ByteBuffer()
}

/// Collects one response up to a size limit.
private final class GatewayResponseHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<MixerRequestResponse>
    private let limit: Int
    private var response: MixerRequestResponse?

    init(_ promise: EventLoopPromise<MixerRequestResponse>, limit: Int) {
        self.promise = promise
        self.limit = limit
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            response = MixerRequestResponse(status: Int(head.status.code))
            let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            if length > limit { promise.fail(GatewayRequestError.tooLarge) }
        case .body(var bytes):
            guard (response?.body.readableBytes ?? 0) + bytes.readableBytes <= limit else {
                return promise.fail(GatewayRequestError.tooLarge)
            }
            response?.body.writeBuffer(&bytes)
        case .end:
            if let response { promise.succeed(response) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // No effect after success.
        promise.fail(GatewayRequestError.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }
}
