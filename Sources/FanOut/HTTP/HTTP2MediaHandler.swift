import HTTPTypes
import Media
public import NIOCore
import NIOHPACK
public import NIOHTTP2
import RTMP
import Stage

/// Answers playback requests of an HTTP/2 connection without a channel for each stream.
///
/// It is directly behind an `NIOHTTP2Handler`, which decodes frames, validates them and limits their rates, and ahead of
/// a `HTTP2StreamMultiplexer`. A GET or HEAD request for a playlist or a file is answered here with one HEADERS frame and
/// the DATA frames of its shared buffers. All frames of other streams pass through unchanged: the multiplexer makes a
/// channel of each, whose `MediaHTTPHandler` serves what is left of media, such as HTTP-FLV and requests with a token.
///
/// The streams answered here are bounded by the connection's SETTINGS_MAX_CONCURRENT_STREAMS, and the bytes of their
/// pending responses by `MediaConnection.isFull`.
///
/// Used on the connection's event loop.
public final class HTTP2MediaHandler: ChannelInboundHandler {
    /// Frames from the client.
    public typealias InboundIn = HTTP2Frame
    /// Frames of streams that are not answered here, and of the connection.
    public typealias InboundOut = HTTP2Frame
    /// Frames to the client.
    public typealias OutboundOut = HTTP2Frame

    /// A stream that is answered here.
    private enum Stream {
        /// The request waits for media.
        case waiting(BlockingReload, sid: String?)
        /// The response is being written.
        case responding(since: MonotonicTime)
    }

    private let responder: MediaResponder
    private var service: MediaService { responder.service }
    private var connection: MediaConnection { responder.connection }
    private var client = RequestRateLimiter.Client.unlimited
    private var streams: [HTTP2StreamID: Stream] = [:]
    /// The number of all open streams, answered here or not.
    private var openStreams = 0
    /// When the latest stream was closed, or the connection opened.
    private var lastActivity = MonotonicTime.now()
    /// Whether the connection is ending because it was idle.
    private var isEnding = false
    /// Whether frames are being read, at whose end the HTTP/2 handler flushes.
    private var isReading = false
    private var isFlushScheduled = false
    private var idleCheck: RepeatedTask?

    /// Creates a handler for one connection.
    ///
    /// - Parameter connection: What the requests of the connection share, those of other streams included.
    public init(service: MediaService, connection: MediaConnection) {
        responder = MediaResponder(service: service, connection: connection)
    }

    // MARK: Requests

