import FanOut
import Logging
import Media
import MixerProcess
import NIOCore
import RTMP
import Stage
import Synchronization

/// Admits the newest mixer of a room as the publisher of its program, renditions, preview and return feeds.
///
/// Each mixer process has a higher epoch than all before it. A lower epoch is refused; a higher one disconnects the
/// present publisher, and the feed continues its timeline. A new program also disconnects the older mixer's renditions
/// and return feeds, even those that the newer mixer has not published.
final class ProgramIngest: Sendable {
    private struct Publisher {
        var epoch: UInt64
        var connection: RTMPConnection?
    }

    private let feeds: FeedDirectory
    private let logger: Logger
    /// Called in order under a lock; must not block.
    private let onAirChange: @Sendable (_ room: String, _ isOnAir: Bool) -> Void
    private let publishers = Mutex<[String: Publisher]>([:])

    /// - Parameter onAirChange: Called under a lock when a room's program starts or stops.
    init(
        feeds: FeedDirectory,
        logger: Logger,
        onAirChange: @escaping @Sendable (_ room: String, _ isOnAir: Bool) -> Void
    ) {
        self.feeds = feeds
        self.logger = logger
        self.onAirChange = onAirChange
    }

    /// Decides on a mixer whose token is valid for the room and `epoch`.
    ///
    /// Called on the connection's event loop.
    ///
    /// - Parameter name: The room's name for its program, or the name of a rendition's feed.
    func publish(room name: String, epoch: UInt64, on connection: RTMPConnection) -> PublishVerdict {
        guard let feed = feeds.feed(name) else {
            return .refuse(.publishDenied("the room has ended"), after: .zero)
        }
        return publish(feed, room: Self.room(of: name), epoch: epoch, on: connection)
    }

    /// Decides on a mixer that publishes a return feed, whose token is valid for the room and `epoch`.
    ///
    /// Called on the connection's event loop.
    func publish(_ name: ReturnFeedName, epoch: UInt64, on connection: RTMPConnection) -> PublishVerdict {
        guard feeds.feed(name.room) != nil else {
            return .refuse(.publishDenied("the room has ended"), after: .zero)
        }
        return publish(feeds.open(name.text, tick: .zero), room: name.room, epoch: epoch, on: connection)
    }

    /// Decides on a mixer that publishes a room's preview, whose token is valid for the room and `epoch`.
    ///
    /// Called on the connection's event loop.
    func publish(_ name: PreviewFeedName, epoch: UInt64, on connection: RTMPConnection) -> PublishVerdict {
        guard let feed = feeds.feed(name.text) else {
            return .refuse(.publishDenied("the room is not backstage"), after: .zero)
        }
        return publish(feed, room: name.room, epoch: epoch, on: connection)
    }

    private func publish(
        _ feed: Feed,
        room: String,
        epoch: UInt64,
        on connection: RTMPConnection
    ) -> PublishVerdict {
        connection.eventLoop.assertInEventLoop()
        let outcome = publishers.withLock { publishers -> (publisher: FeedPublisher, old: [RTMPConnection])? in
            let present = publishers[feed.name]
            // The program's epoch also counts for feeds that the newest mixer has not published yet.
            let newest = max(present?.epoch ?? 0, publishers[room]?.epoch ?? 0)
            guard epoch >= newest else { return nil }
            publishers[feed.name] = Publisher(epoch: epoch, connection: connection)
            var old = [present?.connection].compactMap(\.self)
            if feed.name == room {
                onAirChange(room, true)
                let others = publishers.filter { Self.room(of: $0) == room && $1.epoch < epoch }
                old += others.compactMap(\.value.connection)
            }
            // Under the lock, so that the feed agrees on the newest publisher.
            return (feed.makePublisher(epoch: epoch), old)
        }
        guard let outcome else {
            logger.notice(
                "program refused: a newer mixer is publishing",
                metadata: ["feed": "\(feed.name)", "epoch": "\(epoch)"]
            )
            return .refuse(.publishDenied("a newer mixer publishes this program"), after: .zero)
        }
        for old in outcome.old {
            old.eventLoop.execute { old.end(.publishReplaced, reason: .replaced) }
        }
        logger.info("program is on air", metadata: ["feed": "\(feed.name)", "epoch": "\(epoch)"])
        outcome.publisher.publisherChanged()
        return .accept(ProgramPublisher(ingest: self, feed: outcome.publisher, name: feed.name, connection: connection))
    }

    /// Removes a closed connection; the epoch stays, so that an older mixer cannot return.
    fileprivate func leave(_ connection: RTMPConnection, feed: String) {
        let wasPresent = publishers.withLock { publishers in
            guard publishers[feed]?.connection === connection else { return false }
            publishers[feed]?.connection = nil
            // The callback ignores feeds that are not a room's program.
            onAirChange(feed, false)
            return true
        }
        if wasPresent { logger.info("program publisher disconnected", metadata: ["feed": "\(feed)"]) }
    }

    /// Returns the room whose mixer publishes a feed.
    private static func room(of feed: String) -> String {
        RenditionFeedName(feed)?.room ?? ReturnFeedName(feed)?.room ?? PreviewFeedName(feed)?.room ?? feed
    }

    /// Removes a room that ended, and disconnects its publishers.
    func close(room: String) {
        let names = publishers.withLock { publishers in
            publishers.keys.filter { Self.room(of: $0) == room }
        }
        for name in names { close(feed: name, because: "the room has ended") }
    }

    /// Closes a disabled return feed for its publisher and its players.
    func close(_ name: ReturnFeedName) {
        close(feed: name.text, because: "this return feed is disabled")
        feeds.close(name.text, reason: .roomEnded)
    }

    /// Disconnects the publisher of a preview that has ended.
    func close(_ name: PreviewFeedName) {
        close(feed: name.text, because: "the room is not backstage any more")
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

/// The connection of a publishing mixer.
private final class ProgramPublisher: PublishReceiver {
    private let ingest: ProgramIngest
    private let feed: FeedPublisher
    private let name: String
    private let connection: RTMPConnection

    init(ingest: ProgramIngest, feed: FeedPublisher, name: String, connection: RTMPConnection) {
        self.ingest = ingest
        self.feed = feed
        self.name = name
        self.connection = connection
    }

    func receive(_ packet: MediaPacket) throws(RTMPStatus) {
        feed.receive(packet)
    }

    func ended(_ reason: RTMPEndReason) {
        ingest.leave(connection, feed: name)
    }
}

extension FeedDirectory {
    /// Closes a host's feeds and discards their cached media.
    func closeHost(_ participantSID: String, room: String) {
        for source in [PublishSource.camera, .screen] {
            let name = HostFeedName(room: room, participantSID: participantSID, source: source)
            close(name.text, reason: .roomEnded)
        }
    }
}
