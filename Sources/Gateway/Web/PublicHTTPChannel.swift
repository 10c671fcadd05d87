import FanOut
import HTTPTypes
import HummingbirdCore
import Logging
import Media
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// A connection of the public HTTP port: media is served on the event loop, and the server for other requests is added
/// on demand.
///
/// The server takes an async channel and a task per connection, which need more memory than the rest of a viewer.
struct PublicHTTPChannel: ServerChildChannel, HTTPChannelHandler {
    /// A connection with its future server.
    struct Connection: ServerChildChannelValue {
        let channel: any Channel
        /// The server; nil if the connection ends or becomes a stream without one.
        let server: EventLoopFuture<LazyServerHandler.Server?>
    }

    /// The pending bytes above which a connection is not writable, and below which it is writable again.
    private static let writeBufferWaterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 << 10, high: 128 << 10)

    let responder: Responder
    let service: MediaService
    /// The most bytes of a request's header.
    let headerLimit: Int
    /// Whether the port is for mixers, which play nothing here and have no request limits.
    var isForMixers = false

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            var place: ClientSlot?
            if !isForMixers {
                guard let admitted = service.admitConnection(from: channel.remoteAddress) else {
                    channel.close(promise: nil)
                    return Connection(channel: channel, server: channel.eventLoop.makeSucceededFuture(nil))
                }
                channel.closeFuture.whenComplete { _ in admitted.leave() }
                place = admitted
            }
            // A connection keeps its read buffer; most receive small requests only.
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 65_536)
            )
            // With the default of 64 KiB, a usual part makes the channel unwritable from its write to its flush, and each
            // change passes through the whole pipeline.
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: Self.writeBufferWaterMark)
            let pipeline = channel.pipeline.syncOperations
            let media = MediaHTTPHandler(service: service, place: place, isForMixers: isForMixers)
            try pipeline.addHTTPServer(headerLimit: headerLimit, limits: service.limits)
            let server = channel.eventLoop.makePromise(of: LazyServerHandler.Server?.self)
            try pipeline.addHandlers([media, HTTPConnectionStateHandler(logger: logger), LazyServerHandler(server)])
            return Connection(channel: channel, server: server.futureResult)
        }
    }

    func handle(value connection: Connection, logger: Logger) async {
        await withTaskCancellationHandler {
            guard let server = try? await connection.server.get() else { return }
            await handleHTTP(asyncChannel: server, logger: logger)
        } onCancel: {
            connection.channel.close(promise: nil)
        }
    }
}

/// Ends a connection's pipeline, and adds the server at the first request that the media handler does not handle.
///
/// Used on the connection's event loop.
final class LazyServerHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias Server = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// Completed exactly once.
    private var promise: EventLoopPromise<Server?>?

    init(_ promise: EventLoopPromise<Server?>) {
        self.promise = promise
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
        guard promise != nil else { return }
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
        promise?.succeed(server)
        promise = nil
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
