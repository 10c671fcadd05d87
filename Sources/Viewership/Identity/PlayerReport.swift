/// What a player says of its own playing: one report of CMCD (CTA-5004), version 1 or 2.
public struct PlayerReport: Sendable, Equatable {
    /// Names the playback: ours if it was told to use it, or one of the player's own making.
    public var sid: String?
    /// Names what is played: the room.
    public var contentID: String?
    /// It plays, as far as it says; a report without a state is one of a player that plays.
    public var isPlaying = true
    /// It is paused, or is not; nil where it does not say.
    public var isPaused: Bool?
    /// It has ended, failed, or been left.
    public var isEnd = false
    /// It follows the live edge by parts.
    public var isLowLatency = false
    /// Milliseconds that it waited for media in the midst of it, since its last report.
    public var stalled: Int?
    /// Milliseconds from the wish to play to the first picture.
    public var startup: Int?
    /// Kilobits a second of what it plays.
    public var bitrate: Int?
    /// The rendition, where the bit rate tells it.
    public var rendition: String?

    /// A report that says nothing yet.
    public init() {}
}
