import Media
import NIOCore

/// Drives one `PlaySession` on its channel.
final class RTMPPlayerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var session: PlaySession
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    private var isPlaying = false
    /// Something came since the last look.
    private var isHeard = false
    private let onPacket: @Sendable (MediaPacket, MonotonicTime) -> Void
    private let onEnd: (String) -> Void

    /// From the connection to the first `Play.Start`.
    private static let startTimeout = TimeAmount.seconds(10)
    /// A server pings twice in that time; one that is not heard at all is gone.
    private static let silenceTimeout = TimeAmount.seconds(75)

    init(
        session: PlaySession,
        onPacket: @escaping @Sendable (MediaPacket, MonotonicTime) -> Void,
        onEnd: @escaping (String) -> Void
    ) {
        self.session = session
        self.onPacket = onPacket
        self.onEnd = onEnd
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        schedule(Self.startTimeout)
        sendOutput()
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        onEnd("the server closed the connection")
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end("\(error)")
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isHeard = true
        let arrival = MonotonicTime.now()
        do {
            try session.receive(unwrapInboundIn(data))
            while let event = try session.next() {
                switch event {
                case .started: isPlaying = true
                case .packet(let packet): onPacket(packet, arrival)
                case .ended(let status): end("\(status.code): \(status.description)")
                }
            }
        } catch {
            end(error.reason)
        }
        sendOutput()
    }

    private func sendOutput() {
        guard let context, let output = session.takeOutput() else { return }
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }

    private func schedule(_ delay: TimeAmount) {
        deadline?.cancel()
        deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.look() }
    }

    private func look() {
        guard isPlaying, isHeard else {
            end(isPlaying ? "the server fell silent" : "the server did not let it play in time")
            return
        }
        isHeard = false
        schedule(Self.silenceTimeout)
    }

    private func end(_ reason: String) {
        onEnd(reason)
        context?.close(promise: nil)
    }
}
