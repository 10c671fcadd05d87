import NIOCore
import NIOHTTP1
import NIOSSL

/// Sends one request at a time over a connection, and reads only as much of each response as needed.
final class PostHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = PostRequest
    typealias OutboundOut = HTTPClientRequestPart

    /// The maximum bytes of a response body that are read to keep the connection open; the body is ignored.
    private static let bodyLimit = 4096

    private var pending: PostRequest?
    private var timer: Scheduled<Void>?
    private var head: HTTPResponseHead?
    private var bodyBytes = 0
    /// The error that ended the connection before a request.
    private var fault: (any Error)?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let request = unwrapOutboundIn(data)
        guard pending == nil, fault == nil, context.channel.isActive else {
            request.answer.fail(fault ?? PostFault.closed)
            promise?.fail(PostFault.closed)
            return
        }
        pending = request
        head = nil
        bodyBytes = 0
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: request.deadline) {
            self.end(.failure(PostFault.timedOut), context)
        }
        context.write(wrapOutboundOut(.head(request.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(request.body))), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard pending != nil else { return context.close(promise: nil) }
        switch unwrapInboundIn(data) {
        case .head(let head) where head.status == .switchingProtocols:
            // The following bytes belong to another protocol, and the decoder would buffer them.
            end(.failure(PostFault.closed), context)
        case .head(let head) where head.status.code < 200:
            break
        case .head(let head):
            self.head = head
        case .body(let part):
            bodyBytes += part.readableBytes
            if bodyBytes > Self.bodyLimit { end(.failure(PostFault.closed), context) }
        case .end:
            guard let head else { return }
            finish(.success(PostAnswer(head, isReusable: head.isKeepAlive)), context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(PostFault.closed), context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.failure(PostFault(closing: error)), context)
    }

    /// Ends the connection; a status that was received counts as the response.
    private func end(_ result: Result<PostAnswer, any Error>, _ context: ChannelHandlerContext) {
        if case .failure(let error) = result { fault = fault ?? error }
        if let head {
            finish(.success(PostAnswer(head, isReusable: false)), context)
        } else {
            finish(result, context)
        }
    }

    private func finish(_ result: Result<PostAnswer, any Error>, _ context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        let request = pending
        (pending, head) = (nil, nil)
        request?.answer.completeWith(result)
        if case .success(let answer) = result, answer.isReusable { return }
        context.close(promise: nil)
    }
}

extension PostAnswer {
    fileprivate init(_ head: HTTPResponseHead, isReusable: Bool) {
        self.init(
            status: Int(head.status.code),
            retryAfter: head.headers.first(name: "retry-after"),
            isReusable: isReusable
        )
    }
}

/// A request for the pipeline, with the promise of its response.
struct PostRequest: Sendable {
    let head: HTTPRequestHead
    let body: ByteBuffer
    let deadline: NIODeadline
    let answer: EventLoopPromise<PostAnswer>
}

/// The relevant part of a response.
struct PostAnswer: Sendable, Equatable {
    let status: Int
    let retryAfter: String?
    /// Whether the connection can be reused.
    let isReusable: Bool
}

/// The reason why there is no response.
enum PostFault: Error {
    case timedOut
    /// The connection was closed without a response.
    case closed
    case tls

    /// Translates the error that closed a connection.
    init(closing error: any Error) {
        switch error {
        case let fault as PostFault: self = fault
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: self = .tls
        default: self = .closed
        }
    }
}
