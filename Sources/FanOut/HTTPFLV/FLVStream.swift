import HTTPTypes
import Media
import NIOCore
import NIOHTTPTypes
import RTMP
import Stage

/// One HTTP-FLV viewer: takes over a connection after its request and writes FLV tags.
///
/// Over HTTP/1.1 the response has no length and ends with the connection. The HTTP encoder, which would add chunked
/// framing to every buffer, is bypassed: the handler is at the head of the pipeline, behind TLS if that is used, and
/// without TLS the tags go directly to the socket. Over HTTP/2 the tags are the body of a stream.
final class FLVStream: ChannelInboundHandler, ViewerOutput {
    typealias InboundIn = ByteBuffer

    /// The response to a refused request for a stream.
    struct Refusal: Error {
        let response: MediaResponse
    }

    private let feed: Feed
    private let sid: String
    /// Records the viewer; nil for requests that are not recorded, such as a browser's prefetch.
    private let session: PlaybackSession?
    private let dates: HTTPDateCache
    /// Makes the connection known, and returns what is held while it is open.
    private let connect: (_ close: @escaping @Sendable () -> Void) -> ViewerSlot?
    private var connection: ViewerSlot?
    private var viewer: FeedViewer?
    private var context: ChannelHandlerContext?
    private var writer: MediaWriter?
    private var transport = HTTPTransport.http1

    private init(
        feed: Feed,
        sid: String,
        session: PlaybackSession?,
        dates: HTTPDateCache,
        connect: @escaping (_ close: @escaping @Sendable () -> Void) -> ViewerSlot?
    ) {
        self.feed = feed
        self.sid = sid
        self.session = session
        self.dates = dates
        self.connect = connect
    }

    /// Admits a viewer; a valid `sid` in the query resumes that session.
    ///
    /// Players that are not counted are admitted as well.
    static func admit(room: String, player: PlayerRequest, service: MediaService) -> Result<FLVStream, Refusal> {
        guard let (feed, room) = service.feeds.playable(room) else {
            return .failure(Refusal(response: .refusal(.notFound, "there is no such room")))
        }
        guard service.feeds.hasCapacity(for: player, by: .flv, in: room, among: service.audience) else {
            return .failure(Refusal(response: .busy))
        }
        let admission = service.audience.admit(player, to: room)
        guard let sid = admission.sid else { return .failure(Refusal(response: admission.refusal)) }
        let isRecorded = admission.recordedSID(of: player) != nil
        guard let place = isRecorded ? service.audience.reserveSlot(in: room, for: player) : .unlimited else {
            return .failure(Refusal(response: service.feeds.refuseRoomFull(for: .flv)))
        }
        let session = PlaybackSession(
            sid: sid,
            room: room,
            playback: .flv,
            rendition: RenditionFeedName(feed.name)?.rendition,
            audience: service.audience,
            place: place
        )
        let stream = FLVStream(
            feed: feed,
            sid: sid,
            session: isRecorded ? session : nil,
            dates: service.dates,
            connect: { service.audience.connected(sid, to: room, close: $0) }
        )
        return .success(stream)
    }

    /// Returns the response to HEAD: that of GET, without admitting a viewer.
    static func headResponse(room: String, player: PlayerRequest, service: MediaService) -> MediaResponse {
        guard let (_, room) = service.feeds.playable(room) else {
            return .refusal(.notFound, "there is no such room")
        }
        let admission = service.audience.admit(player, to: room)
        if admission.sid == nil { return admission.refusal }
        return MediaResponse(status: .ok, contentType: "video/x-flv", cacheControl: "no-store", body: [])
    }

    /// Takes over the connection, or the stream of HTTP/2.
    func begin(context: ChannelHandlerContext, transport: HTTPTransport) {
        self.transport = transport
        let pipeline = context.pipeline.syncOperations
        do {
            switch transport {
            case .http1:
                try pipeline.addHandler(self, position: .first)
            case .http1OverTLS:
                let tls = try pipeline.context(name: HTTPTransport.tlsHandlerName).handler
                try pipeline.addHandler(self, position: .after(tls))
            case .http2:
                context.write(NIOAny(HTTPResponsePart.head(head)), promise: nil)
                try pipeline.addHandlers([ResponseBodyEncoder(), self])
            }
        } catch {
            context.close(promise: nil)
        }
    }

    private var head: HTTPResponse {
        let fields: HTTPFields = [
            .contentType: "video/x-flv", .cacheControl: "no-store", .accessControlAllowOrigin: "*",
            .accessControlExposeHeaders: "X-Footlight-Session", .session: sid, .proxyBuffering: "no",
            .date: dates.text,
        ]
        return HTTPResponse(status: .ok, headerFields: fields)
    }

    /// The head for HTTP/1.1, as bytes.
    private var encodedHead: ByteBuffer {
        var bytes = ByteBuffer(string: "HTTP/1.1 200 OK\r\n")
        for field in head.headerFields { bytes.writeString("\(field.name.rawName): \(field.value)\r\n") }
        bytes.writeStaticString("Connection: close\r\n\r\n")
        return bytes
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if transport != .http2 {
            // The player sends nothing more.
            let options = context.channel.syncOptions
            try? options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 256))
            try? options?.setOption(.maxMessagesPerRead, value: 1)
        }
        let writer = MediaWriter(context, isPlain: transport == .http1, hasSocketOptions: transport != .http2)
        self.writer = writer
        var head = transport == .http2 ? ByteBuffer() : encodedHead
        // A player waits for video if the header announces it.
        let hasVideo = RenditionFeedName(feed.name)?.rendition != RenditionLadder.audioName
        head.writeImmutableBuffer(FLVTagWriter.header(hasAudio: true, hasVideo: hasVideo))
        // Written through the channel, because earlier responses may still be queued there.
        context.writeAndFlush(NIOAny(head), promise: writer.makeQueuedWritePromise())
        let viewer = FeedViewer(output: self, writer: writer, wire: .flv, session: session, sid: sid)
        self.viewer = viewer
        let channel = context.channel
        connection = connect { channel.close(promise: nil) }
        feed.partition(on: context.eventLoop)?.add(viewer, now: .now())
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes after the request are ignored.
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            // A player that closed its side is gone, even if its socket is still writable.
            leave(.left)
            context.close(promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        writer?.end()
        leave(.left)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave(.left)
        writer?.end()
        writer = nil
        self.context = nil
    }

    private func leave(_ reason: AudienceEvent.CloseReason) {
        connection = nil
        guard let viewer, let context else { return }
        self.viewer = nil
        feed.partition(on: context.eventLoop)?.remove(viewer, reason: reason, now: .now())
    }

    func end(_ reason: AudienceEvent.CloseReason) {
        context?.close(promise: nil)
    }
}

/// Writes bytes as the body of a response, and ends the response before the stream closes.
private final class ResponseBodyEncoder: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTPResponsePart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(wrapOutboundOut(.body(unwrapOutboundIn(data))), promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: mode, promise: promise)
    }
}

extension HTTPField.Name {
    // The names are valid tokens, so the defaults are never used.
    fileprivate static let session = Self("X-Footlight-Session") ?? .via
    /// Tells nginx whether to buffer a response.
    fileprivate static let proxyBuffering = Self("X-Accel-Buffering") ?? .via
}
