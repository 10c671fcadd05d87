import HTTPTypes
public import NIOCore
public import NIOHTTPTypes

/// Bounds what a client may send, whoever answers it: no change of protocol, nothing that is no HTTP, no body that drips.
///
/// The decoder of HTTP/1.1 parses nothing behind a request with `Connection: Upgrade` or the method CONNECT, because the
/// bytes there may be of another protocol (RFC 9110 sections 7.8 and 9.3.6); none is spoken here. CONNECT is refused with
/// 405. An upgrade is not taken up: the request is answered like any other, and the connection closes behind the answer.
/// What cannot be parsed, and what the decoder would have to buffer beyond its bound, is refused with 400 and a body that
/// comes too slowly with 408; where another answer is on its way the connection closes instead. So it does where much more
/// of a body comes behind the answer to its request.
///
/// The handler stands right behind the decoder. Everything here happens on the channel's event loop.
public final class RequestLimitHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Parts of requests.
    public typealias InboundIn = HTTPRequestPart
    /// The same, as far as they are let through.
    public typealias InboundOut = HTTPRequestPart
    /// Parts of answers.
    public typealias OutboundIn = HTTPResponsePart
    /// The same, until the connection ends.
    public typealias OutboundOut = HTTPResponsePart

    /// Tells whoever reads a body that the rest of it never comes.
    private struct RequestRefused: Error {}

    /// How long a client may take to read its last answer: closed with bytes unread, a socket may lose it.
    private static let lingering = TimeAmount.seconds(1)

    private let limits: HTTPLimits
    /// Requests whose answers have not been written whole.
    private var unanswered = 0
    /// The head of the oldest one's answer has been written.
    private var hasAnswerBegun = false
    /// The end of the latest request has not come yet.
    private var isReading = false
    private var bodyBegan = NIODeadline.uptimeNanoseconds(0)
    private var bodyBytes = 0
    /// Bytes of the body that came behind the answer to its request.
    private var surplusBytes = 0
    /// The decoder parses nothing behind this request.
    private var isLast = false
    /// The last answer was written.
    private var isOver = false
    private var timer: Scheduled<Void>?

    /// Makes one for a connection.
    public init(limits: HTTPLimits) {
        self.limits = limits
    }

    // MARK: Requests

    /// Lets a part of a request through, or refuses its request.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.method != .connect else {
                refuse(.methodNotAllowed, context: context)
                return
            }
            unanswered += 1
            isReading = true
            bodyBytes = 0
            surplusBytes = 0
            isLast = head.asksToUpgrade
        case .body(let bytes):
            bodyBytes += bytes.readableBytes
            guard unanswered == 0 else { break }
            surplusBytes += bytes.readableBytes
            guard surplusBytes <= limits.pipelinedBytes else {
                isOver = true
                timer?.cancel()
                context.close(mode: .output, promise: nil)
                closeSoon(context: context)
                return
            }
        case .end:
            isReading = false
            timer?.cancel()
            timer = nil
        }
        context.fireChannelRead(data)
    }

    /// A body that did not come with its header is given its time.
    public func channelReadComplete(context: ChannelHandlerContext) {
        if isReading, !isOver, timer == nil {
            bodyBegan = context.eventLoop.now
            checkBody(at: bodyBegan + limits.body, context: context)
        }
        context.fireChannelReadComplete()
    }

    private func checkBody(at deadline: NIODeadline, context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            timer = nil
            guard isReading, !isOver else { return }
            let end = bodyBegan + limits.bodyTime(bytes: bodyBytes)
            if context.eventLoop.now < end {
                checkBody(at: end, context: context)
            } else {
                refuse(.requestTimeout, context: context)
            }
        }
    }

    /// What cannot be parsed; of a connection that broke those behind hear as well.
    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isOver, !(error is IOError), !(error is ChannelError) { refuse(.badRequest, context: context) }
        context.fireErrorCaught(error)
    }

    /// Nothing more is read once the last answer was written.
    public func read(context: ChannelHandlerContext) {
        if !isOver { context.read() }
    }

    // MARK: Answers

    /// Lets a part of an answer through.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isOver else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            hasAnswerBegun = true
            guard isLast, unanswered == 1 else { break }
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
            return
        case .body:
            break
        case .end:
            hasAnswerBegun = false
            unanswered = max(unanswered - 1, 0)
            guard isLast, unanswered == 0 else { break }
            isOver = true
            let end = promise ?? context.eventLoop.makePromise(of: Void.self)
            context.writeAndFlush(data, promise: end)
            end.futureResult.assumeIsolated().whenComplete { [self] _ in
                guard context.channel.isActive else { return }
                context.close(mode: .output, promise: nil)
                closeSoon(context: context)
            }
            return
        }
        context.write(data, promise: promise)
    }

    /// Answers the request that is being read, or bytes that are none, and ends the connection.
    private func refuse(_ status: HTTPResponse.Status, context: ChannelHandlerContext) {
        isOver = true
        timer?.cancel()
        timer = nil
        // An answer to the bytes at fault is in its place only where no other one is owed or has begun.
        let isInPlace = isReading ? unanswered == 1 && !hasAnswerBegun : unanswered == 0
        guard isInPlace else {
            context.close(promise: nil)
            return
        }
        let text = "\(status.code) \(status.reasonPhrase)\n"
        var head = HTTPResponse(status: status)
        head.headerFields[.contentType] = "text/plain; charset=utf-8"
        head.headerFields[.contentLength] = String(text.utf8.count)
        head.headerFields[.cacheControl] = "no-store"
        head.headerFields[.connection] = "close"
        if status == .methodNotAllowed { head.headerFields[.allow] = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
        let end = context.eventLoop.makePromise(of: Void.self)
        end.futureResult.assumeIsolated().whenSuccess { context.close(mode: .output, promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
        closeSoon(context: context)
        if isReading { context.fireErrorCaught(RequestRefused()) }
    }

    /// Closes the connection when its client has had the time to read the last answer.
    private func closeSoon(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }

    // MARK: The connection's end

    /// Nothing is waited for any more.
    public func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    /// The same.
    public func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }
}

extension HTTPRequest {
    /// The decoder takes what follows for another protocol.
    fileprivate var asksToUpgrade: Bool {
        guard headerFields[.upgrade] != nil, let options = headerFields[.connection] else { return false }
        return options.lowercased().contains("upgrade")
    }
}
