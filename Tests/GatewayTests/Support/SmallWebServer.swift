import NIOCore
import NIOPosix
import Synchronization

/// An HTTP server on loopback that has an answer for each of some paths, and 404 for all others.
final class SmallWebServer: Sendable {
    enum Answer: Sendable {
        case file([UInt8])
        /// As `file`, its length not said beforehand.
        case unannounced([UInt8])
        case redirect(String)
        case silence
    }

    /// What was asked for, in order.
    private final class Log: Sendable {
        let paths = Mutex<[String]>([])
    }

    let port: Int
    private let channel: any Channel
    private let log: Log

    init(_ answers: [String: Answer]) async throws {
        let log = Log()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(answers, log))
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

    var asked: [String] { log.paths.withLock { $0 } }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answers: [String: Answer]
        private let log: Log
        private var question = ""

        init(_ answers: [String: Answer], _ log: Log) {
            self.answers = answers
            self.log = log
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            question += String(buffer: unwrapInboundIn(data))
            guard question.hasSuffix("\r\n\r\n") else { return }
            let path = question.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            log.paths.withLock { $0.append(path) }
            let channel = context.channel
            func answer(_ head: String, _ body: [UInt8] = []) {
                let bytes = ByteBuffer(string: "HTTP/1.1 \(head)\r\n\r\n") + ByteBuffer(bytes: body)
                channel.writeAndFlush(bytes).whenComplete { _ in channel.close(promise: nil) }
            }
            switch answers[path] {
            case .file(let body): answer("200 OK\r\nContent-Length: \(body.count)", body)
            case .unannounced(let body): answer("200 OK\r\nConnection: close", body)
            case .redirect(let place): answer("302 Found\r\nLocation: \(place)\r\nContent-Length: 0")
            case .silence: break
            case nil: answer("404 Not Found\r\nContent-Length: 0")
            }
        }
    }
}

/// One after the other.
private func + (left: ByteBuffer, right: ByteBuffer) -> ByteBuffer {
    var whole = left
    whole.writeImmutableBuffer(right)
    return whole
}
