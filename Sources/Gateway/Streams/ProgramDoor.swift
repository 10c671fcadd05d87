import FanOut
import Logging
import Media
import NIOCore
import RTMP
import Stage
import Synchronization

/// The one place where a room's program enters, and its return feeds: lets the room's mixer publish, and only the newest.
///
/// Each mixer process has a higher epoch than all before it. A lower epoch is refused, a higher one sends the present
/// publisher away; the feed carries its clock over the change. With the program an older mixer loses the room's
/// renditions and return feeds too, also those that the newer one has not published yet, or never will.
final class ProgramDoor: Sendable {
    private struct Publisher {
        var epoch: UInt64
        var connection: RTMPConnection?
    }

    private let feeds: FeedDirectory
    private let logger: Logger
    /// Told in order, so it has to return at once.
    private let onAirChange: @Sendable (_ room: String, _ isOnAir: Bool) -> Void
    private let publishers = Mutex<[String: Publisher]>([:])

    /// - Parameter onAirChange: A room's program comes in, or does no longer; called under a lock.
    init(
        feeds: FeedDirectory,
        logger: Logger,
        onAirChange: @escaping @Sendable (_ room: String, _ isOnAir: Bool) -> Void
    ) {
        self.feeds = feeds
        self.logger = logger
        self.onAirChange = onAirChange
    }

    /// Answers a mixer whose token was found good for the room and `epoch`.
    ///
    /// On the connection's event loop.
    ///
    /// - Parameter name: The room's for its program, or that of a rendition's feed.
    func publish(room name: String, epoch: UInt64, on connection: RTMPConnection) -> PublishVerdict {
        guard let feed = feeds.feed(name) else {
            return .refuse(.publishDenied("the room has ended"), after: .zero)
        }
        return publish(feed, room: Self.room(of: name), epoch: epoch, on: connection)
    }

    /// Answers a mixer with the feed of one host, whose token was found good for the room and `epoch`.
    ///
    /// On the connection's event loop.
    func publish(_ name: ReturnFeedName, epoch: UInt64, on connection: RTMPConnection) -> PublishVerdict {
        guard feeds.feed(name.room) != nil else {
            return .refuse(.publishDenied("the room has ended"), after: .zero)
        }
        return publish(feeds.open(name.text, tick: .zero), room: name.room, epoch: epoch, on: connection)
    }

    private func publish(
        _ feed: Feed,
        room: String,
        epoch: UInt64,
        on connection: RTMPConnection
    ) -> PublishVerdict {
        let outcome = publishers.withLock { publishers -> (way: FeedPublisher, old: [RTMPConnection])? in
            let present = publishers[feed.name]
            // The program says which mixer is the newest, also where that one has not published yet.
            let newest = max(present?.epoch ?? 0, publishers[room]?.epoch ?? 0)
            guard epoch >= newest else { return nil }
            publishers[feed.name] = Publisher(epoch: epoch, connection: connection)
            var old = [present?.connection].compactMap(\.self)
            if feed.name == room {
                onAirChange(room, true)
                let others = publishers.filter { Self.room(of: $0) == room && $1.epoch < epoch }
                old += others.compactMap(\.value.connection)
            }
            // Made under the lock, so that the feed and this door agree on who is the newest.
            return (feed.makePublisher(epoch: epoch), old)
        }
        guard let outcome else {
            logger.notice(
                "program refused: a newer mixer is at work",
                metadata: ["feed": "\(feed.name)", "epoch": "\(epoch)"]
            )
            return .refuse(.publishDenied("a newer mixer publishes this program"), after: .zero)
        }
        for old in outcome.old {
            old.eventLoop.execute { old.end(.publishReplaced, reason: .replaced) }
        }
        logger.info("program is on air", metadata: ["feed": "\(feed.name)", "epoch": "\(epoch)"])
        outcome.way.publisherChanged()
        return .accept(ProgramPublisher(door: self, feed: outcome.way, name: feed.name, connection: connection))
    }

    /// The connection is gone; the epoch stays, so that an older mixer cannot come back in between.
    fileprivate func leave(_ connection: RTMPConnection, feed: String) {
        let wasPresent = publishers.withLock { publishers in
            guard publishers[feed]?.connection === connection else { return false }
            publishers[feed]?.connection = nil
            // Of a feed that is no room's program nobody keeps it.
            onAirChange(feed, false)
            return true
        }
        if wasPresent { logger.info("program publisher is gone", metadata: ["feed": "\(feed)"]) }
    }

    /// The room whose mixer publishes the feed of this name.
    private static func room(of feed: String) -> String {
        RenditionFeedName(feed)?.room ?? ReturnFeedName(feed)?.room ?? feed
    }

    /// Forgets a room that ended, and ends its publishers.
    func close(room: String) {
        let names = publishers.withLock { publishers in
            publishers.keys.filter { Self.room(of: $0) == room }
        }
        for name in names { close(feed: name, because: "the room has ended") }
    }

    /// Ends a return feed that is not wanted any more, for its publisher and for who plays it.
    func close(_ name: ReturnFeedName) {
        close(feed: name.text, because: "nobody wants this feed")
        feeds.close(name.text, reason: .roomEnded)
    }

    private func close(feed: String, because reason: String) {
        let publisher = publishers.withLock { publishers in
            onAirChange(feed, false)
            return publishers.removeValue(forKey: feed)
        }
        guard let connection = publisher?.connection else { return }
        connection.eventLoop.execute { connection.end(.publishFailed(reason), reason: .shutdown) }
    }
}

/// The publishing connection of a mixer.
private final class ProgramPublisher: PublishReceiver {
    private let door: ProgramDoor
    private let feed: FeedPublisher
    private let name: String
    private let connection: RTMPConnection

    init(door: ProgramDoor, feed: FeedPublisher, name: String, connection: RTMPConnection) {
        self.door = door
        self.feed = feed
        self.name = name
        self.connection = connection
    }

    func receive(_ packet: MediaPacket) throws(RTMPStatus) {
        feed.receive(packet)
    }

    func ended(_ reason: RTMPEndReason) {
        door.leave(connection, feed: name)
    }
}
