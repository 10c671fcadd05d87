public import GatewayModel
public import Media
import RTMP
import Synchronization

/// Publishes encoded sound and pictures by RTMP or RTMPS, and wins the connection back when it breaks.
///
/// ## Overview
///
///     let publisher = RTMPPublisher(ingest)          // what a join as host answers
///     publisher.start()
///     publisher.send(.h264Configuration(data: record, timestamp: 0))
///     publisher.send(.h264Picture(data: picture, isKey: true, timestamp: 0))
///     for await report in publisher.statistics { print(report.state, report.queueMilliseconds) }
///
/// - **Media** is H.264 and AAC from an encoder of the app; timestamps are milliseconds on one clock of the app, which
///   go on through a reconnect. ``send(_:)`` returns at once, from any thread. Or ``publish(from:)`` takes all from a
///   ``MediaSource``.
/// - **A slow line** drops pictures: disposable ones when 700 ms wait, all up to the next key picture when 900 ms wait.
///   Sound is never dropped on a connection.
/// - **A lost line** is tried again with the same key, by delays that grow and are spread by chance. A new connection
///   begins with the configuration and the next key picture. What the server refuses for good is not tried again.
public final class RTMPPublisher: Sendable {
    private let core: PublisherCore
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Makes a publisher that does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - url: The server and the application, such as `rtmps://gateway.example/live`.
    ///   - streamKey: The secret that says whose stream it is.
    ///   - settings: When to drop, wait and try again.
    ///   - clock: Counts the delays.
    public init(
        url: String,
        streamKey: String,
        settings: PublisherSettings = PublisherSettings(),
        clock: ClientClock = .system
    ) {
        let server = url.hasSuffix("/") ? String(url.dropLast()) : url
        core = PublisherCore(url: server + "/" + streamKey, settings: settings, clock: clock)
    }

    /// Makes a publisher of a host's camera and microphone, or of the screen.
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

    /// Connects and goes on publishing until ``stop()``; a second call does nothing.
    public func start() {
        task.withLock { task in
            guard task == nil else { return }
            task = Task { [core] in await core.run() }
        }
    }

    /// Sends what waits, for two seconds at most, and ends the stream.
    public func stop() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    /// Takes one packet, to be sent or dropped; from any thread, in the order of decode times.
    public func send(_ packet: MediaPacket) {
        core.send(packet)
    }

    /// Publishes what a source gives until it ends, or the task is cancelled; starts the publisher if need be.
    ///
    /// The publisher goes on; another source may follow.
    ///
    /// - Throws: What the source throws.
    public func publish(from source: some MediaSource) async throws {
        start()
        core.source = source
        defer { core.source = nil }
        try await source.produce { [core] packet in core.send(packet) }
    }

    /// The numbers of this moment, and then each second and with each change of the state.
    public var statistics: AsyncStream<PublisherStatistics> { core.news.stream() }

    /// The numbers of this moment.
    public var currentStatistics: PublisherStatistics { core.statistics }
}
