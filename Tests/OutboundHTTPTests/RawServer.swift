import NIOCore
import NIOPosix
import Synchronization

/// A TCP server on 127.0.0.1 that answers the first bytes of each connection with fixed bytes.
final class RawServer: Sendable {
    private let channel: any Channel
    private let bytes: Recorder

    /// The port that it listens on.
    var port: Int { channel.localAddress?.port ?? 0 }
    /// The first bytes of the latest connection.
    var received: String { bytes.text.withLock { $0 } }

    /// - Parameter closes: Whether a connection is closed after the answer.
    init(answer: String, closes: Bool = false) async throws {
        let bytes = Recorder()
        self.bytes = bytes
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = AnswerHandler(bytes, answer: answer, closes: closes)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
    }

    func close() async throws {
        try await channel.close()
    }

    private final class Recorder: Sendable {
        let text = Mutex("")
    }

    private final class AnswerHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let bytes: Recorder
        private let answer: String
        private let closes: Bool
        private var isAnswered = false

        init(_ bytes: Recorder, answer: String, closes: Bool) {
            self.bytes = bytes
            self.answer = answer
            self.closes = closes
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isAnswered else { return }
            isAnswered = true
            bytes.text.withLock { $0 = String(buffer: unwrapInboundIn(data)) }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            if closes { context.close(promise: nil) }
        }
    }
}
