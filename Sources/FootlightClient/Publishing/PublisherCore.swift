import Media
import RTMP
import Stage
import Synchronization

/// The queue of a publisher and the connections that empty it, one after the other.
final class PublisherCore: RTMPPublishSource {
    private struct State {
        var queue: PublishQueue
        var statistics = PublisherStatistics()
        var connection: RTMPPublishConnection?
        var waiting: CheckedContinuation<RTMPPublishEnd, Never>?
        var hasPublished = false
        /// The connection that is, or was last, got as far as to publish.
        var isPublishing = false
        var source: (any MediaSource)?
    }

    let news = CurrentValue<PublisherStatistics>(PublisherStatistics(), waiting: 64)
    private let url: String
    private let settings: PublisherSettings
    private let clock: ClientClock
    private let state: Mutex<State>
    /// Taken for a whole report, so that no older one is sent behind a newer.
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

    /// The numbers of this moment.
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
        let (connection, isHopeless, source) = state.withLock { state in
            let wasWaiting = state.queue.isWaitingForKeyPicture
            state.queue.append(packet)
            let isHopeless = state.queue.span > settings.hopeless
            let asksForKey = state.isPublishing && state.queue.isWaitingForKeyPicture && !wasWaiting
            return (state.connection, isHopeless, asksForKey ? state.source : nil)
        }
        source?.keyPictureWanted()
        if isHopeless {
            connection?.abandon("the line does not even carry the sound")
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
        source?.keyPictureWanted()
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

    /// Publishes until it is over for good, or until the task is cancelled, which ends the stream in an orderly way.
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
        stands(.connecting)
        stands(.ended(await connectUntilOver()))
    }

    private func connectUntilOver() async -> StageError? {
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
            guard clock.now() - since < settings.patience else { return .mediaEnded(end.reason, isFinal: false) }
            attempt += 1
            stands(.reconnecting(attempt: attempt))
            do {
                try await clock.sleep(delays.next(chance: clock.chance()))
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

    // MARK: News

    private func stands(_ newState: PublisherState) {
        state.withLock { $0.statistics.state = newState }
        report()
    }

    private func report() {
        reporting.withLock { _ in news.send(statistics) }
    }
}

extension StageError {
    /// 53405, with what became of the connection as its cause.
    fileprivate static func mediaEnded(_ cause: String, isFinal: Bool) -> StageError {
        var error = StageError.mediaLost
        error.cause = cause
        error.isRetryable = !isFinal
        return error
    }
}
