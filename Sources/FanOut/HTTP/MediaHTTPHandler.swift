import HTTPTypes
import Media
public import NIOCore
public import NIOHTTPTypes

/// Answers playback requests on the event loop, ahead of the server that answers everything else on the same port.
///
/// A request under `/live/` never leaves this handler: no task is made for it and nothing is awaited. Other requests
/// pass through untouched. Answers must leave in the order of the requests, so what a client pipelines behind a
/// request that is still being answered elsewhere is held back until that answer has gone.
public final class MediaHTTPHandler: ChannelDuplexHandler, RemovableChannelHandler {
    public typealias InboundIn = HTTPRequestPart
    public typealias InboundOut = HTTPRequestPart
    public typealias OutboundIn = HTTPResponsePart
    public typealias OutboundOut = HTTPResponsePart

    private let site: MediaSite
    private let limits: HTTPLimits
    /// A media request whose end has not come yet.
    private var current: (request: MediaRequest, head: HTTPRequest)?
    /// Requests passed on whose answers have not gone out yet.
    private var passedOn = 0
    private var isPassingOn = false
    private var held: CircularBuffer<HTTPRequestPart> = []
    private var isStreaming = false
    private var lastActivity = MonotonicTime.now()
    private var idleCheck: RepeatedTask?

    public init(site: MediaSite, limits: HTTPLimits = HTTPLimits()) {
        self.site = site
        self.limits = limits
    }

    // MARK: Requests

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastActivity = .now()
        let part = unwrapInboundIn(data)
        guard held.isEmpty, !(passedOn > 0 && !isPassingOn) else {
            hold(part, context: context)
            return
        }
        handle(part, context: context)
    }

    private func hold(_ part: HTTPRequestPart, context: ChannelHandlerContext) {
        guard held.count < limits.pipelinedParts else {
            context.close(promise: nil)
            return
        }
        held.append(part)
    }

    private func handle(_ part: HTTPRequestPart, context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            let path = (head.path ?? "").prefix { $0 != "?" }
            if let request = MediaRequest(path: path) {
                current = (request, head)
            } else {
                passedOn += 1
                isPassingOn = true
                context.fireChannelRead(wrapInboundOut(part))
            }
        case .body:
            if current == nil { context.fireChannelRead(wrapInboundOut(part)) }
        case .end:
            if let (request, head) = current {
                current = nil
                answer(request, head: head, context: context)
            } else {
                isPassingOn = false
                context.fireChannelRead(wrapInboundOut(part))
            }
        }
    }

    private func answer(_ request: MediaRequest, head: HTTPRequest, context: ChannelHandlerContext) {
        let query = QueryItems(target: head.path ?? "")
        let response: MediaResponse
        switch (head.method, request) {
        case (.options, _):
            preflight(context: context)
            return
        case (.get, .flv(let room)):
            switch FLVStream.admit(room: room, query: query, site: site) {
            case .success(let stream):
                isStreaming = true
                stream.begin(context: context)
                return
            case .failure(let refusal):
                response = refusal.response
            }
        case (.head, .flv(let room)):
            response = FLVStream.headAnswer(room: room, site: site)
        case (.get, _), (.head, _):
            response = site.respond(to: request, method: head.method, query: query)
        default:
            response = .refusal(.methodNotAllowed, "GET, HEAD and OPTIONS are what this address takes")
        }
        let (answer, body) = response.resolved(method: head.method, range: head.headerFields[.range])
        send(answer, body, closing: head.headerFields[.connection]?.lowercased() == "close", context: context)
    }

    private func preflight(context: ChannelHandlerContext) {
        var response = HTTPResponse(status: .noContent, headerFields: MediaResponse.crossOrigin)
        response.headerFields[.accessControlAllowMethods] = "GET, HEAD, OPTIONS"
        response.headerFields[.accessControlAllowHeaders] =
            "Range, CMCD-Request, CMCD-Session, CMCD-Object, CMCD-Status"
        response.headerFields[.accessControlMaxAge] = "86400"
        send(response, [], closing: false, context: context)
    }

    private func send(_ head: HTTPResponse, _ body: [ByteBuffer], closing: Bool, context: ChannelHandlerContext) {
        var head = head
        if closing { head.headerFields[.connection] = "close" }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        for buffer in body { context.write(wrapOutboundOut(.body(buffer)), promise: nil) }
        guard closing else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return
        }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in bound.value.close(promise: nil) }
    }

    // MARK: Answers of the server behind

    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        lastActivity = .now()
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        guard isEnd, passedOn > 0 else { return }
        passedOn -= 1
        while passedOn == 0 || isPassingOn, let part = held.popFirst() {
            handle(part, context: context)
        }
    }

    // MARK: Idle connections

    public func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        idleCheck = context.eventLoop.scheduleRepeatedTask(initialDelay: limits.idleCheck, delay: limits.idleCheck) {
            _ in
            let (handler, context) = bound.value
            handler.closeIfIdle(context: context)
        }
    }

    public func handlerRemoved(context: ChannelHandlerContext) {
        idleCheck?.cancel()
        idleCheck = nil
    }

    public func channelInactive(context: ChannelHandlerContext) {
        idleCheck?.cancel()
        idleCheck = nil
        context.fireChannelInactive()
    }

    private func closeIfIdle(context: ChannelHandlerContext) {
        guard !isStreaming, passedOn == 0 else { return }
        if MonotonicTime.now().nanoseconds - lastActivity.nanoseconds > limits.idle.nanoseconds {
            context.close(promise: nil)
        }
    }
}
