/// The response of `POST /v1/cdn-logs`: the number of lines by outcome.
public struct LogReceiptResource: Codable, Sendable, Hashable {
    /// Counted requests for media playlists.
    public var taken: Int
    /// Lines about other things, or about a room of another gateway.
    public var ignored: Int
    /// Requests for media playlists without an identifiable viewer.
    public var nameless: Int
    /// Lines that are not JSON, or without an address or a status.
    public var malformed: Int
    /// Older than `viewership.log_lateness` allows, 90 seconds unless it is set, or as far from the future.
    public var late: Int
    /// Lines dropped for lack of capacity.
    public var dropped: Int
    /// Lines that were received before; they have no effect.
    public var repeated: Int

    /// Creates a response.
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
}
