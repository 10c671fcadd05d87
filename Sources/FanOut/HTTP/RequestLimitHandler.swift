import HTTPTypes
public import NIOCore
import NIOHTTP1
public import NIOHTTPTypes

/// Limits what a client may send: rejects protocol upgrades, malformed HTTP and slow bodies.
///
/// The HTTP/1.1 decoder does not parse bytes after a request with `Connection: Upgrade` or the method CONNECT, because
/// they may belong to another protocol (RFC 9110 sections 7.8 and 9.3.6). CONNECT is refused with 405. An upgrade is
/// ignored: the request is answered as usual, and the connection closes after the response. Malformed requests, and
/// those that exceed the decoder's buffer limit, are refused with 400, and a body that arrives too slowly with 408; if
/// another response is being written, the connection closes instead. It also closes if much of a body arrives after
/// the response to its request.
///
/// On a stream of HTTP/2, only slow bodies, CONNECT and much of a body after the response are met.
///
/// The handler follows the decoder directly. All calls are on the channel's event loop.
public final class RequestLimitHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Request parts.
    public typealias InboundIn = HTTPRequestPart
    /// Request parts that pass the limits.
    public typealias InboundOut = HTTPRequestPart
    /// Response parts.
    public typealias OutboundIn = HTTPResponsePart
    /// Response parts, until the connection ends.
    public typealias OutboundOut = HTTPResponsePart

    /// The error that tells a body's reader that the rest will not arrive.
    private struct RequestRefused: Error {}

    /// The time a client has to read its last response; closing a socket with unread bytes may discard it.
    private static let lingerTimeout = TimeAmount.seconds(1)

    private let limits: HTTPLimits
    /// The number of requests whose responses are not completely written.
    private var unanswered = 0
    /// Whether the head of the oldest request's response has been written.
    private var hasAnswerBegun = false
    /// Whether the end of the latest request has not arrived yet.
    private var isReading = false
    private var bodyBegan = NIODeadline.uptimeNanoseconds(0)
    private var bodyBytes = 0
    /// Bytes of a body that arrived after the response to its request.
    private var surplusBytes = 0
    /// Whether the decoder parses nothing after this request.
    private var isLast = false
    /// Whether the last response has been written.
    private var isOver = false
    private var timer: Scheduled<Void>?
    /// The context of the encoder, for responses that are encoded already; nil if there is none.
    private var encoder: ChannelHandlerContext?

    /// Creates a handler for one connection.
    public init(limits: HTTPLimits) {
        self.limits = limits
    }

    // MARK: Requests

    /// Forwards a part of a request, or refuses the request.
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
            isLast = head.requestsUpgrade
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

    /// Starts the timeout of a body that did not arrive with its header.
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

    /// Refuses malformed requests; all errors, connection errors included, are forwarded.
    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isOver, !(error is IOError), !(error is ChannelError) { refuse(.badRequest, context: context) }
        context.fireErrorCaught(error)
    }

    /// Stops reading once the last response has been written.
    public func read(context: ChannelHandlerContext) {
        if !isOver { context.read() }
    }

    // MARK: Responses

    /// Forwards a part of a response.
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

    /// Whether `writeEncoded` may write the next response: no other one is partly written, and this handler does not end
    /// the connection after it.
    var allowsEncodedResponse: Bool {
        encoder != nil && !isOver && !isLast && !hasAnswerBegun && unanswered > 0
    }

    /// Writes a complete response whose head is encoded already, past the codec and the encoder, and flushes.
    ///
    /// Each part of a response that passes through them is boxed twice, and its head is copied into two other
    /// representations. Both forward each part at once, and the encoder takes the framing of a body from the head before
    /// it, so that responses may pass through them or not in any order.
    ///
    /// Call only if `allowsEncodedResponse`.
    ///
    /// - Parameter promise: Completed when everything is written.
    func writeEncoded(head: ByteBuffer, _ body: [ByteBuffer], promise: EventLoopPromise<Void>) {
        guard let encoder, let last = body.last else {
            promise.fail(ChannelError.ioOnClosedChannel)
            return
        }
        unanswered = max(unanswered - 1, 0)
        encoder.write(NIOAny(head), promise: nil)
        for buffer in body.dropLast() { encoder.write(NIOAny(buffer), promise: nil) }
        encoder.writeAndFlush(NIOAny(last), promise: promise)
    }

    /// Refuses the request being read, or bytes that are no request, and ends the connection.
    private func refuse(_ status: HTTPResponse.Status, context: ChannelHandlerContext) {
        isOver = true
        timer?.cancel()
        timer = nil
        // A refusal is in order only if no other response is pending or partly written.
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
        // HTTP/2 has no such field (RFC 9113 section 8.2.2).
        if encoder != nil { head.headerFields[.connection] = "close" }
        if status == .methodNotAllowed { head.headerFields[.allow] = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
        let end = context.eventLoop.makePromise(of: Void.self)
        end.futureResult.assumeIsolated().whenSuccess { context.close(mode: .output, promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
        closeSoon(context: context)
        if isReading { context.fireErrorCaught(RequestRefused()) }
    }

    /// Closes the connection after the client has had time to read the last response.
    private func closeSoon(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerTimeout) { context.close(promise: nil) }
    }

    // MARK: Begin and end of the connection

    /// Finds the encoder.
    public func handlerAdded(context: ChannelHandlerContext) {
        encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
    }

    /// Cancels the timer when the connection is closed.
    public func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    /// Cancels the timer when the handler is removed.
    public func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        encoder = nil
    }
}

extension HTTPRequest {
    /// Whether the decoder treats the following bytes as another protocol.
    fileprivate var requestsUpgrade: Bool {
        guard headerFields[.upgrade] != nil, let options = headerFields[.connection] else { return false }
        return options.lowercased().contains("upgrade")
    }
}
