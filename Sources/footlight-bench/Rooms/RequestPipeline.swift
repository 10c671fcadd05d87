import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// Connections over which requests are pipelined in turn, without waiting for the responses.
///
/// There are many, because the gateway closes a connection with too many pending requests.
final class RequestPipeline: Sendable {
    private static let count = 64

    private let channels: [any Channel]
    private let next = Atomic(0)
    private let port: Int
    private let token: String
    private let answers: ResponseCounter

    init(port: Int, token: String, group: any EventLoopGroup) async throws {
        self.port = port
        self.token = token
        let answers = ResponseCounter()
        self.answers = answers
        let bootstrap = ClientBootstrap(group: group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ResponseHandler(answers: answers))
            }
        }
        var channels: [any Channel] = []
        while channels.count < Self.count {
            channels.append(try await bootstrap.connect(host: "127.0.0.1", port: port).get())
        }
        self.channels = channels
    }

    var areOpen: Bool { channels.allSatisfy(\.isActive) }

    /// Responses so far with a status other than success.
    var refused: Int { answers.refused.load(ordering: .relaxed) }

    func send(_ method: String, _ path: String, body: String) {
        let request = """
            \(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n\
            Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)
            """
        let turn = next.add(1, ordering: .relaxed).oldValue
        channels[turn % channels.count].writeAndFlush(ByteBuffer(string: request), promise: nil)
    }
}

private final class ResponseCounter: Sendable {
    let refused = Atomic(0)
}

/// Counts status lines; a single-line JSON body cannot look like one.
private final class ResponseHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answers: ResponseCounter

    init(answers: ResponseCounter) {
        self.answers = answers
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        let refused = text.split(separator: "HTTP/1.1 ", omittingEmptySubsequences: false).dropFirst()
            .count { !$0.hasPrefix("2") }
        if refused > 0 { answers.refused.add(refused, ordering: .relaxed) }
    }
}
