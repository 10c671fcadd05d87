import Media
import NIOCore
import NIOPosix

/// Drives one `ServerSession` on its channel: input, deadlines, authorization results and an orderly close.
final class RTMPServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The receiver of the publisher's media, or the sender of a player's.
    private enum Receiver {
        case none
        case publisher(any PublishReceiver)
        case player(any PlayReceiver)
    }

    private var session: ServerSession
    private var receiver = Receiver.none
    private var liveness = PeerLiveness(now: .now())
    private var connection: RTMPConnection?
    private var writer: MediaWriter?
    private var context: ChannelHandlerContext?
    /// The next deadline: handshake, publish or play, ping, or close.
    private var timer: Scheduled<Void>?
    private var isReadSuspended = false
    private var isEnding = false
    /// Whether the peer is gone while its earlier input is still being processed.
    private var isPeerGone = false
    private var isTurnScheduled = false
    private var eventLoop: (any EventLoop)?
    private let delegate: any RTMPServerDelegate
    private let granted: GrantedLimits
    private var limits: RTMPLimits { granted.limits }
    private let admission: AdmissionController.Ticket
    /// Whether written bytes reach the socket unchanged.
    private let isPlain: Bool

    init(
        delegate: any RTMPServerDelegate,
        granted: GrantedLimits,
        admission: AdmissionController.Ticket,
        isPlain: Bool
    ) {
        self.delegate = delegate
        self.granted = granted
        self.admission = admission
        self.isPlain = isPlain
        session = ServerSession(granted, remoteAddress: admission.address)
    }

    // MARK: Channel lifecycle

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
        peerDisconnected()
        timer?.cancel()
        timer = nil
        connection = nil
        writer?.end()
        writer = nil
        admission.release()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        writer?.end()
        peerDisconnected()
        context.fireChannelInactive()
    }

    /// Ends the stream once a publisher's earlier input is processed; the input of other peers is discarded.
    private func peerDisconnected() {
        isPeerGone = true
        if session.isPaused, !isEnding, case .publisher = receiver {
            scheduleTurn()
        } else {
            finish(.closedByPeer)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            scheduleTurn()
            resumeReading()
        }
        context.fireChannelWritabilityChanged()
    }

    /// Suspends reading while an authorization result is pending, while input is left for a later turn, or while the
    /// peer does not read its responses, so that no peer can fill the server's memory.
    func read(context: ChannelHandlerContext) {
        if session.isAwaitingAnswer || (!isEnding && (session.isPaused || !context.channel.isWritable)) {
            isReadSuspended = true
        } else {
            context.read()
        }
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding else { return }
        let now = MonotonicTime.now()
        liveness.recordActivity(at: now)
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
        scheduleTurn()
    }

    /// Schedules the remaining input for a later turn of the event loop, once the peer reads its responses.
    private func scheduleTurn() {
        guard session.isPaused, !isEnding, !isTurnScheduled, let eventLoop else { return }
        guard isPeerGone || context?.channel.isWritable ?? false else { return }
        isTurnScheduled = true
        TurnScheduler.current(of: eventLoop).append(self)
    }

    /// Processes the next turn's worth of input; called by `TurnScheduler`.
    func processTurn() {
        isTurnScheduled = false
        guard !isEnding else { return }
        session.resume()
        handleEvents()
        guard !session.isPaused else { return }
        if isPeerGone {
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
            requestVerdict(request)
        case .play(let request):
            requestVerdict(request)
        case .streamEnded:
            finish(.deletedStream)
            writer?.setNagleEnabled(false)
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
        guard let output = session.drainOutput(), let context, !isPeerGone else { return }
        context.writeAndFlush(wrapOutboundOut(output), promise: writer?.makeQueuedWritePromise())
    }

    // MARK: Authorization

    private func requestVerdict(_ request: PublishRequest) {
        guard let context, let connection else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        delegate.publish(request, on: connection).hop(to: context.eventLoop).whenComplete { result in
            switch result {
            case .success(.accept(let publisher)):
                handler.value.accept(publisher)
            case .success(.refuse(let status, let delay)):
                handler.value.refuse(status, after: delay)
            case .failure:
                handler.value.refuse(.publishFailed("The server cannot accept streams now."), after: .zero)
            }
        }
    }

    private func requestVerdict(_ request: PlayRequest) {
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
        becameActive(.publisher)
        sendOutput()
        handleEvents()
        resumeReading()
    }

    private func accept(_ player: any PlayReceiver, sid: String?) {
        guard context != nil, let connection, !isEnding else {
            player.ended(.closedByPeer)
            return
        }
        let isViewer = player.sentBytes != nil
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
        becameActive(isViewer ? .viewer(silence: limits.pingInterval, answer: limits.pingTimeout) : .publisher)
        // A viewer sends only acknowledgements and control messages, so a small buffer is sufficient.
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

    private func becameActive(_ rule: PeerLiveness.Rule) {
        liveness = PeerLiveness(rule, now: .now())
        scheduleTick(in: limits.pingInterval)
    }

    private func resumeReading() {
        guard isReadSuspended, let context else { return }
        isReadSuspended = false
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
        guard session.isHandshakeComplete else {
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

    /// - Parameter delay: The delay for peers that are not viewers.
    private func scheduleTick(in delay: TimeAmount) {
        guard case .player(let player) = receiver, player.sentBytes != nil else {
            return schedule(delay) { $0.pingTick() }
        }
        // All viewers of an event loop are checked at the same times, to reduce the number of wakeups.
        let interval = limits.viewerPingInterval.nanoseconds
        let grain = max(1, interval / 5)
        let now = Int64(NIODeadline.now().uptimeNanoseconds)
        schedule(.nanoseconds((now + interval + grain / 2) / grain * grain - now)) { $0.pingTick() }
    }

    private func pingTick() {
        let player: (any PlayReceiver)? = if case .player(let player) = receiver { player } else { nil }
        switch liveness.tick(at: .now(), sentBytes: player?.sentBytes ?? 0) {
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

    // MARK: Closing

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

    /// Reports the end to the receiver once.
    private func finish(_ reason: RTMPEndReason) {
        let receiver = receiver
        self.receiver = .none
        switch receiver {
        case .none: break
        case .publisher(let publisher): publisher.ended(reason)
        case .player(let player): player.ended(reason)
        }
    }

    /// Closes the output after the pending bytes and discards further input.
    ///
    /// Closing a socket with unread input would reset the connection, and the peer could lose the status. A peer that
    /// does not close in time is disconnected.
    private func close(afterOutput: Bool) {
        guard let context, !isEnding else { return }
        isEnding = true
        timer?.cancel()
        timer = nil
        guard afterOutput, let writer, let output = session.drainOutput() else {
            writer?.end()
            context.close(promise: nil)
            return
        }
        schedule(limits.lingerTimeout) { $0.context?.close(promise: nil) }
        let sent = writer.makeQueuedWritePromise()
        writer.end()
        context.writeAndFlush(wrapOutboundOut(output), promise: sent)
        sent.futureResult.assumeIsolated().whenComplete { _ in
            guard let context = self.context else { return }
            context.close(mode: .output).assumeIsolated().whenFailure { _ in self.context?.close(promise: nil) }
        }
        resumeReading()
    }
}

/// Schedules the peers of one event loop that have input for more than one turn, one peer per task.
///
/// An event loop runs tasks scheduled by tasks before it polls its sockets, so peers that rescheduled themselves would
/// starve the others. All peers of a loop therefore share one task with a delay.
///
/// `@unchecked Sendable`: a scheduler is only reachable from the thread of its event loop.
final class TurnScheduler: @unchecked Sendable {
    /// The interval between two turns.
    private static let pause = TimeAmount.microseconds(500)
    private static let ofThread = ThreadSpecificVariable<TurnScheduler>()

    private let eventLoop: any EventLoop
    private var waiting = CircularBuffer<RTMPServerHandler>()
    private var isScheduled = false

    private init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Returns the scheduler of an event loop; called on it.
    static func current(of eventLoop: any EventLoop) -> TurnScheduler {
        if let queue = ofThread.currentValue, queue.eventLoop === eventLoop { return queue }
        let queue = TurnScheduler(eventLoop)
        ofThread.currentValue = queue
        return queue
    }

    /// The number of waiting handlers.
    var count: Int { waiting.count }

    /// Calls the handler's `processTurn` once, after those already waiting.
    func append(_ handler: RTMPServerHandler) {
        waiting.append(handler)
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.isScheduled = false
            self.waiting.popFirst()?.processTurn()
            self.schedule()
        }
    }
}
