public import Media
public import Stage
import Synchronization

extension FeedDirectory {
    /// Milliseconds of the program after which a rendition of which nothing has come stands still: three usual segments.
    ///
    /// What a slow encoder may be behind is far less.
    static let longestLag: Int64 = 6_000

    /// What is played under a name, as `named`, unless it is a rendition that stands still.
    func playable(_ name: String) -> (feed: Feed, room: String)? {
        named(name).flatMap { Self.standsStill($0.feed) ? nil : $0 }
    }

    /// Whether it is a rendition of which nothing comes, though the program goes on.
    private static func standsStill(_ feed: Feed) -> Bool {
        RenditionFeedName(feed.name) != nil && feed.lag > longestLag
    }

    /// Sends the viewers of all renditions away that stand still; to be called about once a second.
    ///
    /// They would see their last picture for as long as that lasts. Those who ask again meanwhile are told that there is
    /// no such stream.
    ///
    /// - Returns: The renditions, and who takes them and is no viewer.
    public func dismissFromStillRenditions() -> [(name: RenditionFeedName, takers: [any PacketSink])] {
        all.compactMap { feed in
            guard let name = RenditionFeedName(feed.name), Self.standsStill(feed) else { return nil }
            if feed.activity.viewers > 0 { feed.dismiss(.shutdown) }
            return (name, takers.withLock { $0[feed.name] ?? [] })
        }
    }

    /// What there is under a name, and whose room it belongs to: a room's program, or one of its renditions.
    ///
    /// A room of just that name goes before another's rendition.
    func named(_ name: String) -> (feed: Feed, room: String)? {
        if let rendition = RenditionFeedName(name) { return feed(name).map { ($0, rendition.room) } }
        if let feed = feed(name) { return (feed, name) }
        guard let rendition = RenditionFeedName(played: name), let feed = feed(rendition.text) else { return nil }
        return (feed, rendition.room)
    }

    /// Makes ready the feeds of a room's program and its renditions, all on one clock.
    ///
    /// - Returns: The program's feed, and those of its renditions by name, in the ladder's order.
    @discardableResult
    public func open(
        _ room: String,
        with ladder: RenditionLadder?
    ) -> (program: Feed, renditions: [(name: String, feed: Feed)]) {
        guard let names = ladder?.names, !names.isEmpty else { return (open(room), []) }
        let timeline = SharedTimeline()
        let program = open(room, timeline: timeline)
        let renditions = names.map { name in
            (name: name, feed: open(RenditionFeedName(room: room, rendition: name).text, timeline: timeline))
        }
        return (program, renditions)
    }

    /// Ends the viewers of a room's renditions.
    public func closeRenditions(of room: String, reason: AudienceEvent.CloseReason) {
        for feed in all where RenditionFeedName(feed.name)?.room == room { close(feed.name, reason: reason) }
    }
}
