extension OutputTarget {
    /// The name of the feed that is pushed: the room's program, or its rendition.
    ///
    /// A rendition is not named as players name it: `show_720p` may be a room too, and that room's program is another's.
    public func feed(of room: String) -> String {
        rendition.map { RenditionFeedName(room: room, rendition: $0).text } ?? room
    }
}
