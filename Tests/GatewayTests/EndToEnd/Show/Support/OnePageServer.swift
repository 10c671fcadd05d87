import NIOCore
import NIOPosix

/// Answers every request on a free port of 127.0.0.1 with the same page: a site of another origin.
final class OnePageServer: Sendable {
    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let page: String

        init(_ page: String) {
            self.page = page
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let header =
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
                + "Content-Length: \(page.utf8.count)\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: header + page)), promise: nil)
            context.close(promise: nil)
        }
    }

    /// Where it listens.
    let port: Int
    private let channel: any Channel

    init(_ page: String) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answerer(page))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }
}
