import Foundation
import FootlightModel
import Media
import NIOCore
import NIOHTTP1
import Synchronization

/// Reads what directors say to the hosts from the gateway, and reconnects until it is stopped.
final class TalkbackReader: Sendable {
    /// The delays between attempts to connect; the gateway runs on the same machine.
    private static let reconnectBackoff = Backoff(initial: 0.05, maximum: 5)

    private struct State {
        var channel: (any Channel)?
        var failures = 0
        var isStopped = false
    }

    fileprivate let source: GatewaySource
    fileprivate let deliver: @Sendable (TalkbackBlock) -> Void
    private let loop: any EventLoop
    private let state = Mutex(State())

    /// - Parameters:
    ///   - source: The address and the token.
    ///   - deliver: Receives each block; called on the event loop, must not block.
    init(
        source: GatewaySource,
        group: any EventLoopGroup,
        deliver: @escaping @Sendable (TalkbackBlock) -> Void
    ) {
        self.source = source
        loop = group.next()
        self.deliver = deliver
    }

    func start() {
        source.connect(on: loop) { [source] pipeline in
            try pipeline.addHandler(IdleStateHandler(readTimeout: source.silence))
            try pipeline.addHandler(TalkbackHandler(self))
        }.whenComplete { result in
            switch result {
            case .success(let channel): self.connected(channel)
            case .failure: self.reconnect()
            }
        }
    }

    func stop() {
        let channel = state.withLock { state in
            state.isStopped = true
            return state.channel.take()
        }
        channel?.close(promise: nil)
    }

    private func connected(_ channel: any Channel) {
        let isWanted = state.withLock { state in
            guard !state.isStopped else { return false }
            state.channel = channel
            return true
        }
        guard isWanted else { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [weak self] _ in self?.reconnect() }
    }

    fileprivate func answered() {
        state.withLock { $0.failures = 0 }
    }

    private func reconnect() {
        let failures = state.withLock { state -> Int? in
            guard !state.isStopped else { return nil }
            state.channel = nil
            state.failures += 1
            return state.failures
        }
        guard let failures else { return }
        let delay = Int64(Self.reconnectBackoff.delay(retry: failures) * 1000)
        loop.scheduleTask(in: .milliseconds(delay)) { [weak self] in self?.start() }
    }
}

/// Sends the request when the connection is open, and delivers the blocks of the response.
private final class TalkbackHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let reader: TalkbackReader
    private var parser = ServerSentEventParser()

    init(_ reader: TalkbackReader) {
        self.reader = reader
    }

    func channelActive(context: ChannelHandlerContext) {
        reader.source.send(.GET, fields: [("Accept", "text/event-stream")], on: context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.status == .ok else { return context.close(promise: nil) }
            reader.answered()
        case .body(let bytes):
            for event in parser.parse(bytes.readableBytesView) where event.name == TalkbackBlock.eventName {
                guard let block = try? WireJSON.decode(TalkbackBlock.self, from: Data(event.data.utf8)) else {
                    continue
                }
                reader.deliver(block)
            }
            if parser.isOverLimit { context.close(promise: nil) }
        case .end:
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is IdleStateHandler.IdleStateEvent else { return context.fireUserInboundEventTriggered(event) }
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
