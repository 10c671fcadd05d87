/// What a crowd that came all at once met with.
struct StormFigures: Sendable {
    /// Milliseconds from the beginning of the connection to the last byte of the first key picture, by how they came.
    var waits: [String: Samples] = [:]
    /// Told that there is no room.
    var refused = 0
    /// Sent away without a word, or not let in at all.
    var failed = 0
    /// Sent away after their first picture.
    var closed = 0
    /// Seconds from the first join to the last viewer's first picture.
    var lasted = 0.0
}
