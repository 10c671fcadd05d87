public import Media

/// An observation of a player by the fan-out.
///
/// Events state facts; the consumer decides how they count.
public struct AudienceEvent: Sendable, Equatable {
    /// The kind of an observation.
    public enum Kind: Sendable, Equatable {
        /// A connection was accepted for playback.
        case opened
        /// Media flowed to the connection for the qualifying time; `since` is the send time of the first media.
        case watched(since: MonotonicTime)
        /// The connection accepted no media for this time and accepts it again.
        case stalled(milliseconds: Int64)
        /// The connection closed.
        case closed(CloseReason)
        /// A media playlist was served.
        case playlistServed
        /// A segment or part was served.
        case segmentServed
        /// Media was sent that no other event reports.
        case delivered
    }

    /// The reason for the end of a viewer's connection.
    public enum CloseReason: String, Sendable, Equatable {
        case left
        case timedOut = "timed_out"
        case tooSlow = "too_slow"
        case roomEnded = "room_ended"
        case shutdown
    }

    /// The viewer session of the event.
    public var sid: String
    /// The room's unique name.
    public var room: String
    /// The playback protocol.
    public var playback: PlaybackProtocol
    /// The requested rendition; nil for the program itself, or where the fan-out does not know it.
    public var rendition: String?
    /// The kind of the event.
    public var kind: Kind
    /// The time of the observation.
    public var at: MonotonicTime
    /// The start time of the request; nil if unknown.
    public var began: MonotonicTime?
    /// The bytes sent to the player: by the closed connection, or in the response.
    public var bytes: Int
    /// Whether an upstream cache served the request and reported it, so that the media did not pass through this
    /// gateway.
    public var isServedElsewhere: Bool
    /// Whether the event was read from an access log, some time after the observation.
    public var isLogged: Bool
    /// Whether the source that reports this player's playlist requests also reports its media requests, so that a
    /// player without media requests is not a viewer.
    public var isMediaSeen: Bool

    /// Creates an event.
    public init(
        sid: String,
        room: String,
        playback: PlaybackProtocol,
        rendition: String? = nil,
        kind: Kind,
        at: MonotonicTime,
        began: MonotonicTime? = nil,
        bytes: Int = 0,
        isServedElsewhere: Bool = false,
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
        self.isServedElsewhere = isServedElsewhere
        self.isLogged = isLogged
        self.isMediaSeen = isMediaSeen
    }
}

/// The playback protocol of a viewer.
public enum PlaybackProtocol: String, Sendable, Hashable, Codable, CaseIterable {
    /// A RECV_ONLY participant known by the API alone, without a player session.
    case sdk
    case rtmp
    case flv
    case hls
    case llhls

    /// Whether a viewer is one open connection; otherwise a viewer is a series of requests.
    public var isConnection: Bool { self == .rtmp || self == .flv }
}
