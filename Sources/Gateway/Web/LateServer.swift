import FanOut
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Ends a connection's pipeline until something comes that is not for the media handler ahead, and is replaced by the server
/// then.
///
/// On the connection's event loop.
final class LateServer: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias Server = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// Kept exactly once.
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
        case is MediaHTTPHandler.TakenOver:
            end(with: nil)
            Self.clear(context.pipeline)
        case ChannelEvent.inputClosed:
            // The server ends the connection when it has given its answers.
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

    /// Takes out what read the request of a stream that has the connection to itself now.
    ///
    /// First what reads bytes: what it still holds goes to those behind it, who must be there for that.
    private static func clear(_ pipeline: ChannelPipeline) {
        let handlers = pipeline.syncOperations
        guard let decoder = try? handlers.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self) else {
            return
        }
        handlers.removeHandler(context: decoder).assumeIsolated().whenSuccess {
            let rest = [
                try? handlers.context(handlerType: HTTPResponseEncoder.self),
                try? handlers.context(handlerType: HTTP1ToHTTPServerCodec.self),
                try? handlers.context(handlerType: RequestLimitHandler.self),
                try? handlers.context(handlerType: MediaHTTPHandler.self),
                try? handlers.context(handlerType: LateServer.self),
            ]
            for case let context? in rest { handlers.removeHandler(context: context, promise: nil) }
        }
    }
}
