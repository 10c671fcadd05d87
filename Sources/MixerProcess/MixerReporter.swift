import FootlightModel
import Logging
import Media
import Mixer
import NIOCore
import NIOHTTP1
import Stage
import Synchronization

/// Reports the mixer's audio levels and statistics to the gateway, over one persistent connection.
///
/// The reporter reads the mixer's state; the mixer never waits for it.
final class MixerReporter: Sendable {
    private struct State {
        var throttle: ReportThrottle
        var jumpThrottle = JumpThrottle()
        var channel: (any Channel)?
        var ticker: RepeatedTask?
        var isStopped = false
    }

    /// The header field by which the gateway says that a director watches the preview.
    fileprivate static let previewFieldName = "Footlight-Preview"
    /// The interval between two ticks.
    private static let interval = TimeAmount.milliseconds(100)

    private let source: GatewaySource
    private let loop: any EventLoop
    private let logger: Logger
    private let read: @Sendable () -> MixerReportBody
    /// Handles the snapshot names that the gateway requests in its responses.
    private let snapshotHandler: Mutex<@Sendable (String) -> Void> = Mutex({ _ in })
    /// Handles whether a director watches the preview, as each response says.
    private let previewHandler: Mutex<@Sendable (Bool) -> Void> = Mutex({ _ in })
    private let state = Mutex(State(throttle: ReportThrottle(now: .now())))

    /// - Parameters:
    ///   - source: The target and the token of the reports.
    ///   - read: Returns the present report; called on the event loop, must not block.
    init(
        source: GatewaySource,
        group: any EventLoopGroup,
        logger: Logger,
        read: @escaping @Sendable () -> MixerReportBody
    ) {
        self.source = source
        loop = group.next()
        self.logger = logger
        self.read = read
    }

    /// Uploads the snapshots of the program that the gateway requests.
    func sendSnapshots(of mixer: ProgramMixer) {
        var target = source
        target.path = source.path.replacing("/mixer/report", with: "/mixer/snapshot")
        let uploader = SnapshotUploader(source: target, group: loop)
        snapshotHandler.withLock { handler in
            handler = { [weak mixer] names in
                if let mixer { uploader.upload(names, from: mixer) }
            }
        }
    }

    /// Calls `handler` with each response: whether a director watches the preview.
    func reportPreviewDemand(to handler: @escaping @Sendable (_ isWatched: Bool) -> Void) {
        previewHandler.withLock { $0 = handler }
    }

    fileprivate func requestPreview(_ isWatched: Bool) {
        let handler = previewHandler.withLock { $0 }
        handler(isWatched)
    }

    fileprivate func requestSnapshots(_ names: String) {
        let handler = snapshotHandler.withLock { $0 }
        handler(names)
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
        reportJump(report.frames?.lost[.known(.jump)] ?? 0)
        let (action, channel) = state.withLock { state -> (ReportThrottle.Action, (any Channel)?) in
            guard !state.isStopped else { return (.none, nil) }
            return (state.throttle.tick(report, now: .now()), state.channel)
        }
        switch action {
        case .none:
            return
        case .connect:
            connect()
        case .send(let report):
            if let channel { send(report, on: channel) }
        case .close:
            // The close future reports the loss.
            if let channel { channel.close(promise: nil) } else { lost() }
        }
    }

    private func reportJump(_ lost: Int) {
        guard let frames = state.withLock({ $0.jumpThrottle.update(lost: lost, now: .now()) }) else { return }
        logger.warning("program was late and skipped frames", metadata: ["frames": "\(frames)"])
    }

    private func connect() {
        source.connect(on: loop) { try $0.addHandler(ReportResponseHandler(self)) }
            .whenComplete { result in
                switch result {
                case .success(let channel): self.connected(channel)
                case .failure: self.lost()
                }
            }
    }

    private func connected(_ channel: any Channel) {
        let isExpected = state.withLock { state in
            guard !state.isStopped, state.throttle.connected() else { return false }
            state.channel = channel
            return true
        }
        guard isExpected else { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in self.lost() }
    }

    private func send(_ report: MixerReportBody, on channel: any Channel) {
        let body: ByteBuffer
        do {
            body = ByteBuffer(bytes: try WireJSON.encode(report))
        } catch {
            // A level that is not a number; the next report has another one.
            logger.warning("report could not be encoded", metadata: ["error": "\(error)"])
            return answered(status: 0)
        }
        source.send(.POST, body: (body, "application/json"), on: channel)
    }

    fileprivate func answered(status: Int) {
        let failed = state.withLock { state in state.throttle.answered(status: status) ? nil : state.channel }
        // The throttle retries with backoff: the room may not exist yet, or no longer.
        failed?.close(promise: nil)
    }

    private func lost() {
        state.withLock { state in
            state.channel = nil
            state.throttle.closed(now: .now(), chance: .random(in: 0...1))
        }
    }
}

