public import FootlightModel
public import Media
public import RTMP
public import Stage
import Synchronization

/// Publishes encoded audio and video over RTMP or RTMPS, and reconnects when the connection breaks.
///
/// ## Overview
///
///     let publisher = RTMPPublisher(ingest)          // what a join as host answers
///     publisher.start()
///     publisher.send(.h264Configuration(data: record, timestamp: 0))
///     publisher.send(.h264Frame(data: frame, isKey: true, timestamp: 0))
///     for await report in publisher.statistics { print(report.state, report.queueMilliseconds) }
///
/// - **Media** is H.264 and AAC from the app's encoder; timestamps are milliseconds on one clock that continues through
///   a reconnect. ``send(_:)`` returns immediately and may be called on any thread. ``publish(from:)`` sends the
///   packets of a ``MediaSource``.
/// - **A slow connection** drops video: disposable frames when 700 ms are queued, all up to the next keyframe when 900
///   ms are queued. Audio is not dropped.
/// - **A lost connection** is retried with the same stream key, with growing, randomized delays. A new connection
///   begins with the configuration and the next keyframe. A permanent refusal is not retried.
public final class RTMPPublisher: Sendable {
    private let core: PublisherCore
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Creates a publisher that is idle until ``start()``.
    ///
    /// - Parameters:
    ///   - url: The server and the application, such as `rtmps://gateway.example/live`.
    ///   - streamKey: The secret stream key.
    ///   - settings: The rules for dropping and reconnecting.
    ///   - clock: The clock of the delays.
    public init(
        url: String,
        streamKey: String,
        settings: PublisherSettings = PublisherSettings(),
        clock: ClientClock = .system
    ) {
        let server = url.hasSuffix("/") ? String(url.dropLast()) : url
        core = PublisherCore(url: server + "/" + streamKey, settings: settings, clock: clock)
    }

    /// Creates a publisher for a host's camera and microphone, or for its screen.
    public convenience init(
        _ ingest: RTMPIngestResource,
        isScreen: Bool = false,
        settings: PublisherSettings = PublisherSettings(),
        clock: ClientClock = .system
    ) {
        let key = isScreen ? ingest.screenStreamKey : ingest.streamKey
        self.init(url: ingest.url, streamKey: key, settings: settings, clock: clock)
    }

    deinit {
        task.withLock { $0 }?.cancel()
    }

    /// Connects and publishes until ``stop()``; a second call has no effect.
    public func start() {
        task.withLock { task in
            guard task == nil else { return }
            task = Task { [core] in await core.run() }
        }
    }

    /// Sends the queued packets, for at most two seconds, and ends the stream.
    public func stop() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    /// Queues a packet, to be sent or dropped; on any thread, in the order of decode times.
    public func send(_ packet: MediaPacket) {
        core.send(packet)
    }

    /// Publishes the packets of a source until it ends, the publisher ends, or the task is cancelled; starts the
    /// publisher if necessary.
    ///
    /// After the end of the source the publisher continues; another source may follow.
    ///
    /// - Throws: The source's error, or the one with which the publisher ended.
    public func publish(from source: some MediaSource) async throws {
        start()
        core.source = source
        defer { core.source = nil }
        try await withThrowingTaskGroup(of: Void.self) { [core, statistics] group in
            group.addTask { try await source.produce { packet in core.send(packet) } }
            group.addTask {
                for await report in statistics {
                    guard case .ended(let error) = report.state else { continue }
                    if let error { throw error }
                    return
                }
            }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
        try Task.checkCancellation()
    }

    /// The current statistics, and then each second and with each change of the state.
    public var statistics: AsyncStream<PublisherStatistics> { core.statisticsSubject.stream() }

    /// The current statistics.
    public var currentStatistics: PublisherStatistics { core.statistics }
}

/// The rules by which a publisher drops packets and reconnects.
public struct PublisherSettings: Sendable {
    /// The drop limits: disposable frames at 700 ms of queued media, all up to the next keyframe at 900 ms, and
    /// keyframes at 2 s, so that audio is never dropped.
    public var queue = CongestionQueue.Limits(audio: 60_000, keyframes: 2_000)
    /// The queued media in milliseconds above which not even audio gets through and the connection is abandoned.
    public var maximumBacklog: Int64 = 10_000
    /// The time for which connecting or reconnecting is attempted.
    public var giveUpAfter = Duration.seconds(30)
    /// The delays between attempts.
    public var delays = ClientLimits()
    /// The interval between two reports; state changes are reported immediately.
    public var reportInterval = Duration.seconds(1)
    /// The certificates that are trusted for RTMPS.
    public var trust = RTMPTrustRoots.system

