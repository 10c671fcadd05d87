import HTTPTypes
import Media
import NIOCore
import RTMP
import Stage

/// One HTTP-FLV viewer: takes a connection over after its request and writes FLV tags straight to the socket.
///
/// The answer has no length and ends with the connection, so the HTTP encoder, which would wrap every buffer in chunk
/// framing, is left behind: the handler sits at the head of the pipeline and its writes pass nobody else.
final class FLVStream: ChannelInboundHandler, ViewerOutput {
    typealias InboundIn = ByteBuffer

    /// Why a request for a stream was turned down.
    struct Refusal: Error {
        let response: MediaResponse
    }

    private let feed: Feed
    private let sid: String
    /// Nil for what is no viewing, as when a browser fetches ahead: it plays, and nothing of it is recorded.
    private let session: ViewerSession?
    private let dates: AnswerDates
    private var viewer: Viewer?
    private var context: ChannelHandlerContext?
    private var writer: MediaWriter?

    private init(feed: Feed, sid: String, session: ViewerSession?, dates: AnswerDates) {
        self.feed = feed
        self.sid = sid
        self.session = session
        self.dates = dates
    }

    /// Decides whether a viewer gets the stream; a `sid` in the query that is ours resumes that viewer's session.
    ///
    /// What is not to be counted gets it all the same.
    static func admit(room: String, player: PlayerRequest, site: MediaSite) -> Result<FLVStream, Refusal> {
        guard let (feed, room) = site.feeds.playable(room) else {
            return .failure(Refusal(response: .refusal(.notFound, "there is no such room")))
        }
        guard site.feeds.hasRoom(for: player, by: .flv, in: room, among: site.audience) else {
            return .failure(Refusal(response: .busy))
        }
        let admission = site.audience.admit(player, to: room)
        guard let sid = admission.sid else { return .failure(Refusal(response: admission.refusal)) }
        let isRecorded = admission.recordedSID(of: player) != nil
        guard let place = isRecorded ? site.audience.takePlace(in: room, for: player) : .unlimited else {
            return .failure(Refusal(response: site.feeds.roomIsFull(for: .flv)))
        }
        let session = ViewerSession(
            sid: sid,
            room: room,
            playback: .flv,
            rendition: RenditionFeedName(feed.name)?.rendition,
            audience: site.audience,
            place: place
        )
        return .success(FLVStream(feed: feed, sid: sid, session: isRecorded ? session : nil, dates: site.dates))
    }

    /// The answer to HEAD: what GET would say, without a viewer.
    static func headAnswer(room: String, player: PlayerRequest, site: MediaSite) -> MediaResponse {
        guard let (_, room) = site.feeds.playable(room) else {
            return .refusal(.notFound, "there is no such room")
        }
        let admission = site.audience.admit(player, to: room)
        if admission.sid == nil { return admission.refusal }
        return MediaResponse(status: .ok, contentType: "video/x-flv", cacheControl: "no-store", body: [])
    }

    /// Takes the connection over.
    func begin(context: ChannelHandlerContext) {
        do {
            try context.pipeline.syncOperations.addHandler(self, position: .first)
        } catch {
            context.close(promise: nil)
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // It says nothing any more.
        let options = context.channel.syncOptions
        try? options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 256))
        try? options?.setOption(.maxMessagesPerRead, value: 1)
        let writer = MediaWriter(context, isPlain: true)
        self.writer = writer
        var opening = ByteBuffer(
            string: """
                HTTP/1.1 200 OK\r
                Content-Type: video/x-flv\r
                Cache-Control: no-store\r
                Connection: close\r
                Access-Control-Allow-Origin: *\r
                Access-Control-Expose-Headers: X-Footlight-Session\r
                X-Footlight-Session: \(sid)\r
                X-Accel-Buffering: no\r
                Date: \(dates.text)\r
                \r

                """
        )
        // A player that is promised pictures waits for them.
        let hasPictures = RenditionFeedName(feed.name)?.rendition != RenditionLadder.audioName
        opening.writeImmutableBuffer(FLVTagWriter.header(hasAudio: true, hasVideo: hasPictures))
        // By the channel, because answers to earlier requests may still wait there.
        context.writeAndFlush(NIOAny(opening), promise: writer.nextInQueue())
        let viewer = Viewer(output: self, writer: writer, wire: .flv, session: session)
        self.viewer = viewer
        feed.share(on: context.eventLoop)?.add(viewer, now: .now())
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Whatever a player sends after its request means nothing here.
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            // A player that closed its side is gone, even if its socket would still take bytes.
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
        guard let viewer, let context else { return }
        self.viewer = nil
        feed.share(on: context.eventLoop)?.remove(viewer, reason: reason, now: .now())
    }

    func end(_ reason: AudienceEvent.CloseReason) {
        context?.close(promise: nil)
    }
}
