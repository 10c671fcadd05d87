import Foundation
import FootlightModel
import NIOCore
import NIOHTTP1

/// A subscription to a room's event stream over HTTP.
///
/// It uses NIO because URLSession's curl transport busy-waits while a stream is open.
struct RoomEventSubscription: Sendable {
    /// The reason why the stream ended.
    enum End: Error, Equatable {
        case refused(status: Int)
        case lost(String)
    }

    /// What a mixer learns about its room.
    enum Change: Sendable {
        case event(EventResource)
        /// Whether a director watches the preview.
        case previewDemand(Bool)
    }

    let changes: AsyncThrowingStream<Change, any Error>
    private let continuation: AsyncThrowingStream<Change, any Error>.Continuation

    /// Adds a change that the gateway said elsewhere, in the order of the events; any thread.
    func report(_ change: Change) { continuation.yield(change) }

    /// Opens the stream; a failure ends `changes` with an error.
    static func open(_ source: GatewaySource, group: any EventLoopGroup) -> RoomEventSubscription {
        // The gateway disconnects a reader long before this many events are pending.
        let (changes, continuation) = AsyncThrowingStream.makeStream(
            of: Change.self,
            bufferingPolicy: .bufferingOldest(16_384)
        )
        let connected = source.connect(on: group) { pipeline in
            try pipeline.addHandler(IdleStateHandler(readTimeout: source.silence))
            try pipeline.addHandler(RoomEventsHandler(source: source, continuation: continuation))
        }
        connected.whenSuccess { channel in
            continuation.onTermination = { _ in channel.close(promise: nil) }
        }
        connected.whenFailure { continuation.finish(throwing: End.lost("\($0)")) }
        return RoomEventSubscription(changes: changes, continuation: continuation)
    }
}

/// Sends the request when the connection is open, and yields the events of the response.
private final class RoomEventsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let source: GatewaySource
    private let continuation: AsyncThrowingStream<RoomEventSubscription.Change, any Error>.Continuation
    private var parser = ServerSentEventParser()

    init(
        source: GatewaySource,
        continuation: AsyncThrowingStream<RoomEventSubscription.Change, any Error>.Continuation
    ) {
        self.source = source
        self.continuation = continuation
    }

    func channelActive(context: ChannelHandlerContext) {
        source.send(.GET, fields: [("Accept", "text/event-stream")], on: context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.status != .ok else { return }
            continuation.finish(throwing: RoomEventSubscription.End.refused(status: Int(head.status.code)))
            context.close(promise: nil)
        case .body(let bytes):
            for event in parser.parse(bytes.readableBytesView) {
                // Unknown events are ignored, for compatibility with newer gateways.
                guard let resource = try? WireJSON.decode(EventResource.self, from: Data(event.data.utf8)) else {
                    continue
                }
                continuation.yield(.event(resource))
            }
            guard parser.isOverLimit else { return }
            continuation.finish(throwing: RoomEventSubscription.End.lost("an event was too long"))
            context.close(promise: nil)
        case .end:
            continuation.finish(throwing: RoomEventSubscription.End.lost("the gateway ended the stream"))
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is IdleStateHandler.IdleStateEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        continuation.finish(throwing: RoomEventSubscription.End.lost("no heartbeat came"))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        continuation.finish(throwing: RoomEventSubscription.End.lost("the connection is gone"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        continuation.finish(throwing: RoomEventSubscription.End.lost("\(error)"))
        context.close(promise: nil)
    }
}