    /// Answers a request, or forwards a frame.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = true
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let headers) where headers.endStream:
            if handle(headers.headers, on: frame.streamID, context: context) { return }
        case .rstStream, .windowUpdate:
            // The HTTP/2 handler has applied it; a `StreamClosedEvent` follows the former.
            if streams[frame.streamID] != nil { return }
        default:
            break
        }
        context.fireChannelRead(data)
    }

    /// Ends the reading of frames; the HTTP/2 handler has flushed.
    public func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
    }

    /// Answers a request if it is a playback request that needs no channel.
    ///
    /// - Returns: Whether it is answered here.
    private func handle(_ headers: HPACKHeaders, on stream: HTTP2StreamID, context: ChannelHandlerContext) -> Bool {
        // A trailer has no path.
        guard !connection.isFull, let path = headers.first(name: ":path"), let request = MediaRequest(path: path),
            request.target != .flv, let head = HTTPRequest(media: headers, path: path),
            !head.concernsNodes, service.routing?.isElsewhere(request.room) != true
        else { return false }
        let query = QueryItems(target: path)
        if service.trust.bearer != nil, ClientTrustPolicy.token(of: head, query: query, for: request) != nil {
            return false
        }
        if service.budget.isForwarding(client, head.headerFields) { connection.leaveSlot() }
        guard service.budget.allowsRequest(from: client, head.headerFields, now: .now()) else {
            send(service.budget.refusal, to: head, on: stream, context: context)
            return true
        }
        let result = responder.respond(to: request, head, query: query, bearer: ViewerBearer(), on: context.channel)
        switch result {
        case .now(let response):
            send(response, to: head, for: request, on: stream, context: context)
        case .wait(let wait):
            begin(wait, for: request, head, on: stream, context: context)
        }
        return true
    }

    // MARK: Waiting requests

    private func begin(
        _ wait: PendingMediaRequest,
        for request: MediaRequest,
        _ head: HTTPRequest,
        on stream: HTTP2StreamID,
        context: ChannelHandlerContext
    ) {
        guard let queue = wait.program.queue(for: wait.target, on: context.eventLoop) else {
            // The media has arrived since the check.
            send(service.respond(after: wait, .arrived), to: head, for: request, on: stream, context: context)
            return
        }
        if let refusal = service.waits.acquire(wait.sid) {
            let response = refusal == .session ? MediaResponse.tooManyWaits : .noRoomToWait
            send(response, to: head, on: stream, context: context)
            return
        }
        let deadline = context.eventLoop.now + wait.program.blockingReloadTimeout
        // Captures two values instead of the whole head: thousands of requests may wait.
        let range = head.headerFields[.range]
        let receiver = responder.receiver(of: request, head, client: client)
        let entry = BlockingReload(for: wait.target, until: deadline) { [self] end in
            service.waits.release(wait.sid)
            let response = service.respond(after: wait, end)
            send(response, method: .get, range: range, to: receiver, on: stream, context: context)
        }
        streams[stream] = .waiting(entry, sid: wait.sid)
        queue.add(entry)
    }

    private func cancel(_ stream: Stream) {
        guard case .waiting(let entry, let sid) = stream else { return }
        entry.cancel()
        service.waits.release(sid)
    }

    // MARK: Responses

    /// - Parameter request: The media request; nil if the response is no media.
    private func send(
        _ response: MediaResponse,
        to head: HTTPRequest,
        for request: MediaRequest? = nil,
        on stream: HTTP2StreamID,
        context: ChannelHandlerContext
    ) {
        send(
            response,
            method: head.method,
            range: head.headerFields[.range],
            to: response.allowsRanges ? responder.receiver(of: request, head, client: client) : nil,
            on: stream,
            context: context
        )
    }

    private func send(
        _ response: MediaResponse,
        method: HTTPRequest.Method,
        range: String?,
        to receiver: MediaResponder.Receiver?,
        on stream: HTTP2StreamID,
        context: ChannelHandlerContext
    ) {
        let (head, body) = response.resolved(method: method, range: range)
        let bytes = body.byteCount
        responder.recordDelivery(response, bytes: bytes, to: receiver)
        if head.status.kind == .successful { service.feeds.budget.sent.add(UInt64(bytes), by: .hls) }
        streams[stream] = .responding(since: .now())
        let end = context.eventLoop.makePromise(of: Void.self)
        let connection = connection
        connection.began(bytes)
        end.futureResult.assumeIsolated().whenComplete { _ in connection.completed(bytes) }

        let fields = HPACKHeaders(head, date: service.dates.text)
        write(.headers(.init(headers: fields, endStream: bytes == 0)), bytes == 0 ? end : nil, stream, context)
        if bytes > 0 {
            let last = body.count - 1
            for (index, buffer) in body.enumerated() {
                let data = HTTP2Frame.FramePayload.Data(data: .byteBuffer(buffer), endStream: index == last)
                write(.data(data), index == last ? end : nil, stream, context)
            }
        }
        flushLater(context: context)
    }

    private func write(
        _ payload: HTTP2Frame.FramePayload,
        _ promise: EventLoopPromise<Void>?,
        _ stream: HTTP2StreamID,
        _ context: ChannelHandlerContext
    ) {
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: promise)
    }

    /// Flushes once for all responses that are written in this turn of the event loop: a playlist and the part that it
    /// announces are released together.
    private func flushLater(context: ChannelHandlerContext) {
        guard !isReading, !isFlushScheduled else { return }
        isFlushScheduled = true
        context.eventLoop.assumeIsolated().execute { [self] in
            isFlushScheduled = false
            context.flush()
        }
    }

    // MARK: Events

    /// Ends what belongs to closed streams; when the listener shuts down, ends the waits.
    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is NIOHTTP2StreamCreatedEvent:
            openStreams += 1
        case let event as StreamClosedEvent:
            openStreams -= 1
            lastActivity = .now()
            if let stream = streams.removeValue(forKey: event.streamID) { cancel(stream) }
        case is ChannelShouldQuiesceEvent:
            for case .waiting(let entry, _) in Array(streams.values) { entry.giveUp() }
        default:
            break
        }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Idle connections

    /// Starts the idle check.
    public func handlerAdded(context: ChannelHandlerContext) {
        client = service.budget.client(at: context.channel.remoteAddress)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let interval = service.limits.idleCheck
        idleCheck = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            let (handler, context) = bound.value
            handler.checkIdle(context: context)
        }
    }

    /// Resets streams whose response the client does not read, and ends a connection without streams.
    private func checkIdle(context: ChannelHandlerContext) {
        let now = MonotonicTime.now().nanoseconds
        for (stream, state) in streams {
            guard case .responding(let since) = state else { continue }
            guard now - since.nanoseconds > service.limits.answer.nanoseconds else { continue }
            write(.rstStream(.cancel), nil, stream, context)
        }
        context.flush()
        guard openStreams == 0, now - lastActivity.nanoseconds > service.limits.idle.nanoseconds else { return }
        if isEnding {
            // The client has not closed after GOAWAY.
            context.close(promise: nil)
        } else {
            isEnding = true
            context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    /// Cancels everything when the connection is closed.
    public func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    /// Cancels everything.
    public func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    private func end() {
        idleCheck?.cancel()
        idleCheck = nil
        let streams = streams
        self.streams = [:]
        for stream in streams.values { cancel(stream) }
    }
}

extension HTTPRequest {
    /// Whether another gateway forwards the request, or somebody pretends so.
    fileprivate var concernsNodes: Bool {
        headerFields.contains(.nodeSignature) || headerFields.contains(.clientOrigin)
            || headerFields.contains(.forwardingNode)
    }

    /// Reads a GET or HEAD request for media; nil for other methods, and if a field has no valid name.
    ///
    /// - Parameters:
    ///   - headers: A header block, as validated by the HTTP/2 handler.
    ///   - path: Its path.
    fileprivate init?(media headers: HPACKHeaders, path: String) {
        let method: Method
        switch headers.first(name: ":method") {
        case "GET": method = .get
        case "HEAD": method = .head
        default: return nil
        }
        self.init(method: method, scheme: "https", authority: nil, path: path)
        for (name, value, _) in headers where name.utf8.first != UInt8(ascii: ":") {
            guard let name = HTTPField.Name(parsed: name) else { return nil }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}

extension HPACKHeaders {
    /// Converts the head of a response.
    fileprivate init(_ head: HTTPResponse, date: String) {
        self.init()
        reserveCapacity(head.headerFields.count + 2)
        add(name: ":status", value: String(head.status.code))
        for field in head.headerFields {
            add(name: field.name.canonicalName, value: field.value, indexing: Self.indexing(of: field.name))
        }
        add(name: "date", value: date, indexing: .nonIndexable)
    }

    /// Fields that differ from response to response would displace the others from the header table.
    private static func indexing(of name: HTTPField.Name) -> HPACKIndexing {
        switch name {
        case .contentLength, .contentRange, .location: .nonIndexable
        default: .indexable
        }
    }
}
