public import Media
public import NIOCore
import Synchronization

/// Plays one stream by RTMP and delivers its packets.
public final class RTMPPlayer: Sendable {
    private enum State {
        case idle
        case connecting
        case connected(any Channel)
        case ended
    }

    private let url: String
    private let eventLoop: any EventLoop
    private let onPacket: @Sendable (MediaPacket, MonotonicTime) -> Void
    private let onEnd: @Sendable (String) -> Void
    // Locked when the player starts and ends, not for media.
    private let state = Mutex(State.idle)

    /// Creates a player that is idle until `start`.
    ///
    /// - Parameters:
    ///   - url: `rtmp://host:port/app/name?query`, or `rtmps` with a certificate the system trusts.
    ///   - group: Provides the event loop.
    ///   - onPacket: Receives each packet and the time its last byte was read; called on the event loop, must not
    ///     block. Timestamps are the feed's own, unwrapped to 64 bits.
    ///   - onEnd: Receives the reason of the end; called exactly once after `start`, on the event loop.
    public init(
        url: String,
        group: any EventLoopGroup,
        onPacket: @escaping @Sendable (MediaPacket, MonotonicTime) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) {
        self.url = url
        eventLoop = group.next()
        self.onPacket = onPacket
        self.onEnd = onEnd
    }

    /// Connects and starts playback; a second call has no effect.
    public func start() {
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .connecting
            return true
        }
        guard isFirst else { return }
        guard let address = RTMPAddress(url) else {
            eventLoop.execute { self.finish("not an RTMP address") }
            return
        }
        RTMPConnector(address: address, eventLoop: eventLoop)
            .connect {
                RTMPPlayerHandler(
                    session: PlaySession(address: address),
                    onPacket: self.onPacket,
                    onEnd: { self.finish($0) }
                )
            }
            .whenComplete { result in
                switch result {
                case .success(let channel): self.connected(channel)
                case .failure(let error): self.finish("cannot connect: \(error)")
                }
            }
    }

    /// Stops playback; thread-safe.
    ///
    /// No packet is delivered after `onEnd`.
    public func stop() {
        let channel = state.withLock { state -> (any Channel)? in
            if case .connected(let channel) = state { channel } else { nil }
        }
        eventLoop.execute {
            self.finish("stopped")
            channel?.close(promise: nil)
        }
    }

    private func connected(_ channel: any Channel) {
        let isStillConnecting = state.withLock { state in
            guard case .connecting = state else { return false }
            state = .connected(channel)
            return true
        }
        if !isStillConnecting { channel.close(promise: nil) }
    }

    /// Reports the end once, unless the player never started.
    private func finish(_ reason: String) {
        let isFirst = state.withLock { state in
            switch state {
            case .idle, .ended:
                state = .ended
                return false
            case .connecting, .connected:
                state = .ended
                return true
            }
        }
        if isFirst { onEnd(reason) }
    }
}

/// Drives one `PlaySession` on its channel.
final class RTMPPlayerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var session: PlaySession
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    private var isPlaying = false
    /// Whether data was received since the last check.
    private var hasReceivedData = false
    private let onPacket: @Sendable (MediaPacket, MonotonicTime) -> Void
    private let onEnd: (String) -> Void

    /// The time from the connection to the first `Play.Start`.
    private static let startTimeout = TimeAmount.seconds(10)
    /// The maximum time without data; a server pings at least twice in it.
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
        hasReceivedData = true
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
        guard let context, let output = session.drainOutput() else { return }
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }

    private func schedule(_ delay: TimeAmount) {
        deadline?.cancel()
        deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.checkLiveness() }
    }

    private func checkLiveness() {
        guard isPlaying, hasReceivedData else {
            end(isPlaying ? "the server sends no data" : "the server did not accept the play in time")
            return
        }
        hasReceivedData = false
        schedule(Self.silenceTimeout)
    }

    private func end(_ reason: String) {
        onEnd(reason)
        context?.close(promise: nil)
    }
}
