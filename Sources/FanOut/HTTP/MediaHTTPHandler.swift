import HTTPTypes
public import Media
public import NIOCore
public import NIOHTTPTypes
import RTMP
import Stage

/// Answers playback requests on the event loop, ahead of the server that answers everything else on the same port.
///
/// A request under `/live/` never leaves this handler: no task is made for it and nothing is awaited; one for media that
/// is being made is an entry of a waiting line until then. Other requests pass through untouched. Answers must leave in
/// the order of the requests, so what a client pipelines behind a request that waits, or that is still being answered
/// elsewhere, is held back until that answer has gone.
public final class MediaHTTPHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Parts of requests.
    public typealias InboundIn = HTTPRequestPart
    /// Parts of the requests that are passed on.
    public typealias InboundOut = HTTPRequestPart
    /// Parts of the answers to those.
    public typealias OutboundIn = HTTPResponsePart
    /// Parts of all answers.
    public typealias OutboundOut = HTTPResponsePart

    /// Told to those behind: a stream has the connection to itself from now on, and no request will come.
    public struct TakenOver: Sendable {}

    private let site: MediaSite
    /// How long the end of the listener waits for answers to leave; a client may take them as slowly as it plays.
    private static let longestLeaving = TimeAmount.seconds(1)

    private let isForMixers: Bool
    private var place: ClientPlace?
    private var limits: HTTPLimits { site.limits }
    /// A request that is answered here and whose end has not come yet; without a `MediaRequest` it was one too many.
    private var current: (request: MediaRequest?, head: HTTPRequest)?
    /// From whose budget the connection's requests are taken.
    private var client = RequestBudget.Client.unlimited
    /// Requests passed on whose answers have not gone out yet.
    private var passedOn = 0
    private var isPassingOn = false
    private var held: CircularBuffer<HTTPRequestPart> = []
    /// What those take, in bytes.
    private var heldBytes = 0
    private var isStreaming = false
    /// A request that waits for media, and whose it is.
    private var waiting: (entry: HLSWait, sid: String?)?
    /// Whom segments are sent to.
    private var viewer = ConnectionViewer.nobody
    /// Tells this connection from others of its client; what several viewers share is another one for each file.
    private var connection: UInt64 {
        if case .several = viewer { UInt64.random(in: .min ... .max) } else { number }
    }
    private let number = UInt64.random(in: .min ... .max)
    /// A request shows a token, and whose it is is being found out.
    private var isIdentifying = false
    /// The client asked for the connection to end with the answer that is on its way.
    private var isClosing = false
    /// Answers of ours that have not left whole.
    private var answersLeaving = 0
    /// The listener ends, which those behind, who close the connection, hear of when our answers have left.
    private var whenAnswered: ChannelHandlerContext?
    /// Since when the beginning of a header waits for its end.
    private var headerBegan: MonotonicTime?
    /// Since when the client takes nothing of what waits for it, an answer without end included.
    private var blockedSince: MonotonicTime?
    private var hasReadPart = false
    private var lastActivity = MonotonicTime.now()
    private var idleCheck: RepeatedTask?

    /// Makes one from its parts.
    ///
    /// - Parameters:
    ///   - place: The connection's place among its client's, given back early when it turns out to be a proxy's.
    ///   - isForMixers: Whether only mixers connect: no media is answered, and nobody counts their requests.
    public init(site: MediaSite, place: ClientPlace? = nil, isForMixers: Bool = false) {
        self.site = site
        self.place = place
        self.isForMixers = isForMixers
    }

    // MARK: Requests

    /// Takes one part of a request.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastActivity = .now()
        hasReadPart = true
        headerBegan = nil
        guard !isClosing else { return }
        let part = unwrapInboundIn(data)
        guard held.isEmpty, !mustHold else {
            hold(part, context: context)
            return
        }
        handle(part, context: context)
    }

    /// Bytes came that are no whole part: between two requests they are the beginning of a header.
    public func channelReadComplete(context: ChannelHandlerContext) {
        if !hasReadPart, !isStreaming, current == nil, !isPassingOn, headerBegan == nil { headerBegan = .now() }
        hasReadPart = false
        context.fireChannelReadComplete()
    }

    /// An answer is to leave before anything else may be answered.
    private var mustHold: Bool { waiting != nil || isIdentifying || (passedOn > 0 && !isPassingOn) }

    private func handleHeld(context: ChannelHandlerContext) {
        while !mustHold, !isClosing, let part = held.popFirst() {
            heldBytes -= part.byteCount
            handle(part, context: context)
        }
    }

    private func hold(_ part: HTTPRequestPart, context: ChannelHandlerContext) {
        heldBytes += part.byteCount
        guard held.count < limits.pipelinedParts, heldBytes <= limits.pipelinedBytes else {
            isClosing = true
            context.close(promise: nil)
            return
        }
        held.append(part)
    }

    private func handle(_ part: HTTPRequestPart, context: ChannelHandlerContext) {
        // A stream has the connection to itself; what was asked behind it is never answered.
        guard !isStreaming else { return }
        switch part {
        case .head(let head):
            if let held = place, site.budget.isForwarding(client, head.headerFields) {
                // What a proxy on this machine has open is open for many.
                held.leave()
                place = nil
            }
            guard site.budget.takesRequest(from: client, head.headerFields, now: lastActivity) else {
                current = (nil, head)
                return
            }
            if !isForMixers, let request = MediaRequest(path: head.path ?? "") {
                current = (request, head)
            } else {
                passedOn += 1
                isPassingOn = true
                let client = site.budget.account(of: client, head.headerFields)
                let head = site.reading.passingOn(head, peer: context.remoteAddress?.ipAddress, client: client)
                context.fireChannelRead(wrapInboundOut(.head(head)))
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

    private func answer(_ request: MediaRequest?, head: HTTPRequest, context: ChannelHandlerContext) {
        guard let request else {
            send(site.tooManyRequests, to: head, context: context)
            return
        }
        let query = QueryItems(target: head.path ?? "")
        if let token = PlayerReading.token(of: head, query: query, for: request), site.reading.bearer != nil {
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
            let peer = context.remoteAddress?.ipAddress
            return PlayerRequest(
                head,
                for: request,
                query: query,
                peer: peer,
                bearer: bearer,
                reading: site.reading
            )
        }
        let response: MediaResponse
        switch (head.method, request.target) {
        case (.options, _):
            send(MediaResponse.preflight, [], closing: head.asksToClose, context: context)
            return
        case (.get, .flv):
            switch FLVStream.admit(room: request.room, player: makePlayer(), site: site) {
            case .success(let stream):
                isStreaming = true
                stream.begin(context: context)
                context.fireUserInboundEventTriggered(TakenOver())
                return
            case .failure(let refusal):
                response = refusal.response
            }
        case (.head, .flv):
            response = FLVStream.headAnswer(room: request.room, player: makePlayer(), site: site)
        case (.get, _), (.head, _):
            let player: PlayerRequest
            if case .file = request.target, !PlayerReading.hasCMCD(head, query: query) {
                // A file is the same for everybody.
                player = PlayerRequest(sid: request.sid, isHead: head.method == .head)
            } else {
                player = makePlayer()
                if case .file = request.target, head.method == .get {
                    site.audience.hear(player, in: request.room, on: request.sid ?? viewer.sid)
                }
            }
            switch site.respond(to: request, query: query, player: player) {
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

    /// Finds out whose token a request shows, and answers it then; what comes behind it is held back.
    private func identify(
        _ token: String,
        _ request: MediaRequest,
        head: HTTPRequest,
        query: QueryItems,
        context: ChannelHandlerContext
    ) {
        isIdentifying = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let reading = site.reading
        let room = site.feeds.named(request.room)?.room ?? request.room
        let found = context.eventLoop.makeFutureWithTask { try await reading.bearer?(token, room) }
        found.whenComplete { result in
            let (handler, context) = bound.value
            handler.isIdentifying = false
            // The client may have gone meanwhile.
            guard context.channel.isActive else { return }
            switch result {
            case .success(let bearer?):
                handler.answer(request, head: head, query: query, bearer: bearer, context: context)
            case .success(nil),
                .failure where !request.beginsSession:
                // Better seen twice than not at all.
                handler.answer(request, head: head, query: query, bearer: ViewerBearer(), context: context)
            case .failure(ViewerTokenRefusal.operatorToken):
                handler.send(.operatorTokenInURL, to: head, context: context)
            case .failure:
                handler.send(.invalidToken, to: head, context: context)
            }
            handler.handleHeld(context: context)
        }
    }

    // MARK: Waiting requests

    private func begin(
        _ wait: MediaWait,
        for request: MediaRequest,
        _ head: HTTPRequest,
        context: ChannelHandlerContext
    ) {
        guard let line = wait.program.line(for: wait.target, on: context.eventLoop) else {
            // What it waits for came between the question and now.
            send(site.respond(after: wait, .arrived), to: head, for: request, context: context)
            return
        }
        if let refusal = site.waits.enter(wait.sid) {
            send(refusal == .session ? .tooManyWaits : .noRoomToWait, to: head, context: context)
            return
        }
        let deadline = context.eventLoop.now + wait.program.longestWait
        // Not the whole head: thousands may wait.
        let (range, closing) = (head.headerFields[.range], head.asksToClose)
        let media = mediaReceiver(of: request, head)
        let entry = HLSWait(for: wait.target, until: deadline) { [self] end in
            waiting = nil
            site.waits.leave(wait.sid)
            let response = site.respond(after: wait, end)
            let (head, body) = response.resolved(method: .get, range: range)
            note(response, bytes: body.byteCount, for: media)
            send(head, body, closing: closing, context: context)
            handleHeld(context: context)
        }
        waiting = (entry, wait.sid)
        line.add(entry)
    }

    private func endWait() {
        guard let (entry, sid) = waiting else { return }
        waiting = nil
        entry.cancel()
        site.waits.leave(sid)
    }

    /// A client that waits and closes its side is gone, even if its socket would still take bytes; the end of the listener
    /// waits a moment for answers that are on their way, and nobody waits for media any more.
    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, waiting != nil || isIdentifying || answersLeaving > 0 {
            whenAnswered = context
            waiting?.entry.giveUp()
            let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: Self.longestLeaving) { handler.value.tellOfListenersEnd() }
            return
        }
        if waiting != nil, case .inputClosed? = event as? ChannelEvent {
            endWait()
            context.close(promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func tellOfListenersEnd() {
        whenAnswered.take()?.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    // MARK: Sending

    /// - Parameter request: What was asked for; nil where that does not matter.
    private func send(
        _ response: MediaResponse,
        to asked: HTTPRequest,
        for request: MediaRequest? = nil,
        context: ChannelHandlerContext
    ) {
        let (head, body) = response.resolved(method: asked.method, range: asked.headerFields[.range])
        note(response, bytes: body.byteCount, for: response.allowsRanges ? mediaReceiver(of: request, asked) : nil)
        send(head, body, closing: asked.asksToClose, context: context)
    }

    /// Who gets a media file.
    private struct MediaReceiver {
        var room: String
        /// The session that the path names.
        var sid: String?
        /// A `PeerAddress.account`; nil where nobody knows whose connection it is.
        var client: UInt64?
        /// An initialization segment is fetched again and again by some, and plays nothing.
        var isInitialization: Bool
    }

    /// Who gets the media file that a request asks for; nil for a request for anything else.
    private func mediaReceiver(of request: MediaRequest?, _ head: HTTPRequest) -> MediaReceiver? {
        guard let request, case .file(_, let name) = request.target else { return nil }
        return MediaReceiver(
            room: request.room,
            sid: request.sid,
            client: site.budget.account(of: client, head.headerFields),
            isInitialization: name.hasPrefix("init")
        )
    }

    private func note(_ response: MediaResponse, bytes: Int, for media: MediaReceiver?) {
        if response.viewer == nil, response.allowsRanges, bytes > 0, let media, let sid = media.sid {
            return noteFile(bytes: bytes, of: sid, in: media.room)
        }
        guard viewer.note(response, bytes: bytes), viewer.sid == nil, let media, let client = media.client,
            !media.isInitialization
        else { return }
        site.audience.mediaServed(in: media.room, to: client, over: connection, at: .now())
    }

    /// A media file, or `bytes` of one, was sent to a session that its request names.
    private func noteFile(bytes: Int, of sid: String, in room: String) {
        let event = AudienceEvent(
            sid: sid,
            room: room,
            playback: .hls,
            kind: .delivered,
            at: .now(),
            bytes: bytes,
            isMediaSeen: true
        )
        site.audience.record(event)
    }

    private func send(_ head: HTTPResponse, _ body: [ByteBuffer], closing: Bool, context: ChannelHandlerContext) {
        var head = head
        head.headerFields[.date] = site.dates.text
        if closing { head.headerFields[.connection] = "close" }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        for buffer in body { context.write(wrapOutboundOut(.body(buffer)), promise: nil) }
        if head.status.kind == .successful { site.feeds.budget.sent.add(UInt64(body.byteCount), by: .hls) }
        isClosing = closing
        let end = context.eventLoop.makePromise(of: Void.self)
        awaitLeaving(end.futureResult)
        if closing { end.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
        // A client that goes on asking without reading what it is sent.
        if answersLeaving > limits.pipelinedParts { context.close(promise: nil) }
    }

    /// Counts an answer as leaving until `end`.
    private func awaitLeaving(_ end: EventLoopFuture<Void>) {
        answersLeaving += 1
        end.assumeIsolated().whenComplete { _ in
            self.answersLeaving -= 1
            self.lastActivity = .now()
            if self.answersLeaving == 0 { self.tellOfListenersEnd() }
        }
    }

    // MARK: Answers of the server behind

    /// Takes one part of an answer from the server behind.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        lastActivity = .now()
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        guard isEnd, passedOn > 0 else { return }
        passedOn -= 1
        handleHeld(context: context)
    }

    // MARK: Idle connections

    /// More waits for the client than it takes, or it takes again.
    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        blockedSince = context.channel.isWritable ? nil : .now()
        context.fireChannelWritabilityChanged()
    }

    /// Begins to watch for idleness.
    public func handlerAdded(context: ChannelHandlerContext) {
        if !isForMixers { client = site.budget.client(at: context.channel.remoteAddress) }
        PeerSocket.setUp(context.channel)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        idleCheck = context.eventLoop.scheduleRepeatedTask(initialDelay: limits.idleCheck, delay: limits.idleCheck) {
            _ in
            let (handler, context) = bound.value
            handler.closeIfIdle(context: context)
        }
    }

    /// Stops watching, and waiting.
    public func handlerRemoved(context: ChannelHandlerContext) {
        idleCheck?.cancel()
        idleCheck = nil
        whenAnswered = nil
        endWait()
    }

    /// The connection is gone.
    public func channelInactive(context: ChannelHandlerContext) {
        idleCheck?.cancel()
        idleCheck = nil
        endWait()
        context.fireChannelInactive()
    }

    private func closeIfIdle(context: ChannelHandlerContext) {
        // A wait has its own deadline.
        guard !isStreaming, waiting == nil else { return }
        let now = MonotonicTime.now().nanoseconds
        if let blockedSince, now - blockedSince.nanoseconds > limits.answer.nanoseconds {
            context.close(promise: nil)
            return
        }
        // What is answered elsewhere takes the time it takes, once its request is whole.
        guard passedOn == 0 || isPassingOn else { return }
        if let headerBegan, now - headerBegan.nanoseconds > limits.header.nanoseconds {
            context.close(promise: nil)
            return
        }
        let patience = answersLeaving > 0 ? limits.answer : limits.idle
        if now - lastActivity.nanoseconds > patience.nanoseconds { context.close(promise: nil) }
    }
}

extension [ByteBuffer] {
    fileprivate var byteCount: Int { reduce(0) { $0 + $1.readableBytes } }
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
    fileprivate var asksToClose: Bool {
        guard let options = headerFields[.connection] else { return false }
        return options.lowercased().split(separator: ",").contains { $0.drop { $0 == " " }.hasPrefix("close") }
    }
}
