public import Media

/// One thing the fan-out saw a player do.
///
/// Events are facts; what they mean for the count is decided by their reader.
public struct AudienceEvent: Sendable, Equatable {
    /// What was seen.
    public enum Kind: Sendable, Equatable {
        /// A connection was accepted for playback.
        case opened
        /// Media flowed to the connection for the qualifying time; `since` is when its first media was sent.
        case watched(since: MonotonicTime)
        /// The connection took no media for this long, and takes it again.
        case stalled(milliseconds: Int64)
        /// The connection is gone.
        case closed(CloseReason)
        /// A media playlist was asked for and answered.
        case playlistServed
        /// A segment or part was asked for and answered.
        case segmentServed
        /// Media was sent, besides what other events tell of.
        case delivered
    }

    /// Why a viewer's connection ended.
    public enum CloseReason: String, Sendable, Equatable {
        case left
        case timedOut = "timed_out"
        case tooSlow = "too_slow"
        case roomEnded = "room_ended"
        case shutdown
    }

    /// The viewer session the event belongs to.
    public var sid: String
    /// The room's unique name.
    public var room: String
    /// How the viewer watches.
    public var playback: PlaybackProtocol
    /// The rendition that it asked for; nil for the program as it is, or where the fan-out does not know.
    public var rendition: String?
    /// What was seen.
    public var kind: Kind
    /// When it was seen.
    public var at: MonotonicTime
    /// When the request that it tells of began; nil where nobody knows.
    public var began: MonotonicTime?
    /// Bytes that the player was sent: by the connection that closed, or as the answer.
    public var bytes: Int
    /// A server in front of us answered, and told of it: what the player takes is not taken here.
    public var isElsewhere: Bool
    /// A log told of it, some time after it was seen.
    public var isLogged: Bool
    /// Whoever tells of this player's playlists tells of its media as well, so that a player without any is no viewer.
    public var isMediaSeen: Bool

    /// Makes an event.
    public init(
        sid: String,
        room: String,
        playback: PlaybackProtocol,
        rendition: String? = nil,
        kind: Kind,
        at: MonotonicTime,
        began: MonotonicTime? = nil,
        bytes: Int = 0,
        isElsewhere: Bool = false,
        isLogged: Bool = false,
        isMediaSeen: Bool = false
    ) {
        self.sid = sid
        self.room = room
        self.playback = playback
        self.rendition = rendition
        self.kind = kind
        self.at = at
        self.began = began
        self.bytes = bytes
        self.isElsewhere = isElsewhere
        self.isLogged = isLogged
        self.isMediaSeen = isMediaSeen
    }
}
