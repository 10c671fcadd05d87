extension OutputTarget {
    /// The name of what is pushed: the room's program, or its rendition.
    public func feed(of room: String) -> String {
        rendition.map { "\(room)_\($0)" } ?? room
    }
}
