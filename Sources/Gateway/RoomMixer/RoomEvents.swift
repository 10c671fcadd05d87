import Foundation
import GatewayModel
import NIOCore
import NIOHTTP1
import NIOPosix

/// One subscription to a room's event stream over HTTP.
///
/// On NIO rather than URLSession, whose curl-backed transport keeps threads spinning for as long as a stream is open.
struct RoomEvents: Sendable {
    /// How the stream ended.
    enum End: Error, Equatable {
        case refused(status: Int)
        case lost(String)
    }

    /// Where the gateway is, and who asks.
    struct Source: Sendable {
        var host: String
        var port: Int
        var path: String
        var token: String
        /// Time without a byte after which the connection is given up; heartbeats come every five seconds.
        var silence: TimeAmount = .seconds(15)
        var connectDeadline: TimeAmount = .seconds(5)
    }

    let events: AsyncThrowingStream<EventResource, any Error>

    /// Opens the stream; that it could not be opened shows as its first and last element.
    static func open(_ source: Source, group: any EventLoopGroup) -> RoomEvents {
        // The gateway cuts off a reader that lags by far fewer events than this.
        let (events, continuation) = AsyncThrowingStream.makeStream(
            of: EventResource.self,
            bufferingPolicy: .bufferingOldest(16_384)
        )
        let connected = ClientBootstrap(group: group)
            .connectTimeout(source.connectDeadline)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(
                        IdleStateHandler(readTimeout: source.silence)
                    )
                    try channel.pipeline.syncOperations.addHandler(
                        RoomEventsHandler(source: source, continuation: continuation)
                    )
                }
            }
            .connect(host: source.host, port: source.port)
        connected.whenSuccess { channel in
            continuation.onTermination = { _ in channel.close(promise: nil) }
        }
        connected.whenFailure { continuation.finish(throwing: End.lost("\($0)")) }
        return RoomEvents(events: events)
    }
}

/// Asks for the stream once the connection stands, and hands its events on.
private final class RoomEventsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let source: RoomEvents.Source
    private let continuation: AsyncThrowingStream<EventResource, any Error>.Continuation
    private var parser = ServerSentEvents()

    init(source: RoomEvents.Source, continuation: AsyncThrowingStream<EventResource, any Error>.Continuation) {
        self.source = source
        self.continuation = continuation
    }

    func channelActive(context: ChannelHandlerContext) {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: source.path)
        head.headers.add(name: "Host", value: "\(source.host):\(source.port)")
        head.headers.add(name: "Authorization", value: "Bearer \(source.token)")
        head.headers.add(name: "Accept", value: "text/event-stream")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.status != .ok else { return }
            continuation.finish(throwing: RoomEvents.End.refused(status: Int(head.status.code)))
            context.close(promise: nil)
        case .body(let bytes):
            for event in parser.take(bytes.readableBytesView) {
                // An event of a kind or shape that this version does not know changes nothing here.
                guard let resource = try? WireJSON.decode(EventResource.self, from: Data(event.data.utf8)) else {
                    continue
                }
                continuation.yield(resource)
            }
        case .end:
            continuation.finish(throwing: RoomEvents.End.lost("the gateway ended the stream"))
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is IdleStateHandler.IdleStateEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        continuation.finish(throwing: RoomEvents.End.lost("no heartbeat came"))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        continuation.finish(throwing: RoomEvents.End.lost("the connection is gone"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        continuation.finish(throwing: RoomEvents.End.lost("\(error)"))
        context.close(promise: nil)
    }
}
