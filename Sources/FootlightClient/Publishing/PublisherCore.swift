import Media
import RTMP
import Stage
import Synchronization

/// The queue of a publisher and the successive connections that send it.
final class PublisherCore: RTMPPublishSource {
    private struct State {
        var queue: PublishQueue
        var statistics = PublisherStatistics()
        var connection: RTMPPublishConnection?
        var waiting: CheckedContinuation<RTMPPublishEnd, Never>?
        var hasPublished = false
        /// Whether the current or last connection started publishing.
        var isPublishing = false
        var source: (any MediaSource)?
    }

    let statisticsSubject = CurrentValue<PublisherStatistics>(PublisherStatistics(), waiting: 64)
    private let url: String
    private let settings: PublisherSettings
    private let clock: ClientClock
    private let state: Mutex<State>
    /// Held while a report is made, so that reports are sent in order.
    private let reporting = Mutex<Void>(())

    init(url: String, settings: PublisherSettings, clock: ClientClock) {
        self.url = url
        self.settings = settings
        self.clock = clock
        state = Mutex(State(queue: PublishQueue(limits: settings.queue)))
    }

    var source: (any MediaSource)? {
        get { state.withLock { $0.source } }
        set { state.withLock { $0.source = newValue } }
    }

    /// The current statistics.
    var statistics: PublisherStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.dropped = state.queue.dropped
            statistics.missed = state.queue.missed
            statistics.queueMilliseconds = state.queue.span
            return statistics
        }
    }

    // MARK: Media

    func send(_ packet: MediaPacket) {
        let (connection, isStalled, source) = state.withLock { state in
            let wasWaiting = state.queue.isWaitingForKeyframe
            state.queue.append(packet)
            let isStalled = state.queue.span > settings.maximumBacklog
            let needsKeyframeNow = state.isPublishing && state.queue.isWaitingForKeyframe && !wasWaiting
            return (state.connection, isStalled, needsKeyframeNow ? state.source : nil)
        }
        source?.requestKeyframe()
        if isStalled {
            connection?.abandon("the connection is too slow even for the audio")
        } else {
            connection?.wake()
        }
    }

    func nextPacket() -> MediaPacket? {
        state.withLock { state in
            guard let packet = state.queue.popFirst() else { return nil }
            state.statistics.packetsSent += 1
            return packet
        }
    }

    func wrote(bytes: Int) {
        state.withLock { $0.statistics.bytesSent += UInt64(bytes) }
    }

    // MARK: Connections

    func publishingStarted() {
        let source = state.withLock { state in
            state.queue.open()
            if state.hasPublished { state.statistics.reconnects += 1 }
            state.hasPublished = true
            state.isPublishing = true
            state.statistics.state = .publishing
            return state.source
        }
        source?.requestKeyframe()
        report()
    }

    func publishingEnded(_ end: RTMPPublishEnd) {
        let waiting = state.withLock { state in
            state.queue.close()
            state.connection = nil
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: end)
    }

    /// Publishes until it fails for good, or until the task is cancelled, which ends the stream regularly.
    func run() async {
        let reports = Task { [clock, settings] in
            while !Task.isCancelled {
                do {
                    try await clock.sleep(settings.reportInterval)
                } catch {
                    // Cancelled: the last report is sent with the end.
                    return
                }
                self.report()
            }
        }
        defer { reports.cancel() }
        setState(.connecting)
        setState(.ended(await connectUntilEnded()))
    }

    private func connectUntilEnded() async -> StageError? {
        var delays = Backoff(settings.delays)
        var since = clock.now()
        var attempt = 0
        while !Task.isCancelled {
            let (end, wasPublishing) = await connectOnce()
            if end.isFinished || Task.isCancelled { return nil }
            if end.isFinal { return .mediaEnded(end.reason, isFinal: true) }
            if wasPublishing {
                delays.reset()
                since = clock.now()
                attempt = 0
            }
            guard clock.now() - since < settings.giveUpAfter else { return .mediaEnded(end.reason, isFinal: false) }
            attempt += 1
            setState(.reconnecting(attempt: attempt))
            do {
                try await clock.sleep(.seconds(delays.next(chance: clock.chance())))
            } catch {
                return nil
            }
        }
        return nil
    }

    private func connectOnce() async -> (end: RTMPPublishEnd, wasPublishing: Bool) {
        let connection = RTMPPublishConnection(url: url, trust: settings.trust, source: self)
        let end = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.waiting = continuation
                    state.connection = connection
                    state.isPublishing = false
                }
                connection.start()
            }
        } onCancel: {
            connection.finish()
        }
        return (end, state.withLock { $0.isPublishing })
    }

    // MARK: Reports

    private func setState(_ newState: PublisherState) {
        state.withLock { $0.statistics.state = newState }
        report()
    }

    private func report() {
        reporting.withLock { _ in statisticsSubject.send(statistics) }
    }
}

extension StageError {
    /// 53405, with the reason of the connection's end as its cause.
    fileprivate static func mediaEnded(_ cause: String, isFinal: Bool) -> StageError {
        var error = StageError.mediaLost
        error.cause = cause
        error.isRetryable = !isFinal
        return error
    }
}

/// The packets that a publisher has yet to send, across connections.
///
/// Configuration is kept for the next connection; media is discarded when a connection ends. Video begins with a
/// keyframe.
struct PublishQueue {
    private(set) var missed: UInt64 = 0
    private var queue: CongestionQueue
    private var metadata: MediaPacket?
    private var videoConfiguration: MediaPacket?
    private var audioConfiguration: MediaPacket?
    private var isOpen = false
    private var needsKeyframe = true
    private var latest: Int64 = 0

    init(limits: CongestionQueue.Limits) {
        queue = CongestionQueue(limits: limits)
    }

    var dropped: CongestionQueue.Drops { queue.dropped }

    /// The duration of the queued media in milliseconds.
    var span: Int64 { queue.span }

    /// Whether only a keyframe can be sent next.
    var isWaitingForKeyframe: Bool { needsKeyframe || queue.isWaitingForKeyframe }

    /// Queues the configuration that a new connection needs first.
    mutating func open() {
        close()
        isOpen = true
        for var packet in [metadata, videoConfiguration, audioConfiguration].compactMap({ $0 }) {
            packet.timestamp = latest
            queue.append(packet)
        }
    }

    /// Discards the media of a connection that has ended.
    mutating func close() {
        while let packet = queue.popFirst() {
            if !packet.isConfiguration { missed += 1 }
        }
        queue.removeAll()
        isOpen = false
        needsKeyframe = true
    }

    mutating func append(_ packet: MediaPacket) {
        latest = packet.timestamp
        switch packet.content {
        case .metadata: metadata = packet
        case .videoConfiguration: videoConfiguration = packet
        case .audioConfiguration: audioConfiguration = packet
        case .audio, .video, .videoEnd: break
        }
        guard isOpen else {
            if !packet.isConfiguration { missed += 1 }
            return
        }
        if packet.isKeyframe { needsKeyframe = false }
        if needsKeyframe, case .video = packet.content {
            missed += 1
            return
        }
        queue.append(packet)
    }

    mutating func popFirst() -> MediaPacket? {
        queue.popFirst()
    }
}
