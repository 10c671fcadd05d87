public import NIOCore
import RTMP

/// The short way for what a player of HLS asks for most: one media file after the other, each time with the same header
/// fields.
///
/// To read a request into strings, and to write an answer's fields out of others, takes longer than all the rest that is
/// done for a part. So a request whose bytes are those of one that was answered before, but for the file's name, is
/// answered from here; all others go the ordinary way, as does everything on a connection on which anything but whole
/// requests without bodies ever came. For whoever asks there is no difference but the time.
///
/// It stands first in the pipeline, before the reader of requests. Everything here happens on the channel's event loop.
public final class SegmentLane: ChannelInboundHandler, RemovableChannelHandler {
    /// What the client sends.
    public typealias InboundIn = ByteBuffer
    /// The same, where it is not answered here.
    public typealias InboundOut = ByteBuffer

    private let handler: MediaHTTPHandler
    /// Only requests without bodies have come, each whole and by itself: the reader behind waits for nothing.
    private var isOpen = true
    private var known: RepeatedRequest?
    /// Whether any of what came since the last end of reading was passed on; nil where nothing came.
    private var hasPassedOn: Bool?
    private var writer: MediaWriter?

    /// Makes one for the handler behind it that answers the ordinary way.
    public init(before handler: MediaHTTPHandler) {
        self.handler = handler
    }

    /// Answers what came, or passes it on.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isOpen else {
            hasPassedOn = true
            context.fireChannelRead(data)
            return
        }
        let request = unwrapInboundIn(data)
        if answer(request, context: context) {
            hasPassedOn = hasPassedOn ?? false
            return
        }
        hasPassedOn = true
        isOpen = RepeatedRequest.isBare(request)
        let file = handler.plainFile { context.fireChannelRead(data) }
        guard let file, isOpen, known.map({ !$0.resembles(request) }) ?? true else { return }
        known = RepeatedRequest(request, for: file)
    }

    /// Those behind hear of the end of reading if they were given anything to read.
    public func channelReadComplete(context: ChannelHandlerContext) {
        if hasPassedOn ?? true { context.fireChannelReadComplete() }
        hasPassedOn = nil
    }

    /// - Returns: Whether it was answered.
    private func answer(_ request: ByteBuffer, context: ChannelHandlerContext) -> Bool {
        guard let known, let name = known.fileName(in: request),
            let media = handler.repeated(name, beside: known.file)
        else { return false }
        let length = media.reduce(0) { $0 + $1.readableBytes }
        let writer = writer ?? MediaWriter(context, isPlain: true)
        self.writer = writer
        writer.send(contentsOf: [handler.repeatedHead(bytes: length)] + media)
        handler.answeredRepeated(bytes: length, beside: known.file)
        guard writer.straightSocket == nil else { return true }
        // The system did not take all of it: what is written behind that leaves when it has left.
        let end = writer.nextInQueue()
        handler.awaitLeaving(end.futureResult)
        context.writeAndFlush(NIOAny(ByteBuffer()), promise: end)
        return true
    }

    /// Nothing is written from now on.
    public func channelInactive(context: ChannelHandlerContext) {
        writer?.end()
        context.fireChannelInactive()
    }

    /// The same.
    public func handlerRemoved(context: ChannelHandlerContext) {
        writer?.end()
        writer = nil
    }
}
