public import Media
public import NIOCore
import NIOPosix
import Synchronization

/// Publishes one stream by RTMP or RTMPS over one connection; reconnecting requires a new instance.
public final class RTMPPublishConnection: Sendable {
    private enum State {
        case idle
        /// Finished before it was started; `start` reports the end.
        case finishedEarly
        case connecting
        case connected(NIOLoopBound<RTMPPublisherHandler>)
        case ended
    }

    private let url: String
    private let trust: RTMPTrustRoots
    private let eventLoop: any EventLoop
    private let source: any RTMPPublishSource
    // Locked when the connection starts and ends, and to find the handler.
    private let state = Mutex(State.idle)

    /// The limit on unsent bytes in the kernel, kept small because they cannot be dropped.
    private static let unsentBytes: Int32 = 32 * 1024

    /// Creates a connection that is idle until `start`.
    ///
    /// - Parameters:
    ///   - url: `rtmp://host:port/app/name?query`, or `rtmps`.
    ///   - trust: The trusted certificates for RTMPS.
    ///   - source: Provides the packets; retained until the connection ends.
    ///   - group: Provides the event loop; the process-wide group if nil.
    public init(
        url: String,
        trust: RTMPTrustRoots = .system,
        source: any RTMPPublishSource,
        group: (any EventLoopGroup)? = nil
    ) {
        self.url = url
        self.trust = trust
        self.source = source
        eventLoop = (group ?? MultiThreadedEventLoopGroup.singleton).next()
    }

    /// Connects and requests to publish; a second call has no effect.
    public func start() {
        let isFirst = state.withLock { state in
            switch state {
            case .idle:
                state = .connecting
                return true
            case .finishedEarly:
                state = .connecting
                eventLoop.execute { self.ended(RTMPPublishEnd("finished before publishing started", isFinished: true)) }
                return false
            case .connecting, .connected, .ended:
                return false
            }
        }
        guard isFirst else { return }
        guard let address = RTMPAddress(url) else {
            eventLoop.execute { self.ended(RTMPPublishEnd(.connectRejected("This is not an RTMP address."))) }
            return
        }
        RTMPConnector(address: address, eventLoop: eventLoop, trust: trust, unsentBytes: Self.unsentBytes)
            .connect { [eventLoop, source] in
                let handler = RTMPPublisherHandler(
                    session: PublishSession(address: address),
                    source: source,
                    onEnd: { self.ended($0) }
                )
                let isStillConnecting = self.state.withLock { state in
                    guard case .connecting = state else { return false }
                    state = .connected(NIOLoopBound(handler, eventLoop: eventLoop))
                    return true
                }
                if !isStillConnecting { handler.finish() }
                return handler
            }
            .whenFailure { self.ended(RTMPPublishEnd("cannot connect: \($0)")) }
    }

    /// Signals that the source has packets again; thread-safe.
    public func wake() {
        guard let handler else { return }
        eventLoop.execute { handler.value.pump() }
    }

    /// Sends the remaining packets for at most two seconds and ends the stream in an orderly way; thread-safe.
    public func finish() {
        eventLoop.execute {
            guard let handler = self.handler else {
                self.ended(RTMPPublishEnd("finished before publishing started", isFinished: true))
                return
            }
            handler.value.finish()
        }
    }

    /// Closes the connection immediately and reports `reason`; thread-safe.
    public func abandon(_ reason: String) {
        guard let handler else { return }
        eventLoop.execute { handler.value.abandon(reason) }
    }

    private var handler: NIOLoopBound<RTMPPublisherHandler>? {
        state.withLock { state in
            if case .connected(let handler) = state { handler } else { nil }
        }
    }

    /// Reports the end once, unless the connection never started.
    private func ended(_ end: RTMPPublishEnd) {
        let isFirst = state.withLock { state in
            switch state {
            case .idle, .finishedEarly:
                state = .finishedEarly
                return false
            case .ended:
                return false
            case .connecting, .connected:
                state = .ended
                return true
            }
        }
        if isFirst { source.publishingEnded(end) }
    }
}

