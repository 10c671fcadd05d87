import HTTPTypes
import Media
public import NIOCore
public import NIOHTTPTypes
import RTMP
import Stage

/// Answers playback requests on the event loop, in front of the HTTP server for everything else on the same port.
///
/// A request under `/live/` never leaves this handler: it needs no task and no suspension; a request for media that
/// is not there yet is an entry of a `BlockingReloadQueue`. All other requests pass through unchanged. Responses must
/// leave in the order of the requests, so requests pipelined behind one that waits, or that the server behind is still
/// answering, are queued until its response has been written.
///
/// Over HTTP/2 each request has a channel and a handler of its own, and the handlers of a connection share a
/// `MediaConnection`.
public final class MediaHTTPHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Request parts.
    public typealias InboundIn = HTTPRequestPart
    /// Request parts forwarded to the server behind.
    public typealias InboundOut = HTTPRequestPart
    /// Response parts from the server behind.
    public typealias OutboundIn = HTTPResponsePart
    /// Response parts to the client.
    public typealias OutboundOut = HTTPResponsePart

    /// The event fired when a stream takes over the connection; no further request will come.
    public struct StreamingTakeover: Sendable {}

    /// The time that pending writes have when the listener shuts down; a client may read as slowly as it plays.
    private static let drainTimeout = TimeAmount.seconds(1)

    private let isForMixers: Bool
    private let transport: HTTPTransport
    private let responder: MediaResponder
    private var service: MediaService { responder.service }
    private var connection: MediaConnection { responder.connection }
    private var limits: HTTPLimits { service.limits }
    /// The request being read that is answered here; nil if the server behind answers it.
    private var current: Request?
    /// The client to which the connection's requests are charged.
    private var client = RequestRateLimiter.Client.unlimited
    /// The number of forwarded requests whose responses are not complete.
    private var forwardedRequests = 0
    private var isForwarding = false
    private var pipelined: CircularBuffer<HTTPRequestPart> = []
    /// The size of the pipelined parts in bytes.
    private var queuedBytes = 0
    private var isStreaming = false
    /// The handler that accounts for responses written past the encoder; nil if all pass through it.
    private var requestLimit: RequestLimitHandler?
    /// The request that waits for media, and its session.
    private var waiting: (entry: BlockingReload, sid: String?)?
    /// Whether the token of a request is being verified.
    private var isIdentifying = false
    /// Whether the connection closes after the response being written.
    private var isClosing = false
    /// The number of own responses that are not completely written.
    private var pendingWrites = 0
    /// The context for the quiesce event, which is forwarded once all own responses are written.
    private var quiesceContext: ChannelHandlerContext?
    /// The time at which an incomplete header began to arrive.
    private var headerBegan: MonotonicTime?
    /// The time since which the channel is not writable, during an endless response too.
    private var blockedSince: MonotonicTime?
    private var hasReadPart = false
    private var lastActivity = MonotonicTime.now()
    private var idleCheck: RepeatedTask?

    /// A request that is answered here, from its head to its end.
    private enum Request {
        case media(MediaRequest, HTTPRequest)
        /// A request that gets this response whatever it asks for: it exceeds the rate limit, or must come over TLS.
        case answered(MediaResponse, HTTPRequest)
    }

    /// Creates a handler from its parts.
    ///
    /// - Parameters:
    ///   - connection: What the requests of the connection share.
    ///   - transport: How requests arrive.
    ///   - isForMixers: Whether only mixers connect: no media is served, and requests are not counted.
    public init(
        service: MediaService,
        connection: MediaConnection = MediaConnection(),
        transport: HTTPTransport = .http1,
        isForMixers: Bool = false
    ) {
        responder = MediaResponder(service: service, connection: connection)
        self.transport = transport
        self.isForMixers = isForMixers
    }

    // MARK: Requests

    /// Receives one part of a request.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastActivity = .now()
        hasReadPart = true
        headerBegan = nil
        guard !isClosing else { return }
        let part = unwrapInboundIn(data)
        guard pipelined.isEmpty, !mustQueue else {
            enqueue(part, context: context)
            return
        }
        handle(part, context: context)
    }

    /// Detects the start of a header: bytes between two requests that form no complete part.
    public func channelReadComplete(context: ChannelHandlerContext) {
        if !hasReadPart, !isStreaming, current == nil, !isForwarding, headerBegan == nil { headerBegan = .now() }
        hasReadPart = false
        context.fireChannelReadComplete()
    }

    /// Whether a response must be written before the next request may be handled.
    private var mustQueue: Bool {
        if waiting != nil || isIdentifying || (forwardedRequests > 0 && !isForwarding) { return true }
        return connection.isFull && current == nil && !isForwarding
    }

    private func handlePipelined(context: ChannelHandlerContext) {
        while !mustQueue, !isClosing, let part = pipelined.popFirst() {
            queuedBytes -= part.byteCount
            handle(part, context: context)
        }
        continueWhenNotFull(context: context)
    }

    /// Has the queued requests handled once the client has read enough of earlier responses.
    private func continueWhenNotFull(context: ChannelHandlerContext) {
        guard connection.isFull, !pipelined.isEmpty else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        connection.whenNotFull(ObjectIdentifier(self)) {
            let (handler, context) = bound.value
            handler.handlePipelined(context: context)
        }
    }

    private func enqueue(_ part: HTTPRequestPart, context: ChannelHandlerContext) {
        queuedBytes += part.byteCount
        guard pipelined.count < limits.pipelinedParts, queuedBytes <= limits.pipelinedBytes else {
            isClosing = true
            context.close(promise: nil)
            return
        }
        pipelined.append(part)
        continueWhenNotFull(context: context)
    }

    private func handle(_ part: HTTPRequestPart, context: ChannelHandlerContext) {
        // A stream owns the connection; requests pipelined behind it are never answered.
        guard !isStreaming else { return }
        switch part {
        case .head(let received):
            begin(received, context: context)
        case .body:
            if current == nil { context.fireChannelRead(wrapInboundOut(part)) }
        case .end:
            switch current.take() {
            case .media(let request, let head)?:
                answer(request, head: head, context: context)
            case .answered(let response, let head)?:
                send(response, to: head, context: context)
            case nil:
                isForwarding = false
                context.fireChannelRead(wrapInboundOut(part))
            }
        }
    }

    /// Decides who answers a request, by its head.
    private func begin(_ received: HTTPRequest, context: ChannelHandlerContext) {
        let sender = service.routing?.sender(received) ?? .client
        let head = ClientTrustPolicy.accepting(received, from: sender)
        guard sender != .forged else {
            current = .answered(.forgedSignature, head)
            return
        }
        let isOfNode = head.headerFields.contains(.forwardingNode)
        let isOfProxy = isOfNode || service.budget.isForwarding(client, head.headerFields)
        if isOfProxy { connection.leaveSlot() }
        // Another gateway sends requests of many viewers over one connection.
        if isOfNode { connection.viewer = .shared }
        guard service.budget.allowsRequest(from: client(of: head), head.headerFields, now: lastActivity) else {
            current = .answered(service.budget.refusal, head)
            return
        }
        if transport == .http1, !isForMixers, !isOfProxy, let location = service.secureLocation?(head) {
            current = .answered(.moved(to: location), head)
        } else if !isForMixers, let request = MediaRequest(path: head.path ?? "") {
            if service.routing?.isElsewhere(request.room) != true {
                current = .media(request, head)
            } else if isOfNode {
                current = .answered(.roomElsewhere, head)
            } else {
                forward(head, context: context)
            }
        } else {
            forward(head, context: context)
        }
    }

    /// Forwards the head of a request to the server behind.
    private func forward(_ head: HTTPRequest, context: ChannelHandlerContext) {
        forwardedRequests += 1
        isForwarding = true
        let head = service.trust.forwarding(
            head,
            peer: connection.peer(of: context.channel),
            client: service.budget.account(of: client(of: head), head.headerFields),
            mayLeave: service.routing != nil
        )
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Returns the client to which a request is charged: the one for which another gateway forwards it, else that of
    /// the connection.
    private func client(of head: HTTPRequest) -> RequestRateLimiter.Client {
        guard let text = head.headerFields[.clientOrigin] else { return client }
        return ClientOrigin(text: text)?.account.map { .one($0) } ?? .unlimited
    }

    private func answer(_ request: MediaRequest, head: HTTPRequest, context: ChannelHandlerContext) {
        let query = QueryItems(target: head.path ?? "")
        if let token = ClientTrustPolicy.token(of: head, query: query, for: request), service.trust.bearer != nil {
            identify(token, request, head: head, query: query, context: context)
        } else {
            answer(request, head: head, query: query, bearer: ViewerBearer(), context: context)
        }
    }

    private func answer(
        _ request: MediaRequest,
        head: HTTPRequest,
        query: QueryItems,
        bearer: ViewerBearer,
        context: ChannelHandlerContext
    ) {
        func makePlayer() -> PlayerRequest {
            responder.player(of: request, head, query: query, bearer: bearer, on: context.channel)
        }
        let response: MediaResponse
        switch (head.method, request.target) {
        case (.options, _):
            send(MediaResponse.preflight, [], closing: head.requestsClose, context: context)
            return
        case (.get, .flv):
            switch FLVStream.admit(room: request.room, player: makePlayer(), service: service) {
            case .success(let stream):
                isStreaming = true
                stream.begin(context: context, transport: transport)
                context.fireUserInboundEventTriggered(StreamingTakeover())
                return
            case .failure(let refusal):
                response = refusal.response
            }
        case (.head, .flv):
            response = FLVStream.headResponse(room: request.room, player: makePlayer(), service: service)
        case (.get, _), (.head, _):
            switch responder.respond(to: request, head, query: query, bearer: bearer, on: context.channel) {
            case .now(let now):
                response = now
            case .wait(let wait):
                begin(wait, for: request, head, context: context)
                return
            }
        default:
            response = .wrongMethod
        }
        send(response, to: head, for: request, context: context)
    }

    /// Verifies the token of a request and then answers it; requests behind it are queued meanwhile.
    private func identify(
        _ token: String,
        _ request: MediaRequest,
        head: HTTPRequest,
        query: QueryItems,
        context: ChannelHandlerContext
    ) {
        isIdentifying = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let trust = service.trust
        let room = service.feeds.named(request.room)?.room ?? request.room
        let found = context.eventLoop.makeFutureWithTask { try await trust.bearer?(token, room) }
        found.whenComplete { result in
            let (handler, context) = bound.value
            handler.isIdentifying = false
            // The client may have disconnected meanwhile.
            guard context.channel.isActive else { return }
            switch result {
            case .success(let bearer?):
                handler.answer(request, head: head, query: query, bearer: bearer, context: context)
            case .success(nil),
                .failure where !request.beginsSession:
                // A viewer counted twice is better than one not counted at all.
                handler.answer(request, head: head, query: query, bearer: ViewerBearer(), context: context)
            case .failure(ViewerTokenRefusal.operatorToken):
                handler.send(.operatorTokenInURL, to: head, context: context)
            case .failure:
                handler.send(.invalidToken, to: head, context: context)
            }
            handler.handlePipelined(context: context)
        }
    }

    // MARK: Waiting requests

    private func begin(
        _ wait: PendingMediaRequest,
        for request: MediaRequest,
        _ head: HTTPRequest,
        context: ChannelHandlerContext
    ) {
        guard let queue = wait.program.queue(for: wait.target, on: context.eventLoop) else {
            // The media has arrived since the check.
            send(service.respond(after: wait, .arrived), to: head, for: request, context: context)
            return
        }
        if let refusal = service.waits.acquire(wait.sid) {
            send(refusal == .session ? .tooManyWaits : .noRoomToWait, to: head, context: context)
            return
        }
        let deadline = context.eventLoop.now + wait.program.blockingReloadTimeout
        // Captures two values instead of the whole head: thousands of requests may wait.
        let (range, closing) = (head.headerFields[.range], head.requestsClose)
        let receiver = responder.receiver(of: request, head, client: client(of: head))
        let entry = BlockingReload(for: wait.target, until: deadline) { [self] end in
            waiting = nil
            service.waits.release(wait.sid)
            let response = service.respond(after: wait, end)
            send(response, method: .get, range: range, closing: closing, to: receiver, context: context)
            handlePipelined(context: context)
        }
        waiting = (entry, wait.sid)
        queue.add(entry)
    }

    private func endWait() {
        guard let (entry, sid) = waiting else { return }
        waiting = nil
        entry.cancel()
        service.waits.release(sid)
    }

    /// Closes the connection of a waiting client that closed its side, even if its socket is still writable; when the
    /// listener shuts down, ends the wait and delays the event until pending responses are written.
    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, waiting != nil || isIdentifying || pendingWrites > 0 {
            quiesceContext = context
            waiting?.entry.giveUp()
            let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: Self.drainTimeout) { handler.value.forwardQuiesceEvent() }
            return
        }
        if waiting != nil, case .inputClosed? = event as? ChannelEvent {
            endWait()
            context.close(promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func forwardQuiesceEvent() {
        quiesceContext.take()?.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    // MARK: Sending

    /// - Parameter request: The media request; nil if the response is no media.
    private func send(
        _ response: MediaResponse,
        to asked: HTTPRequest,
        for request: MediaRequest? = nil,
        context: ChannelHandlerContext
    ) {
        send(
            response,
            method: asked.method,
            range: asked.headerFields[.range],
            closing: asked.requestsClose,
            to: response.allowsRanges ? responder.receiver(of: request, asked, client: client(of: asked)) : nil,
            context: context
        )
    }

    private func send(
        _ response: MediaResponse,
        method: HTTPRequest.Method,
        range: String?,
        closing: Bool,
        to receiver: MediaResponder.Receiver?,
        context: ChannelHandlerContext
    ) {
        if let requestLimit, requestLimit.allowsEncodedResponse, !response.body.isEmpty,
            let head = response.encodedFileHead(method: method, range: range, dates: service.dates, isLast: closing)
        {
            let bytes = response.body.byteCount
            responder.recordDelivery(response, bytes: bytes, to: receiver)
            service.feeds.budget.sent.add(UInt64(bytes), by: .hls)
            write(bytes, closing: closing, context: context) { end in
                requestLimit.writeEncoded(head: head, response.body, promise: end)
            }
            return
        }
        let (head, body) = response.resolved(method: method, range: range)
        responder.recordDelivery(response, bytes: body.byteCount, to: receiver)
        send(head, body, closing: closing, context: context)
    }

    private func send(_ head: HTTPResponse, _ body: [ByteBuffer], closing: Bool, context: ChannelHandlerContext) {
        var head = head
        head.headerFields[.date] = service.dates.text
        if closing { head.headerFields[.connection] = "close" }
        let bytes = body.byteCount
        if head.status.kind == .successful { service.feeds.budget.sent.add(UInt64(bytes), by: .hls) }
        write(bytes, closing: closing, context: context) { end in
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            for buffer in body { context.write(wrapOutboundOut(.body(buffer)), promise: nil) }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
        }
    }

    /// Counts a response of `bytes` as pending until the promise that `body` receives is completed.
    private func write(
        _ bytes: Int,
        closing: Bool,
        context: ChannelHandlerContext,
        _ body: (_ end: EventLoopPromise<Void>) -> Void
    ) {
        isClosing = closing
        let end = context.eventLoop.makePromise(of: Void.self)
        trackPendingWrite(of: bytes, end.futureResult)
        if closing { end.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
        body(end)
        // A stream of HTTP/2 ends with its response, so that few need a timer.
        if pendingWrites > 0 { beginIdleCheck(context: context) }
        // The client sends requests without reading the responses.
        if pendingWrites > limits.pipelinedParts { context.close(promise: nil) }
    }

    /// Counts a response as pending until `end`.
    private func trackPendingWrite(of bytes: Int, _ end: EventLoopFuture<Void>) {
        pendingWrites += 1
        connection.began(bytes)
        end.assumeIsolated().whenComplete { _ in
            self.pendingWrites -= 1
            self.connection.completed(bytes)
            self.lastActivity = .now()
            if self.pendingWrites == 0 { self.forwardQuiesceEvent() }
        }
    }

    // MARK: Responses of the server behind

    /// Forwards one part of a response from the server behind.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        lastActivity = .now()
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        guard isEnd, forwardedRequests > 0 else { return }
        forwardedRequests -= 1
        handlePipelined(context: context)
    }

    // MARK: Idle connections

    /// Tracks since when the channel is not writable.
    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        blockedSince = context.channel.isWritable ? nil : .now()
        context.fireChannelWritabilityChanged()
    }

    /// Starts the idle check of a connection; that of an HTTP/2 stream starts when the client does not read its response.
    public func handlerAdded(context: ChannelHandlerContext) {
        if !isForMixers { client = service.budget.client(at: context.channel.remoteAddress) }
        requestLimit = try? context.pipeline.syncOperations.handler(type: RequestLimitHandler.self)
        // The connection of an HTTP/2 stream has the socket and the idle timeout.
        guard transport != .http2 else { return }
        PeerSocketOptions.configure(context.channel)
        beginIdleCheck(context: context)
    }

    private func beginIdleCheck(context: ChannelHandlerContext) {
        guard idleCheck == nil else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        idleCheck = context.eventLoop.scheduleRepeatedTask(initialDelay: limits.idleCheck, delay: limits.idleCheck) {
            _ in
            let (handler, context) = bound.value
            handler.closeIfIdle(context: context)
        }
    }

    /// Stops the idle check and cancels a wait.
    public func handlerRemoved(context: ChannelHandlerContext) {
        idleCheck?.cancel()
        idleCheck = nil
        quiesceContext = nil
        requestLimit = nil
        connection.whenNotFull(ObjectIdentifier(self), nil)
        endWait()
    }

    /// Cancels everything when the connection is closed.
    public func channelInactive(context: ChannelHandlerContext) {
        idleCheck?.cancel()
        idleCheck = nil
        endWait()
        context.fireChannelInactive()
    }

    private func closeIfIdle(context: ChannelHandlerContext) {
        // A waiting request has its own deadline.
        guard !isStreaming, waiting == nil else { return }
        let now = MonotonicTime.now().nanoseconds
        if let blockedSince, now - blockedSince.nanoseconds > limits.answer.nanoseconds {
            context.close(promise: nil)
            return
        }
        // A complete request that the server behind answers has no time limit here.
        guard forwardedRequests == 0 || isForwarding else { return }
        if let headerBegan, now - headerBegan.nanoseconds > limits.header.nanoseconds {
            context.close(promise: nil)
            return
        }
        let timeout = pendingWrites > 0 ? limits.answer : limits.idle
        if now - lastActivity.nanoseconds > timeout.nanoseconds { context.close(promise: nil) }
    }
}

extension HTTPRequestPart {
    fileprivate var byteCount: Int {
        switch self {
        case .head(let head):
            head.headerFields.reduce(head.path?.utf8.count ?? 0) { sum, field in
                sum + field.name.rawName.utf8.count + field.value.utf8.count
            }
        case .body(let bytes):
            bytes.readableBytes
        case .end:
            0
        }
    }
}

extension HTTPRequest {
    fileprivate var requestsClose: Bool {
        guard let options = headerFields[.connection] else { return false }
        return options.lowercased().split(separator: ",").contains { $0.drop { $0 == " " }.hasPrefix("close") }
    }
}
