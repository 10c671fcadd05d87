import NIOCore
import NIOHTTP1

/// One request after another over one connection: waits for each answer, and reads no more of it than it must.
final class PostHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = PostRequest
    typealias OutboundOut = HTTPClientRequestPart

    /// Bytes of an answer's body that are read to keep the connection; nothing in it matters.
    private static let bodyLimit = 4096

    private var pending: PostRequest?
    private var timer: Scheduled<Void>?
    private var head: HTTPResponseHead?
    private var bodyBytes = 0
    /// What ended the connection before anything was asked.
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
            // Behind it comes another protocol, which nobody reads and the decoder would keep.
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

    /// Ends the connection; a status that has come is the answer, whatever happened behind it.
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
