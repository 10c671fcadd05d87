import GatewayModel
import Logging
import Media
import Mixer
import NIOCore
import NIOHTTP1
import NIOPosix
import Stage
import Synchronization

/// Tells the gateway what the mixer hears and sees, over one kept connection.
///
/// It looks at the mixer; the mixer never waits for it.
final class MixerReporter: Sendable {
    private struct State {
        var pacing: ReportPacing
        var jumps = JumpPacing()
        var channel: (any Channel)?
        var ticker: RepeatedTask?
        var isStopped = false
    }

    /// A report ten times a second at most.
    private static let interval = TimeAmount.milliseconds(100)

    private let source: RoomEvents.Source
    private let loop: any EventLoop
    private let logger: Logger
    private let read: @Sendable () -> MixerReportBody
    /// Takes the pictures that the gateway wants, as its answers name them.
    private let takeWishes: Mutex<@Sendable (String) -> Void> = Mutex({ _ in })
    private let state = Mutex(State(pacing: ReportPacing(now: .now())))

    /// - Parameters:
    ///   - source: Where reports go to, and who reports.
    ///   - read: What is true now; called on the event loop, must return at once.
    init(
        source: RoomEvents.Source,
        group: any EventLoopGroup,
        logger: Logger,
        read: @escaping @Sendable () -> MixerReportBody
    ) {
        self.source = source
        loop = group.next()
        self.logger = logger
        self.read = read
    }

    /// Brings the pictures of the program to the gateway that its answers ask for.
    func bringSnapshots(of mixer: ProgramMixer) {
        var target = source
        target.path = source.path.replacing("/mixer/report", with: "/mixer/snapshot")
        let poster = SnapshotPoster(source: target, group: loop)
        takeWishes.withLock { take in
            take = { [weak mixer] wishes in
                if let mixer { poster.answer(wishes, with: mixer) }
            }
        }
    }

    fileprivate func wished(_ pictures: String) {
        let take = takeWishes.withLock { $0 }
        take(pictures)
    }

    func start() {
        let ticker = loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval, notifying: nil) {
            [weak self] task in
            guard let self else { return task.cancel() }
            self.tick()
        }
        state.withLock { $0.ticker = ticker }
    }

    func stop() {
        let (ticker, channel) = state.withLock { state in
            state.isStopped = true
            return (state.ticker.take(), state.channel.take())
        }
        ticker?.cancel()
        channel?.close(promise: nil)
    }

    private func tick() {
        let report = read()
        noteJump(report.frames?.lost[MixerFrames.Loss.jump.rawValue] ?? 0)
        let (action, channel) = state.withLock { state -> (ReportPacing.Action, (any Channel)?) in
            guard !state.isStopped else { return (.none, nil) }
            return (state.pacing.tick(report, now: .now()), state.channel)
        }
        switch action {
        case .none:
            return
        case .connect:
            connect()
        case .send(let report):
            if let channel { send(report, on: channel) }
        case .close:
            // Its closing says the rest.
            if let channel { channel.close(promise: nil) } else { lost() }
        }
    }

    private func noteJump(_ lost: Int) {
        guard let pictures = state.withLock({ $0.jumps.look(at: lost, now: .now()) }) else { return }
        logger.warning("the program was late and left out time", metadata: ["pictures": "\(pictures)"])
    }

    private func connect() {
        ClientBootstrap(group: loop)
            .connectTimeout(source.connectDeadline)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(AnswerHandler(self))
                }
            }
            .connect(host: source.host, port: source.port)
            .whenComplete { result in
                switch result {
                case .success(let channel): self.connected(channel)
                case .failure: self.lost()
                }
            }
    }

    private func connected(_ channel: any Channel) {
        let isWanted = state.withLock { state in
            guard !state.isStopped, state.pacing.connected() else { return false }
            state.channel = channel
            return true
        }
        guard isWanted else { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in self.lost() }
    }

    private func send(_ report: MixerReportBody, on channel: any Channel) {
        let body: ByteBuffer
        do {
            body = ByteBuffer(bytes: try WireJSON.encode(report))
        } catch {
            // A level that is no number; the next report has another one.
            logger.warning("a report cannot be written", metadata: ["error": "\(error)"])
            return answered(status: 0)
        }
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: source.path)
        head.headers.add(name: "Host", value: "\(source.host):\(source.port)")
        head.headers.add(name: "Authorization", value: "Bearer \(source.token)")
        head.headers.add(name: "Content-Type", value: "application/json")
        head.headers.add(name: "Content-Length", value: "\(body.readableBytes)")
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(body)), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }

    fileprivate func answered(status: Int) {
        let useless = state.withLock { state in state.pacing.answered(status: status) ? nil : state.channel }
        // Another try comes, later each time: the room may not be there yet, or not any more.
        useless?.close(promise: nil)
    }

    private func lost() {
        state.withLock { state in
            state.channel = nil
            state.pacing.closed(now: .now(), jitter: .random(in: 0...1))
        }
    }
}

/// Waits for the end of each answer; what it says beside its status is of no interest.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let reporter: MixerReporter
    private var status = 0

    init(_ reporter: MixerReporter) {
        self.reporter = reporter
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = Int(head.status.code)
            if let wishes = head.headers.first(name: SnapshotPoster.fieldName) { reporter.wished(wishes) }
        case .body: break
        case .end: reporter.answered(status: status)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
