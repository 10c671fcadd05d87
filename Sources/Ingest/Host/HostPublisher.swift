import Logging
import Media
import NIOCore
import RTMP
import Stage

/// One host's publishing connection: checks its media, puts it on the feed's clock, lets through what the stage wants,
/// and tells the stage what arrives.
///
/// `@unchecked Sendable`: RTMP calls a receiver on its connection's event loop only, the watch runs on the same loop,
/// and nothing else holds the object.
final class HostPublisher: PublishReceiver, @unchecked Sendable {
    /// How often it is looked at whether the media has fallen silent.
    private static let lookInterval = TimeAmount.milliseconds(500)

    private let grant: PublishGrant
    private let connection: UInt64
    private let stage: RoomDirectory
    private let feed: any PacketSink
    private let counters: IngestCounters
    private let received: ReceivedBytes
    private let logger: Logger
    private let onEnd: @Sendable () -> Void
    private var media: HostMedia
    private var timeline: HostTimeline
    private var bitrate: BitrateWatch
    private var gated: GatedMedia
    private let begun = MonotonicTime.now()
    private var reported = PublishedMedia()
    /// The stage knows of media of this connection.
    private var hasSent = false
    /// The stage was told that this connection sends nothing at all.
    private var isKnownSilent = false
    private var counted: (pictures: UInt64, sounds: UInt64) = (0, 0)
    private var watch: RepeatedTask?

    init(
        grant: PublishGrant,
        connection: UInt64,
        stage: RoomDirectory,
        feed: any PacketSink,
        counters: IngestCounters,
        received: ReceivedBytes = ReceivedBytes(),
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
        media = HostMedia(limit: limits.maximumPicture, source: grant.source)
        timeline = HostTimeline(origin: .now())
        bitrate = BitrateWatch(limit: limits.maximumBitrate)
        gated = GatedMedia(grant.source)
    }

    /// Looks now and then whether the open connection still sends; on the connection's event loop, once.
    func startWatching(on loop: any EventLoop) {
        watch = loop.scheduleRepeatedTask(
            initialDelay: Self.lookInterval,
            delay: Self.lookInterval,
            notifying: nil
        ) { [weak self] task in
            guard let self else { return task.cancel() }
            self.look(at: .now())
        }
    }

    func receive(_ packet: MediaPacket) throws(RTMPStatus) {
        let now = MonotonicTime.now()
        received.add(packet.body.readableBytes)
        do throws(StageError) {
            try watchBitrate(packet.body.readableBytes, now: now)
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
        // On the clock first: what is dropped moves the host's time on all the same.
        packet.timestamp = timeline.place(packet, arrival: now)
        report()
        let (feed, gate) = (feed, grant.gate)
        gated.admit(packet, isOpen: gate.passes) { feed.receive($0) }
    }

    private func look(at now: MonotonicTime) {
        media.notice(at: now)
        if reported.hasVideo && !media.published.hasVideo || reported.hasAudio && !media.published.hasAudio {
            counters.interrupted()
            logger.notice(
                "host sends nothing of a track",
                metadata: ["pictures": "\(media.published.hasVideo)", "sound": "\(media.published.hasAudio)"]
            )
        }
        report()
        if !hasSent, !isKnownSilent, now.seconds(since: begun) >= HostMedia.silence {
            isKnownSilent = true
            counters.interrupted()
            logger.notice("host is connected and sends nothing")
            stage.publishChanged(grant, connection: connection, media: PublishedMedia())
        }
        count()
    }

    /// Tells the stage what arrives, when that is not what was told last.
    ///
    /// A configuration alone is not told: without a picture or sound it would pass for silence.
    private func report() {
        guard media.published != reported, hasSent || media.published.hasVideo || media.published.hasAudio else {
            return
        }
        hasSent = true
        reported = media.published
        stage.publishChanged(grant, connection: connection, media: reported)
    }

    private func count() {
        let (pictures, sounds) = (gated.droppedPictures, gated.droppedSounds)
        counters.add(droppedPictures: pictures - counted.pictures, droppedSounds: sounds - counted.sounds)
        counted = (pictures, sounds)
    }

    private func watchBitrate(_ bytes: Int, now: MonotonicTime) throws(StageError) {
        switch bitrate.note(bytes: bytes, now: now) {
        case .fine:
            return
        case .high(let kilobits):
            logger.warning("host sends more than agreed", metadata: ["kbps": "\(kilobits)"])
        case .tooHigh(let kilobits):
            throw .trackCapacityReached("\(kilobits) kb/s is far more than may come from this host")
        }
    }

    func ended(_ reason: RTMPEndReason) {
        watch?.cancel()
        watch = nil
        count()
        // An encoder that ends its stream meant to; all else is a loss.
        stage.publishEnded(grant, connection: connection, isLost: reason != .deletedStream)
        onEnd()
        logger.info(
            "host stopped publishing",
            metadata: [
                "reason": "\(reason)", "clock_jumps": "\(timeline.jumps)",
                "damaged_pictures": "\(media.damagedPictures)", "gated_pictures": "\(gated.droppedPictures)",
                "gated_sounds": "\(gated.droppedSounds)",
            ]
        )
    }
}
