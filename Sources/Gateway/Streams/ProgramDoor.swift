import FanOut
import Logging
import Media
import NIOCore
import RTMP
import Stage
import Synchronization

/// The one place where a room's program enters: lets the room's mixer publish, and only the newest one.
///
/// Each mixer process has a higher epoch than all before it. A lower epoch is refused, a higher one sends the present
/// publisher away; the feed carries its clock over the change.
final class ProgramDoor: Sendable {
    private struct Publisher {
        var epoch: UInt64
        var connection: RTMPConnection?
    }

    private let feeds: FeedDirectory
    private let logger: Logger
    private let publishers = Mutex<[String: Publisher]>([:])

    init(feeds: FeedDirectory, logger: Logger) {
        self.feeds = feeds
        self.logger = logger
    }

    /// Answers a mixer whose token was found good for `room` and `epoch`.
    ///
    /// On the connection's event loop.
    func publish(room: String, epoch: UInt64, on connection: RTMPConnection) -> PublishVerdict {
        guard let feed = feeds.feed(room) else {
            return .refuse(.publishDenied("the room has ended"), after: .zero)
        }
        let outcome = publishers.withLock { publishers -> (way: FeedPublisher, old: RTMPConnection?)? in
            let present = publishers[room]
            if let present, present.epoch > epoch { return nil }
            publishers[room] = Publisher(epoch: epoch, connection: connection)
            // Made under the lock, so that the feed and this door agree on who is the newest.
            return (feed.makePublisher(epoch: epoch), present?.connection)
        }
        guard let outcome else {
            logger.notice(
                "program refused: a newer mixer is at work",
                metadata: ["room": "\(room)", "epoch": "\(epoch)"]
            )
            return .refuse(.publishDenied("a newer mixer publishes this program"), after: .zero)
        }
        if let old = outcome.old {
            old.eventLoop.execute { old.end(.publishReplaced, reason: .replaced) }
        }
        logger.info("program is on air", metadata: ["room": "\(room)", "epoch": "\(epoch)"])
        outcome.way.publisherChanged()
        return .accept(ProgramPublisher(door: self, feed: outcome.way, room: room, connection: connection))
    }

    /// The connection is gone; the epoch stays, so that an older mixer cannot come back in between.
    fileprivate func leave(_ connection: RTMPConnection, room: String) {
        let wasPresent = publishers.withLock { publishers in
            guard publishers[room]?.connection === connection else { return false }
            publishers[room]?.connection = nil
            return true
        }
        if wasPresent { logger.info("program publisher is gone", metadata: ["room": "\(room)"]) }
    }

    /// Forgets a room that ended, and ends its publisher.
    func close(room: String) {
        let publisher = publishers.withLock { $0.removeValue(forKey: room) }
        guard let connection = publisher?.connection else { return }
        connection.eventLoop.execute { connection.end(.publishFailed("the room has ended"), reason: .shutdown) }
    }
}

/// The publishing connection of a mixer.
private final class ProgramPublisher: PublishReceiver {
    private let door: ProgramDoor
    private let feed: FeedPublisher
    private let room: String
    private let connection: RTMPConnection

    init(door: ProgramDoor, feed: FeedPublisher, room: String, connection: RTMPConnection) {
        self.door = door
        self.feed = feed
        self.room = room
        self.connection = connection
    }

    func receive(_ packet: MediaPacket) throws(RTMPStatus) {
        feed.receive(packet)
    }

    func ended(_ reason: RTMPEndReason) {
        door.leave(connection, room: room)
    }
}