/// Reads the status and the requested snapshots of each response.
private final class ReportResponseHandler: ChannelInboundHandler {
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
            guard (200..<300).contains(status) else { return }
            reporter.requestPreview(head.headers.contains(name: MixerReporter.previewFieldName))
            if let names = head.headers.first(name: SnapshotUploader.fieldName) { reporter.requestSnapshots(names) }
        case .body: break
        case .end: reporter.answered(status: status)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// Decides when the mixer reports, and when it connects.
///
/// One report is under way at a time, and skipped ones are superseded by later ones. There are ten per second while a
/// host is audible or the state changes, and one per second otherwise.
struct ReportThrottle {
    enum Action: Equatable {
        case none
        case connect
        case send(MixerReportBody)
        /// The response is overdue.
        case close
    }

    private enum State {
        case lost(until: MonotonicTime)
        case connecting(since: MonotonicTime)
        case idle
        case waiting(since: MonotonicTime)
    }

    /// Seconds between two reports without changes.
    private static let idleInterval = 1.0
    /// The timeout of connecting and of a response, in seconds.
    private static let timeout = 3.0
    /// The level in dBFS below which changes are not reported.
    private static let silenceLevel = -70.0
    /// The first and the longest reconnect delay, in seconds.
    private static let backoff = Backoff(initial: 0.1, maximum: 5)

    private var state: State
    private var failures = 0
    private var last: (report: MixerReportBody, at: MonotonicTime)?

    init(now: MonotonicTime) {
        state = .lost(until: now)
    }

    /// Decides on the present report; called ten times per second.
    mutating func tick(_ report: MixerReportBody, now: MonotonicTime) -> Action {
        switch state {
        case .lost(let until):
            guard now >= until else { return .none }
            state = .connecting(since: now)
            return .connect
        case .connecting(let since), .waiting(let since):
            return now.seconds(since: since) > Self.timeout ? .close : .none
        case .idle:
            guard isDue(report, now: now) else { return .none }
            state = .waiting(since: now)
            last = (report, now)
            return .send(report)
        }
    }

    /// Records an open connection; returns whether it is to be used.
    mutating func connected() -> Bool {
        guard case .connecting = state else { return false }
        state = .idle
        // The connection may lead to another gateway process without state.
        last = nil
        return true
    }

    /// Records a response with this HTTP status; returns whether the connection is usable.
    mutating func answered(status: Int) -> Bool {
        guard case .waiting = state, (200..<300).contains(status) else { return false }
        state = .idle
        failures = 0
        return true
    }

    /// Records a closed connection or a failed attempt.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    mutating func closed(now: MonotonicTime, chance: Double) {
        if case .lost = state { return }
        state = .lost(until: now.advanced(seconds: Self.backoff.delay(retry: failures, chance: chance)))
        failures += 1
    }

    private func isDue(_ report: MixerReportBody, now: MonotonicTime) -> Bool {
        guard let last, now.seconds(since: last.at) < Self.idleInterval else { return true }
        guard report.participants.count == last.report.participants.count,
            report.load?.level == last.report.load?.level
        else { return true }
        return zip(report.participants, last.report.participants).contains { new, old in
            new.sid != old.sid || new.subscribed != old.subscribed || (new.audioLevel == nil) != (old.audioLevel == nil)
                || max(new.audioLevel ?? Self.silenceLevel, old.audioLevel ?? Self.silenceLevel) > Self.silenceLevel
        }
    }
}

/// Limits the log lines about skipped program time to one in ten seconds.
///
/// An overloaded machine skips time every second, which would flood the log.
struct JumpThrottle {
    /// The shortest interval between two lines, in seconds.
    static let spacing = 10.0

    private var reported = 0
    private var reportedAt: MonotonicTime?

    /// Applies the number of frames that were skipped because the program was more than a second late.
    ///
    /// - Returns: The frames since the last line if a line is due; nil otherwise.
    mutating func update(lost: Int, now: MonotonicTime) -> Int? {
        guard lost > reported else { return nil }
        if let reportedAt, now.seconds(since: reportedAt) < Self.spacing { return nil }
        defer { reported = lost }
        reportedAt = now
        return lost - reported
    }
}

