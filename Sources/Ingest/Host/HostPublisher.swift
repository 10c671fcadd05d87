import Logging
import Media
import NIOCore
import RTMP
import Stage

/// One host's publishing connection: checks its media, puts it on the feed's clock, and tells the stage what flows.
///
/// `@unchecked Sendable`: RTMP calls a receiver on its connection's event loop only, and nothing else holds the object.
final class HostPublisher: PublishReceiver, @unchecked Sendable {
    private let grant: PublishGrant
    private let connection: UInt64
    private let stage: RoomDirectory
    private let feed: any PacketSink
    private let logger: Logger
    private let onEnd: @Sendable () -> Void
    private var media: HostMedia
    private var timeline: HostTimeline
    private var bitrate: BitrateWatch
    private var reported = PublishedMedia()

    init(
        grant: PublishGrant,
        connection: UInt64,
        stage: RoomDirectory,
        feed: any PacketSink,
        configuration: IngestConfiguration,
        logger: Logger,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.grant = grant
        self.connection = connection
        self.stage = stage
        self.feed = feed
        self.logger = logger
        self.onEnd = onEnd
        media = HostMedia(limit: configuration.maximumPicture)
        timeline = HostTimeline(origin: .now())
        bitrate = BitrateWatch(limit: configuration.maximumBitrate)
    }

    func receive(_ packet: MediaPacket) throws(RTMPStatus) {
        let now = MonotonicTime.now()
        try watchBitrate(packet.body.readableBytes, now: now)
        guard var packet = try media.admit(packet, now: now) else { return }
        packet.timestamp = timeline.place(packet, arrival: now)
        if media.published != reported {
            reported = media.published
            stage.publishChanged(grant, connection: connection, media: reported)
        }
        feed.receive(packet)
    }

    private func watchBitrate(_ bytes: Int, now: MonotonicTime) throws(RTMPStatus) {
        switch bitrate.note(bytes: bytes, now: now) {
        case .fine:
            return
        case .high(let kilobits):
            logger.warning("host sends more than agreed", metadata: ["kbps": "\(kilobits)"])
        case .tooHigh(let kilobits):
            throw .publishFailed("\(kilobits) kb/s is far more than this gateway takes from one host")
        }
    }

    func ended(_ reason: RTMPEndReason) {
        stage.publishEnded(grant, connection: connection)
        onEnd()
        logger.info(
            "host stopped publishing",
            metadata: [
                "reason": "\(reason)", "clock_jumps": "\(timeline.jumps)",
                "damaged_pictures": "\(media.damagedPictures)",
            ]
        )
    }
}
