import Logging
import Media
import NIOCore
import RTMP
import Stage

/// A host's publishing connection: validates its media, maps it to the feed's clock, forwards the tracks that the stage
/// allows, and reports state changes to the stage.
///
/// `@unchecked Sendable`: the RTMP callbacks and the monitor task run on the connection's event loop, and no other code
/// retains the object.
final class HostPublisher: PublishReceiver, @unchecked Sendable {
    /// The interval of checks for silent media.
    private static let checkInterval = TimeAmount.milliseconds(500)

    private let grant: PublishGrant
    private let connection: UInt64
    private let stage: RoomDirectory
    private let feed: any PacketSink
    private let counters: IngestCounters
    private let received: ReceivedByteCounter
    private let logger: Logger
    private let onEnd: @Sendable () -> Void
    private var media: HostMediaValidator
    private var timeline: PublishTimeline
    private var bitrate: BitrateMonitor
    private var gated: HostTrackFilter
    private let startTime = MonotonicTime.now()
    private var reported = PublishedMedia()
    /// Whether media of this connection was reported to the stage.
    private var hasReported = false
    /// Whether the stage was informed that this connection sends nothing.
    private var isSilenceReported = false
    private var counted: (video: UInt64, audio: UInt64) = (0, 0)
    private var monitorTask: RepeatedTask?

    init(
        grant: PublishGrant,
        connection: UInt64,
        stage: RoomDirectory,
        feed: any PacketSink,
        counters: IngestCounters,
        received: ReceivedByteCounter = ReceivedByteCounter(),
        configuration: IngestConfiguration,
        logger: Logger,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.grant = grant
        self.connection = connection
        self.stage = stage
        self.feed = feed
        self.counters = counters
        self.received = received
        self.logger = logger
        self.onEnd = onEnd
        let limits = configuration.narrowed(to: grant.limits)
        media = HostMediaValidator(limit: limits.maximumFrameSize, source: grant.source)
        timeline = PublishTimeline(origin: .now())
        bitrate = BitrateMonitor(limit: limits.maximumBitrate)
        gated = HostTrackFilter(grant.source)
    }

    /// Starts the periodic checks for silence; called once, on the connection's event loop.
    func startMonitoring(on loop: any EventLoop) {
        loop.assertInEventLoop()
        monitorTask = loop.scheduleRepeatedTask(
            initialDelay: Self.checkInterval,
            delay: Self.checkInterval,
            notifying: nil
        ) { [weak self] task in
            guard let self else { return task.cancel() }
            self.checkSilence(at: .now())
        }
    }

    func receive(_ packet: MediaPacket) throws(RTMPStatus) {
        let now = MonotonicTime.now()
        received.add(packet.body.readableBytes)
        do throws(StageError) {
            try checkBitrate(packet.body.readableBytes, now: now)
            guard let packet = try media.admit(packet, now: now) else { return }
            pass(packet, arrival: now)
        } catch {
            logger.warning("host refused", metadata: ["code": "\(error.code)", "reason": "\(error.message)"])
            stage.publishRefused(grant, because: error)
            throw .publishRejected(error.description)
        }
    }

    private func pass(_ packet: MediaPacket, arrival now: MonotonicTime) {
        var packet = packet
        // Mapped to the clock first, because dropped packets also advance the host's time.
        packet.timestamp = timeline.rebase(packet, arrival: now)
        report()
        let (feed, gate) = (feed, grant.gate)
        gated.admit(packet, isOpen: gate.passes) { feed.receive($0) }
    }

    private func checkSilence(at now: MonotonicTime) {
        media.expireSilentTracks(at: now)
        if reported.hasVideo && !media.published.hasVideo || reported.hasAudio && !media.published.hasAudio {
            counters.interrupted()
            logger.notice(
                "no media on a track",
                metadata: ["video": "\(media.published.hasVideo)", "audio": "\(media.published.hasAudio)"]
            )
        }
        report()
        if !hasReported, !isSilenceReported, now.seconds(since: startTime) >= HostMediaValidator.trackTimeout {
            isSilenceReported = true
            counters.interrupted()
            logger.notice("host is connected without media")
            stage.publishChanged(grant, connection: connection, media: PublishedMedia())
        }
        count()
    }

    /// Reports changes of the received media to the stage.
    ///
    /// A configuration alone is not reported, since it would count as silence.
    private func report() {
        guard media.published != reported, hasReported || media.published.hasVideo || media.published.hasAudio else {
            return
        }
        hasReported = true
        reported = media.published
        stage.publishChanged(grant, connection: connection, media: reported)
    }

    private func count() {
        let (video, audio) = (gated.droppedVideoFrames, gated.droppedAudioFrames)
        counters.add(droppedVideoFrames: video - counted.video, droppedAudioFrames: audio - counted.audio)
        counted = (video, audio)
    }

    private func checkBitrate(_ bytes: Int, now: MonotonicTime) throws(StageError) {
        switch bitrate.record(bytes: bytes, now: now) {
        case .fine:
            return
        case .high(let kilobits):
            logger.warning("host exceeds its bit rate", metadata: ["kbps": "\(kilobits)"])
        case .tooHigh(let kilobits):
            throw .trackCapacityReached("\(kilobits) kb/s is more than twice the limit of this host")
        }
    }

    func ended(_ reason: RTMPEndReason) {
        monitorTask?.cancel()
        monitorTask = nil
        count()
        // `deletedStream` is an intended end; any other reason is a loss.
        stage.publishEnded(grant, connection: connection, isLost: reason != .deletedStream)
        onEnd()
        logger.info(
            "host stopped publishing",
            metadata: [
                "reason": "\(reason)", "clock_jumps": "\(timeline.jumps)",
                "damaged_pictures": "\(media.damagedFrames)", "gated_pictures": "\(gated.droppedVideoFrames)",
                "gated_sounds": "\(gated.droppedAudioFrames)",
            ]
        )
    }
}

/// Measures a host's bit rate over ten seconds against its limit.
struct BitrateMonitor {
    enum Verdict: Equatable {
        case fine
        /// Above 1.5 times the limit; reported once per window.
        case high(kilobits: Int)
        /// Above twice the limit.
        case tooHigh(kilobits: Int)
    }

    private static let window = 10.0
    private let limit: Int
    private var windowStart: MonotonicTime?
    private var bytes = 0

    /// - Parameter limit: kb/s.
    init(limit: Int) {
        self.limit = limit
    }

    mutating func record(bytes count: Int, now: MonotonicTime) -> Verdict {
        bytes += count
        guard let start = windowStart else {
            windowStart = now
            return .fine
        }
        let elapsed = now.seconds(since: start)
        // Stops early if the bytes already exceed the limit for the whole window.
        let kilobits = Int(Double(bytes) * 8 / 1_000 / max(elapsed, Self.window))
        guard elapsed >= Self.window || kilobits > limit * 2 else { return .fine }
        windowStart = now
        bytes = 0
        if kilobits > limit * 2 { return .tooHigh(kilobits: kilobits) }
        return kilobits * 2 > limit * 3 ? .high(kilobits: kilobits) : .fine
    }
}
