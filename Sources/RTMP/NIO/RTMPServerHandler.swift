import Media
import NIOCore

/// Drives one `ServerSession` on its channel: bytes, deadlines, verdicts, and an orderly end.
final class RTMPServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Who takes what the peer sends, or feeds it.
    private enum Receiver {
        case none
        case publisher(any PublishReceiver)
        case player(any PlayReceiver)
    }

    private var session: ServerSession
    private var receiver = Receiver.none
    private var liveness = Liveness(now: .now())
    private var connection: RTMPConnection?
    private var writer: MediaWriter?
    private var context: ChannelHandlerContext?
    /// The deadline of the handshake, of publish or play, of a ping, or of the end, whichever is next.
    private var timer: Scheduled<Void>?
    private var isReadHeld = false
    private var isEnding = false
    /// The peer is gone, and what it sent before is still being handled.
    private var isGone = false
    private var isTurnAwaited = false
    private var eventLoop: (any EventLoop)?
    private let delegate: any RTMPServerDelegate
    private let granted: GrantedLimits
    private var limits: RTMPLimits { granted.limits }
    private let admission: Admission.Ticket
    /// Whether what is written here reaches the socket as it is.
    private let isPlain: Bool

    init(delegate: any RTMPServerDelegate, granted: GrantedLimits, admission: Admission.Ticket, isPlain: Bool) {
        self.delegate = delegate
        self.granted = granted
        self.admission = admission
        self.isPlain = isPlain
        session = ServerSession(granted, remoteAddress: admission.address)
    }

    // MARK: The channel's life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        eventLoop = context.eventLoop
        let writer = MediaWriter(context, isPlain: isPlain, highWaterMark: limits.highWaterMark)
        self.writer = writer
        let connection = RTMPConnection(
            channel: context.channel,
            handler: self,
            writer: writer,
            remoteAddress: admission.address
        )
        self.connection = connection
        admission.admitted(connection)
        schedule(limits.handshakeTimeout) { $0.handshakeDeadline() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        peerLeft()
        timer?.cancel()
        timer = nil
        connection = nil
        writer?.end()
        writer = nil
        admission.left()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        writer?.end()
        peerLeft()
        context.fireChannelInactive()
    }

    /// The stream is over, once all that a publisher sent before is handled; what anybody else left behind is dropped.
    private func peerLeft() {
        isGone = true
        if session.isPaused, !isEnding, case .publisher = receiver {
            awaitTurn()
        } else {
            finish(.closedByPeer)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            awaitTurn()
            resumeReading()
        }
        context.fireChannelWritabilityChanged()
    }

    /// While a verdict is outstanding, or more came than one turn handles, or a peer does not take what it was answered,
    /// nothing more is read, so that a stranger cannot fill our memory.
    func read(context: ChannelHandlerContext) {
        if session.isAwaitingAnswer || (!isEnding && (session.isPaused || !context.channel.isWritable)) {
            isReadHeld = true
        } else {
            context.read()
        }
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding else { return }
        let now = MonotonicTime.now()
        liveness.heard(at: now)
        do {
            try session.receive(unwrapInboundIn(data), at: now)
        } catch {
            violated(error)
            return
        }
        handleEvents()
    }

    private func handleEvents() {
        do {
            while !isEnding, let event = try session.next() {
                handle(event)
            }
        } catch {
            violated(error)
        }
        sendOutput()
        awaitTurn()
    }

    /// Has what is left handled in a later turn of the event loop, as soon as the peer takes its answers.
    private func awaitTurn() {
        guard session.isPaused, !isEnding, !isTurnAwaited, let eventLoop else { return }
        guard isGone || context?.channel.isWritable ?? false else { return }
        isTurnAwaited = true
        TurnQueue.current(of: eventLoop).append(self)
    }

    /// Handles the next turn's worth of what the peer sent; called by the queue.
    func takeTurn() {
        isTurnAwaited = false
        guard !isEnding else { return }
        session.resume()
        handleEvents()
        guard !session.isPaused else { return }
        if isGone {
            finish(.closedByPeer)
        } else {
            resumeReading()
        }
    }

    private func handle(_ event: ServerSession.Event) {
        switch event {
        case .packet(let packet):
            guard case .publisher(let publisher) = receiver else { return }
            do {
                try publisher.receive(packet)
            } catch {
                end(error, reason: .refused)
            }
        case .publish(let request):
            ask(request)
        case .play(let request):
            ask(request)
        case .streamEnded:
            finish(.deletedStream)
            writer?.gather(false)
            admission.becameIdle()
            schedule(limits.preAuthTimeout) { $0.preAuthDeadline() }
        case .refused:
            close(afterOutput: true)
        }
    }

    private func violated(_ violation: RTMPViolation) {
        finish(.protocolViolation(violation.reason))
        close(afterOutput: true)
    }

    private func sendOutput() {
        guard let output = session.takeOutput(), let context, !isGone else { return }
        context.writeAndFlush(wrapOutboundOut(output), promise: writer?.nextInQueue())
    }

    // MARK: Verdicts

    private func ask(_ request: PublishRequest) {
        guard let context, let connection else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        delegate.publish(request, on: connection).hop(to: context.eventLoop).whenComplete { result in
            switch result {
            case .success(.accept(let publisher)):
                handler.value.accept(publisher)
            case .success(.refuse(let status, let delay)):
                handler.value.refuse(status, after: delay)
            case .failure:
                handler.value.refuse(.publishFailed("The server cannot take streams now."), after: .zero)
            }
        }
    }

    private func ask(_ request: PlayRequest) {
        guard let context, let connection else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        delegate.play(request, on: connection).hop(to: context.eventLoop).whenComplete { result in
            switch result {
            case .success(.accept(let player, let sid)):
                handler.value.accept(player, sid: sid)
            case .success(.refuse(let status)):
                handler.value.refuse(status, after: .zero)
            case .failure:
                handler.value.refuse(.playFailed("The server cannot play streams now."), after: .zero)
            }
        }
    }

    private func accept(_ publisher: any PublishReceiver) {
        guard context != nil, !isEnding else {
            publisher.ended(.closedByPeer)
            return
        }
        receiver = .publisher(publisher)
        set(.recvAllocator, AdaptiveRecvByteBufferAllocator())
        session.acceptPublish()
        admission.beganPublishing()
        becameActive(.patient)
        sendOutput()
        handleEvents()
        resumeReading()
    }

    private func accept(_ player: any PlayReceiver, sid: String?) {
        guard context != nil, let connection, !isEnding else {
            player.ended(.closedByPeer)
            return
        }
        let isViewer = player.taken != nil
        guard admission.beganPlaying(isViewer: isViewer) else {
            player.ended(.refused)
            refuse(
                .playFailed("The server has no room for another player of this address, try again later."),
                after: .zero
            )
            return
        }
        receiver = .player(player)
        session.acceptPlay(sessionID: sid)
        becameActive(isViewer ? .watchful(silence: limits.pingInterval, answer: limits.pingTimeout) : .patient)
        // A viewer only sends acknowledgements and the like: one small buffer of its own is enough.
        set(.recvAllocator, FixedSizeRecvByteBufferAllocator(capacity: 256))
        set(.maxMessagesPerRead, 1)
        sendOutput()
        player.started(on: connection)
        handleEvents()
        resumeReading()
    }

    private func set<Option: ChannelOption>(_ option: Option, _ value: Option.Value) {
        guard let context else { return }
        context.channel.setOption(option, value: value).assumeIsolated()
            .whenFailure { _ in context.close(promise: nil) }
    }

    private func refuse(_ status: RTMPStatus, after delay: TimeAmount) {
        guard context != nil, !isEnding else { return }
        guard delay > .zero else {
            end(status, reason: .refused)
            return
        }
        schedule(delay) { $0.end(status, reason: .refused) }
    }

    private func becameActive(_ rule: Liveness.Rule) {
        liveness = Liveness(rule, now: .now())
        scheduleTick(in: limits.pingInterval)
    }

    private func resumeReading() {
        guard isReadHeld, let context else { return }
        isReadHeld = false
        read(context: context)
    }

    // MARK: Deadlines

    private func schedule(_ delay: TimeAmount, _ body: @escaping (RTMPServerHandler) -> Void) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
            if let self { body(self) }
        }
    }

    private func handshakeDeadline() {
        guard session.isShakenHands else {
            finish(.timedOut)
            close(afterOutput: false)
            return
        }
        schedule(limits.preAuthTimeout - limits.handshakeTimeout) { $0.preAuthDeadline() }
    }

    private func preAuthDeadline() {
        guard !session.isActive else { return }
        close(afterOutput: false)
    }

    /// - Parameter delay: When a peer is looked at again that is no viewer.
    private func scheduleTick(in delay: TimeAmount) {
        guard case .player(let player) = receiver, player.taken != nil else {
            return schedule(delay) { $0.pingTick() }
        }
        // All viewers of a loop at the same moments, so that a crowd does not wake it all the time.
        let interval = limits.viewerPingInterval.nanoseconds
        let grain = max(1, interval / 5)
        let now = Int64(NIODeadline.now().uptimeNanoseconds)
        schedule(.nanoseconds((now + interval + grain / 2) / grain * grain - now)) { $0.pingTick() }
    }

    private func pingTick() {
        let player: (any PlayReceiver)? = if case .player(let player) = receiver { player } else { nil }
        switch liveness.tick(at: .now(), taken: player?.taken ?? 0) {
        case .ping:
            session.ping(milliseconds: MonotonicTime.now().milliseconds)
            sendOutput()
            scheduleTick(in: limits.pingTimeout)
        case .wait:
            scheduleTick(in: limits.pingInterval)
        case .timedOut:
            finish(.timedOut)
            close(afterOutput: false)
        }
    }

    // MARK: The end

    /// See `RTMPConnection.end`.
    func end(_ status: RTMPStatus, reason: RTMPEndReason) {
        guard let eventLoop, !isEnding else { return }
        session.refuse(status)
        close(afterOutput: true)
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { handler.value.finish(reason) }
    }

    /// See `RTMPConnection.shutDown`.
    func shutDown() {
        session.requestReconnect("The server is restarting.")
        if case .player = receiver {
            end(.playUnpublishNotify, reason: .shutdown)
        } else {
            end(.publishFailed("The server is restarting."), reason: .shutdown)
        }
    }

    /// Tells the receiver once that it is over.
    private func finish(_ reason: RTMPEndReason) {
        let receiver = receiver
        self.receiver = .none
        switch receiver {
        case .none: break
        case .publisher(let publisher): publisher.ended(reason)
        case .player(let player): player.ended(reason)
        }
    }

    /// Closes our direction behind the last word, and goes on reading into nothing.
    ///
    /// Closing with unread input would reset the connection, and the peer could lose what it was told. A peer that does
    /// not close in time is cut off.
    private func close(afterOutput: Bool) {
        guard let context, !isEnding else { return }
        isEnding = true
        timer?.cancel()
        timer = nil
        guard afterOutput, let writer, let output = session.takeOutput() else {
            writer?.end()
            context.close(promise: nil)
            return
        }
        schedule(limits.lingerTimeout) { $0.context?.close(promise: nil) }
        let sent = writer.nextInQueue()
        writer.end()
        context.writeAndFlush(wrapOutboundOut(output), promise: sent)
        sent.futureResult.assumeIsolated().whenComplete { _ in
            guard let context = self.context else { return }
            context.close(mode: .output).assumeIsolated().whenFailure { _ in self.context?.close(promise: nil) }
        }
        resumeReading()
    }
}
