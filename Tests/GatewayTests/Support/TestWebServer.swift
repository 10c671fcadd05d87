import NIOCore
import NIOPosix
import Synchronization

/// An HTTP server on 127.0.0.1 with responses by path, and 404 for others.
final class TestWebServer: Sendable {
    enum Response: Sendable {
        case file([UInt8])
        /// Like `file`, without a Content-Length.
        case unannounced([UInt8])
        case redirect(String)
        case noResponse
    }

    /// The requested paths in order.
    private final class Log: Sendable {
        let paths = Mutex<[String]>([])
    }

    let port: Int
    private let channel: any Channel
    private let log: Log

    init(_ responses: [String: Response]) async throws {
        let log = Log()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(responses, log))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
        self.log = log
    }

    deinit {
        channel.close(promise: nil)
    }

    var requestedPaths: [String] { log.paths.withLock { $0 } }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let responses: [String: Response]
        private let log: Log
        private var request = ""

        init(_ responses: [String: Response], _ log: Log) {
            self.responses = responses
            self.log = log
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            request += String(buffer: unwrapInboundIn(data))
            guard request.hasSuffix("\r\n\r\n") else { return }
            let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            log.paths.withLock { $0.append(path) }
            let channel = context.channel
            func respond(_ head: String, _ body: [UInt8] = []) {
                let bytes = ByteBuffer(string: "HTTP/1.1 \(head)\r\n\r\n") + ByteBuffer(bytes: body)
                channel.writeAndFlush(bytes).whenComplete { _ in channel.close(promise: nil) }
            }
            switch responses[path] {
            case .file(let body): respond("200 OK\r\nContent-Length: \(body.count)", body)
            case .unannounced(let body): respond("200 OK\r\nConnection: close", body)
            case .redirect(let place): respond("302 Found\r\nLocation: \(place)\r\nContent-Length: 0")
            case .noResponse: break
            case nil: respond("404 Not Found\r\nContent-Length: 0")
            }
        }
    }
}

/// Concatenates two buffers.
private func + (left: ByteBuffer, right: ByteBuffer) -> ByteBuffer {
    var whole = left
    whole.writeImmutableBuffer(right)
    return whole
}
