import Media
import NIOCore

/// Drives one `PublishSession` on its channel.
///
/// A packet is taken from the source only when the socket can take it, so what waits, waits where it can still be
/// dropped.
final class RTMPPublisherHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var session: PublishSession
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    private var isFinishing = false
    private var isOver = false
    private let source: any RTMPPublishSource
    private let onEnd: (RTMPPublishEnd) -> Void

    /// From the connection to the server's consent.
    private static let startTimeout = TimeAmount.seconds(10)
    /// How long a socket may take nothing before it counts as dead.
    private static let stallTimeout = TimeAmount.seconds(8)
    /// For the last packets and the farewell.
    private static let farewellTimeout = TimeAmount.seconds(2)

    init(session: PublishSession, source: any RTMPPublishSource, onEnd: @escaping (RTMPPublishEnd) -> Void) {
        self.session = session
        self.source = source
        self.onEnd = onEnd
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // Nobody wanted it any more when the connection was made.
        if isOver { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        schedule(Self.startTimeout, "the server did not let it publish in time")
        sendOutput()
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(RTMPPublishEnd("the server closed the connection"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(RTMPPublishEnd("\(error)"))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            try session.receive(unwrapInboundIn(data))
            while let event = try session.next() {
                switch event {
                case .started:
                    deadline?.cancel()
                    deadline = nil
                    source.publishingStarted()
                case .ended(let status):
                    end(RTMPPublishEnd(status))
                    return
                }
            }
        } catch {
            end(RTMPPublishEnd(error.reason))
            return
        }
        sendOutput()
        pump()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, !isFinishing {
            deadline?.cancel()
            deadline = nil
        }
        pump()
        context.fireChannelWritabilityChanged()
    }

    /// Writes what waits, as far as the socket takes it.
    func pump() {
        guard session.isPublishing, !isOver, let context else { return }
        while context.channel.isWritable {
            guard let packet = source.nextPacket() else {
                if isFinishing { sayFarewell() }
                return
            }
            session.write(packet)
            sendOutput()
        }
        if deadline == nil { schedule(Self.stallTimeout, "the line takes nothing more") }
    }

    /// Writes what waits and ends the stream in an orderly way.
    func finish() {
        guard !isOver, !isFinishing else { return }
        guard session.isPublishing else {
            end(RTMPPublishEnd("finished before it began", isFinished: true))
            return
        }
        isFinishing = true
        schedule(Self.farewellTimeout, "finished, though not all could be sent", isFinished: true)
        pump()
    }

    /// Gives up at once.
    func abandon(_ reason: String) {
        end(RTMPPublishEnd(reason))
    }

    private func sayFarewell() {
        session.finish()
        guard let context, let output = session.takeOutput() else { return }
        context.writeAndFlush(wrapOutboundOut(output)).assumeIsolated().whenComplete { [weak self] _ in
            self?.end(RTMPPublishEnd("finished", isFinished: true))
        }
    }

    private func sendOutput() {
        guard let context, let output = session.takeOutput() else { return }
        let bytes = output.readableBytes
        context.writeAndFlush(wrapOutboundOut(output)).assumeIsolated().whenSuccess { [source] in
            source.wrote(bytes: bytes)
        }
    }

    private func schedule(_ delay: TimeAmount, _ reason: String, isFinished: Bool = false) {
        deadline?.cancel()
        deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
            self?.end(RTMPPublishEnd(reason, isFinished: isFinished))
        }
    }

    private func end(_ end: RTMPPublishEnd) {
        guard !isOver else { return }
        isOver = true
        onEnd(end)
        context?.close(promise: nil)
    }
}