/// Provides the packets of a publishing connection and receives its state changes.
///
/// All methods are called on the connection's event loop and must not block.
public protocol RTMPPublishSource: AnyObject, Sendable {
    /// The server accepted the stream; packets are requested from now on.
    func publishingStarted()
    /// Returns the next packet, or nil if the source is empty; the source then calls `wake` when it has packets again.
    func nextPacket() -> MediaPacket?
    /// Reports bytes that were written to the socket.
    func wrote(bytes: Int)
    /// The connection ended; called exactly once after `start`, as the last method.
    func publishingEnded(_ end: RTMPPublishEnd)
}

/// The reason why a publishing connection ended.
public struct RTMPPublishEnd: Error, Sendable, Equatable {
    /// A human-readable description.
    public var reason: String
    /// The server's status, if the server ended the stream.
    public var status: RTMPStatus?
    /// Whether this side ended the stream in an orderly way.
    public var isFinished: Bool

    /// Whether a retry with the same stream name would be rejected again.
    ///
    /// True if the stream name is unknown or was taken over by a newer connection, if the media is not supported, and
    /// if the application is rejected.
    public var isFinal: Bool {
        guard let status, status.isError else { return false }
        return [
            "NetStream.Publish.BadName", "NetStream.Publish.Rejected", "NetConnection.Connect.Rejected",
            "NetConnection.Connect.InvalidApp",
        ].contains(status.code)
    }

    init(_ reason: String, isFinished: Bool = false) {
        self.reason = reason
        self.isFinished = isFinished
    }

    init(_ status: RTMPStatus) {
        reason = "\(status.code): \(status.description)"
        self.status = status
        isFinished = false
    }
}

/// Drives one `PublishSession` on its channel.
///
/// A packet is requested from the source only while the channel is writable, so that waiting packets can still be
/// dropped by the source.
final class RTMPPublisherHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var session: PublishSession
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    private var isFinishing = false
    private var hasEnded = false
    private let source: any RTMPPublishSource
    private let onEnd: (RTMPPublishEnd) -> Void

    /// The time from the connection to the server's consent.
    private static let startTimeout = TimeAmount.seconds(10)
    /// The time without writability after which the connection is closed.
    private static let stallTimeout = TimeAmount.seconds(8)
    /// The time for sending the remaining packets and the unpublish commands.
    private static let finishTimeout = TimeAmount.seconds(2)

    init(session: PublishSession, source: any RTMPPublishSource, onEnd: @escaping (RTMPPublishEnd) -> Void) {
        self.session = session
        self.source = source
        self.onEnd = onEnd
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // The connection was finished before the channel opened.
        if hasEnded { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        schedule(Self.startTimeout, "the server did not accept the publish in time")
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

    /// Writes packets while the channel is writable.
    func pump() {
        guard session.isPublishing, !hasEnded, let context else { return }
        while context.channel.isWritable {
            guard let packet = source.nextPacket() else {
                if isFinishing { sendUnpublish() }
                return
            }
            session.write(packet)
            sendOutput()
        }
        if deadline == nil { schedule(Self.stallTimeout, "the connection accepts no more data") }
    }

    /// Writes the remaining packets and ends the stream in an orderly way.
    func finish() {
        guard !hasEnded, !isFinishing else { return }
        guard session.isPublishing else {
            end(RTMPPublishEnd("finished before publishing started", isFinished: true))
            return
        }
        isFinishing = true
        schedule(Self.finishTimeout, "finished with unsent data", isFinished: true)
        pump()
    }

    /// Closes immediately.
    func abandon(_ reason: String) {
        end(RTMPPublishEnd(reason))
    }

    private func sendUnpublish() {
        session.finish()
        guard let context, let output = session.drainOutput() else { return }
        context.writeAndFlush(wrapOutboundOut(output)).assumeIsolated().whenComplete { [weak self] _ in
            self?.end(RTMPPublishEnd("finished", isFinished: true))
        }
    }

    private func sendOutput() {
        guard let context, let output = session.drainOutput() else { return }
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
        guard !hasEnded else { return }
        hasEnded = true
        onEnd(end)
        context?.close(promise: nil)
    }
}