    /// Creates the settings of a live host.
    public init() {}
}

/// The state of a publisher.
public enum PublisherState: Sendable, Equatable {
    /// Not started.
    case idle
    /// The first connection is being made.
    case connecting
    /// Media is sent.
    case publishing
    /// The connection was lost or failed; with the number of the attempt, from 1.
    case reconnecting(attempt: Int)
    /// The publisher has ended: by request when nil, or because of an error.
    case ended(StageError?)
}

/// The statistics of a publisher since its creation.
public struct PublisherStatistics: Sendable, Equatable {
    /// The state of the publisher.
    public var state = PublisherState.idle
    /// The number of bytes sent, including RTMP's own.
    public var bytesSent: UInt64 = 0
    /// The number of packets sent.
    public var packetsSent: UInt64 = 0
    /// The number of packets dropped because the connection was too slow, by kind.
    public var dropped = CongestionQueue.Drops()
    /// The number of packets discarded without a connection, or before the first keyframe on one.
    public var missed: UInt64 = 0
    /// The duration of the queued media in milliseconds.
    public var queueMilliseconds: Int64 = 0
    /// The number of reconnects.
    public var reconnects = 0

    /// Creates empty statistics.
    public init() {}
}

extension BroadcastCall {
    /// Publishes a source as this host's camera and microphone, or as its screen, until the source ends, the
    /// participant leaves the stage, or the call ends.
    ///
    /// The call reports losses of the connection as with ``follow(_:)``. What is queued is sent before the method
    /// returns. The end of the source does not end the call.
    ///
    ///     for await status in call.statuses where status.phase == .joined {
    ///         try await call.publish(from: PatternMediaSource())
    ///     }
    ///
    /// - Throws: 3066 for a participant that is not a host, the source's error, and 53405 if the gateway refuses the
    ///   media or the connection cannot be restored.
    public func publish(
        from source: some MediaSource,
        isScreen: Bool = false,
        settings: PublisherSettings = PublisherSettings()
    ) async throws {
        guard let ingest else { throw StageError.notAHost }
        let publisher = RTMPPublisher(ingest, isScreen: isScreen, settings: settings, clock: clock)
        let following = Task { [weak self] in await self?.follow(publisher) }
        let ending = Task { [weak self, lists = participantLists] in
            // The lists finish with the call.
            for await _ in lists where self?.ingest?.streamKey != ingest.streamKey { break }
            await publisher.stop()
        }
        defer { ending.cancel() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await publisher.publish(from: source))
        } catch {
            result = .failure(error)
        }
        await publisher.stop()
        _ = await following.value
        // The gateway may have closed the connection of a host that left the stage before it was stopped here.
        if self.ingest?.streamKey != ingest.streamKey, status.phase == .reconnecting(.media) { mediaRestored() }
        try result.get()
    }

    /// Reports a publisher's connection losses to the call, until the publisher ends or the task is cancelled.
    ///
    /// The call is `reconnecting` with 53405 while a publisher that has published is disconnected. If the media is not
    /// restored within 30 s, the call ends with 53405.
    public func follow(_ publisher: RTMPPublisher) async {
        recoverMedia = { [weak publisher] (_) throws(StageError) in
            switch publisher?.currentStatistics.state {
            case .publishing: return
            case .ended(let error?): throw error
            default: throw .mediaLost
            }
        }
        var former = PublisherState.idle
        for await report in publisher.statistics where report.state != former {
            switch report.state {
            case .publishing: mediaRestored()
            case .reconnecting where former == .publishing, .ended(.some): mediaLost()
            case .ended(nil): recoverMedia = nil
            case .idle, .connecting, .reconnecting: break
            }
            former = report.state
            if case .ended = former { return }
        }
    }
}
