public import NIOCore
import Stage

/// Answers whatever is asked on a connection that there is no room for, and ends it.
///
/// A connection that is not accepted looks to its player like a gateway that is gone; one that is told so comes back
/// when it should.
public final class BusyHandler: ChannelInboundHandler {
    /// What the client sends.
    public typealias InboundIn = ByteBuffer

    /// How long a client may take to ask, and to close its side when it was answered.
    private static let patience = TimeAmount.seconds(2)

    private let site: MediaSite
    private var hasAnswered = false
    private var deadline: Scheduled<Void>?

    /// Takes where it is counted.
    public init(site: MediaSite) {
        self.site = site
    }

    /// Begins to wait.
    public func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: Self.patience) { bound.value.close(promise: nil) }
    }

    /// Answers the first of what comes.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswered else { return }
        hasAnswered = true
        site.feeds.budget.refused(.hls)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(NIOAny(MediaResponse.busyClosing)).whenComplete { _ in
            // Its own side is the client's to close: closed with bytes unread, the answer might be lost.
            bound.value.close(mode: .output, promise: nil)
        }
    }

    /// The client is gone.
    public func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    /// Nothing is waited for any more.
    public func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }
}
