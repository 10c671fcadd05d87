import FanOut
import HTTPTypes
import HummingbirdCore
import Logging
import Media
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOSSL
import NIOTLS
import RTMP

/// A connection of the public HTTP or HTTPS port: media is served on the event loop, and the server for other requests
/// is added on demand.
///
/// The server takes an async channel and a task per connection, which need more memory than the rest of a viewer.
///
/// Over TLS, ALPN selects HTTP/1.1 or HTTP/2 (RFC 7301). Each stream of HTTP/2 is a channel with the same handlers as a
/// connection of HTTP/1.1, but for the codec, unless the connection's `HTTP2MediaHandler` answers it.
struct PublicHTTPChannel: ServerChildChannel, HTTPChannelHandler {
    /// A connection with its future servers.
    struct Connection: ServerChildChannelValue {
        let channel: any Channel
        /// The servers; nil if the connection ends or becomes a stream without one.
        let servers: EventLoopFuture<Servers?>
    }

    /// The servers of a connection.
    enum Servers: Sendable {
        case one(LazyServerHandler.Server)
        /// Those of the streams of an HTTP/2 connection.
        case many(AsyncStream<LazyServerHandler.Server>)
    }

    /// The pending bytes above which a connection is not writable, and below which it is writable again.
    static let writeBufferWaterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 << 10, high: 128 << 10)

    let responder: Responder
    let service: MediaService
    /// The most bytes of a request's header.
    let headerLimit: Int
    /// Whether the port is for mixers, which play nothing here and have no request limits.
    var isForMixers = false
    /// Returns the TLS context of a new connection; nil for HTTP in clear.
    var tls: (@Sendable () -> NIOSSLContext)?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            var slot: ClientSlot?
            if !isForMixers {
                guard let admitted = service.admitConnection(from: channel.remoteAddress) else {
                    channel.close(promise: nil)
                    return Connection(channel: channel, servers: channel.eventLoop.makeSucceededFuture(nil))
                }
                channel.closeFuture.whenComplete { _ in admitted.leave() }
                slot = admitted
            }
            // A connection keeps its read buffer; most receive small requests only.
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 65_536)
            )
            // With the default of 64 KiB, a usual part makes the channel unwritable from its write to its flush, and each
            // change passes through the whole pipeline.
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: Self.writeBufferWaterMark)
            let servers =
                if let tls {
                    try negotiate(channel, tls(), slot: slot, logger: logger)
                } else {
                    try addHTTP1(to: channel, .http1, slot: slot, logger: logger)
                }
            return Connection(channel: channel, servers: servers)
        }
    }

    private func addHTTP1(
        to channel: any Channel,
        _ transport: HTTPTransport,
        slot: ClientSlot?,
        logger: Logger
    ) throws -> EventLoopFuture<Servers?> {
        let pipeline = channel.pipeline.syncOperations
        let media = MediaHTTPHandler(
            service: service,
            connection: MediaConnection(slot: slot),
            transport: transport,
            isForMixers: isForMixers
        )
        let servers = channel.eventLoop.makePromise(of: Servers?.self)
        let last = LazyServerHandler { server in servers.succeed(server.map { .one($0) }) }
        try pipeline.addHTTPServer(headerLimit: headerLimit, limits: service.limits, isSecure: transport != .http1)
        try pipeline.addHandlers([media, HTTPConnectionStateHandler(logger: logger), last])
        return servers.futureResult
    }

    /// Adds TLS, and the handlers of the version of HTTP once the client has selected one.
    ///
    /// - Returns: The servers; fails if the connection ends before.
    private func negotiate(
        _ channel: any Channel,
        _ tls: NIOSSLContext,
        slot: ClientSlot?,
        logger: Logger
    ) throws -> EventLoopFuture<Servers?> {
        let negotiation = NIOTypedApplicationProtocolNegotiationHandler { result, channel in
            channel.eventLoop.makeCompletedFuture { () throws -> EventLoopFuture<Servers?> in
                guard case .negotiated("h2") = result else {
                    return try addHTTP1(to: channel, .http1OverTLS, slot: slot, logger: logger)
                }
                let streams = try addHTTP2(to: channel, slot: slot, logger: logger)
                return channel.eventLoop.makeSucceededFuture(.many(streams))
            }
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(NIOSSLServerHandler(context: tls))
        try pipeline.addHandler(TLSWriteHandler(), name: HTTPTransport.tlsHandlerName)
        try pipeline.addHandler(negotiation)
        try pipeline.addHandler(HandshakeQuiesceHandler(), name: HandshakeQuiesceHandler.name)
        // Until then no handler of HTTP has a timeout.
        let timeout = channel.eventLoop.scheduleTask(in: service.limits.header) { channel.close(promise: nil) }
        let negotiated = negotiation.protocolNegotiationResult
        negotiated.whenComplete { _ in timeout.cancel() }
        negotiated.whenSuccess { _ in channel.pipeline.removeHandler(name: HandshakeQuiesceHandler.name, promise: nil) }
        negotiated.whenFailure { _ in channel.close(promise: nil) }
        return negotiated.flatMap { $0 }
    }

    func handle(value connection: Connection, logger: Logger) async {
        await withTaskCancellationHandler {
            switch try? await connection.servers.get() {
            case .one(let server)?:
                await handleHTTP(asyncChannel: server, logger: logger)
            case .many(let streams)?:
                await withDiscardingTaskGroup { tasks in
                    for await server in streams {
                        tasks.addTask { await handleHTTP(asyncChannel: server, logger: logger) }
                    }
                }
            case nil:
                return
            }
        } onCancel: {
            connection.channel.close(promise: nil)
        }
    }
}

/// Closes a connection whose handshake is under way when the listener shuts down.
private final class HandshakeQuiesceHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    static let name = "handshake"

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}

/// Ends a connection's pipeline, and adds the server at the first request that the media handler does not handle.
///
/// Used on the connection's event loop.
final class LazyServerHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias Server = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    private var whenServing: ((Server?) -> Void)?

    /// - Parameter whenServing: Called exactly once, with nil if no server is needed.
    init(_ whenServing: @escaping (Server?) -> Void) {
        self.whenServing = whenServing
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        begin(context)
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is MediaHTTPHandler.StreamingTakeover:
            end(with: nil)
            Self.clear(context.pipeline)
        case ChannelEvent.inputClosed:
            // The server closes the connection after its responses.
            begin(context)
            context.fireUserInboundEventTriggered(event)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(with: nil)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(with: nil)
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard whenServing != nil else { return }
        do {
            let server = try Server(
                wrappingChannelSynchronously: context.channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
            end(with: server)
        } catch {
            end(with: nil)
            context.close(promise: nil)
        }
    }

    private func end(with server: Server?) {
        whenServing?(server)
        whenServing = nil
    }

    /// Removes the HTTP handlers from a connection that was taken over by a stream.
    ///
    /// The decoder goes first, because it forwards its remaining data to the handlers behind it.
    private static func clear(_ pipeline: ChannelPipeline) {
        let handlers = pipeline.syncOperations
        guard let decoder = try? handlers.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self) else {
            return
        }
        handlers.removeHandler(context: decoder).assumeIsolated().whenSuccess {
            let rest = [
                try? handlers.context(handlerType: HTTPResponseEncoder.self),
                try? handlers.context(handlerType: HTTPServerCodec.self),
                try? handlers.context(handlerType: RequestLimitHandler.self),
                try? handlers.context(handlerType: MediaHTTPHandler.self),
                try? handlers.context(handlerType: LazyServerHandler.self),
            ]
            for case let context? in rest { handlers.removeHandler(context: context, promise: nil) }
        }
    }
}