extension MixerReportBody {
    /// Returns the report with the sync of each host: that of the camera and microphone, else of the screen; both for a
    /// host with both.
    func adding(_ hosts: [MixerStatistics.Host]) -> MixerReportBody {
        let inputs = Dictionary(hosts.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        var report = self
        for index in report.participants.indices {
            let sid = report.participants[index].sid
            let screen = MixerInput(participantSID: sid, source: .screen).id
            let known = [sid, screen].compactMap { inputs[$0] }.filter { $0.offset != nil }
            report.participants[index].sync = known.first.map { SyncResource($0) }
            report.participants[index].screenSync = known.dropFirst().first.map { SyncResource($0) }
        }
        return report
    }
}

extension MixerReportBody {
    /// Returns the report with the peaks and loudness gains of the hosts with a microphone, and the program's level.
    func adding(_ signals: [HostSignal], _ program: ProgramSignal) -> MixerReportBody {
        func tenths(_ value: Double) -> Double { value.isFinite ? (value * 10).rounded() / 10 : HostSignal.silence }
        let signals = Dictionary(signals.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        var report = self
        for index in report.participants.indices where report.participants[index].audioLevel != nil {
            guard let signal = signals[report.participants[index].sid] else { continue }
            report.participants[index].peak = tenths(signal.peak)
            report.participants[index].levelling = tenths(signal.levelling)
        }
        report.program = ProgramLevelResource(peak: tenths(program.peak), limiting: tenths(program.limiting))
        return report
    }
}

extension MixerReportBody {
    /// Returns the report with the mixer's load.
    ///
    /// - Parameter renditions: The statistics of the renditions.
    func adding(_ load: ProgramLoad, cores: Double, renditions: [RenditionStatistics] = []) -> MixerReportBody {
        var report = self
        report.load = MixerLoadResource(
            level: load.degradation.level,
            reason: load.reason.map { .known($0) },
            work: (load.ratio * 100).rounded() / 100,
            cores: (cores * 100).rounded() / 100,
            renditions: renditions.isEmpty
                ? nil : renditions.map { RenditionLoadResource(name: $0.name, dropped: Int($0.droppedFrames)) }
        )
        return report
    }
}

extension MixerReportBody {
    /// Returns the report with the frame times and losses of the program.
    func adding(_ frames: MixerFrames) -> MixerReportBody {
        var report = self
        report.frames = MixerFramesResource(
            counts: frames.counts,
            seconds: (frames.seconds * 1000).rounded() / 1000,
            lost: Dictionary(uniqueKeysWithValues: frames.lost.map { (.known($0.key), $0.value) })
        )
        return report
    }
}

extension SyncResource {
    /// Makes the resource, rounded to the precision of the measurement.
    fileprivate init(_ host: MixerStatistics.Host) {
        func tenths(_ value: Double) -> Double { value.isFinite ? (value * 10).rounded() / 10 : 0 }
        self.init(
            targetMS: tenths(host.jitterTarget),
            offsetMS: tenths(host.offsetChange),
            driftPPM: tenths(host.driftPartsPerMillion),
            bufferMS: tenths(host.buffer),
            late: Int(host.late),
            duplicated: Int(host.framesRepeated),
            dropped: Int(host.packetsDropped + host.framesDropped)
        )
    }
}

/// Encodes and uploads the snapshots that the gateway requests.
///
/// The gateway requests them in its responses to reports, in the header `fieldName`, as a comma-separated list such as
/// `jpg-640`, `jpg-640-preview` for one of the preview, or `jpg-320-PA…` for one of that host alone. Each is posted on a connection of its own; the gateway repeats the request for one that fails.
struct SnapshotUploader: Sendable {
    static let fieldName = "Footlight-Snapshots"
    /// The timeout of an upload.
    private static let deadline = TimeAmount.seconds(3)
    /// The maximum number of snapshots that one response asks for.
    private static let maximumSnapshots = 32
    /// The maximum size of a response in bytes.
    private static let responseLimit = 1 << 16

    private let source: GatewaySource
    private let loop: any EventLoop

    /// - Parameter source: The target and the token of the uploads.
    init(source: GatewaySource, group: any EventLoopGroup) {
        self.source = source
        loop = group.next()
    }

    /// Uploads the snapshots that `field` names.
    func upload(_ field: String, from mixer: ProgramMixer) {
        for name in field.split(separator: ",").prefix(Self.maximumSnapshots) {
            let parts = name.split(separator: "-")
            guard (2...3).contains(parts.count), let format = Snapshot.Format(rawValue: String(parts[0])),
                let width = Int(parts[1])
            else { continue }
            let name = String(name)
            let snapshot = Snapshot(format, width: width > 0 ? width : nil)
            let completion: @Sendable (ByteBuffer?) -> Void = { file in
                if let file { post(file, as: name) }
            }
            if parts.last == "preview" {
                mixer.requestPreviewSnapshot(snapshot, completion: completion)
            } else if parts.count == 3 {
                mixer.requestSnapshot(snapshot, of: String(parts[2]), completion: completion)
            } else {
                mixer.requestSnapshot(snapshot, completion: completion)
            }
        }
    }

    /// Posts a file; the gateway repeats the request for a snapshot that it lacks.
    private func post(_ file: ByteBuffer, as name: String) {
        _ = source.exchange(
            .POST,
            query: "?picture=\(name)",
            body: (file, "application/octet-stream"),
            limit: Self.responseLimit,
            within: source.connectDeadline + Self.deadline,
            on: loop
        )
    }
}
