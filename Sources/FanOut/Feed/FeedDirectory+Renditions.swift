public import Stage

extension FeedDirectory {
    /// What is played under a name, and whose room it belongs to: a room's program, or one of its renditions.
    ///
    /// A room of just that name goes before another's rendition.
    func playable(_ name: String) -> (feed: Feed, room: String)? {
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
