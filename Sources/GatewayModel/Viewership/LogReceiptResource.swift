/// The answer of POST /v1/cdn-logs: what became of the lines.
public struct LogReceiptResource: Codable, Sendable, Hashable {
    /// Requests for media playlists, to be counted as such.
    public var taken: Int
    /// They tell of something else, or of a room that is another's.
    public var ignored: Int
    /// Requests for media playlists that nothing says whose they were.
    public var nameless: Int
    /// No JSON, or without an address or a status.
    public var malformed: Int
    /// Older than `viewership.log_lateness` allows, 90 seconds unless it is set, or as far from the future.
    public var late: Int
    /// There was no room for them.
    public var dropped: Int
    /// They came before, and change nothing.
    public var repeated: Int

    /// Makes an answer.
    public init(
        taken: Int,
        ignored: Int,
        nameless: Int,
        malformed: Int,
        late: Int,
        dropped: Int,
        repeated: Int = 0
    ) {
        self.taken = taken
        self.ignored = ignored
        self.nameless = nameless
        self.malformed = malformed
        self.late = late
        self.dropped = dropped
        self.repeated = repeated
    }

    private enum CodingKeys: String, CodingKey {
        case taken
        case ignored
        case nameless
        case malformed
        case late
        case dropped
        case repeated
    }
}
