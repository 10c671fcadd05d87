public import Stage

/// One playback, as the history keeps it; times in milliseconds since 1970.
public struct SessionRow: Sendable, Equatable {
    /// The proof in the session's id, from which nobody makes an id.
    public var code: UInt64
    /// The shard that owns the session.
    public var shard: UInt8
    /// Where it stands there, to find it in `LastHits`; nil for a participant's seat.
    public var place: Int?
    /// The room's unique name.
    public var room: String
    /// The broadcast it belongs to.
    public var epoch: Int64
    /// First media.
    public var start: Int64
    /// The start under which it was told before, where a log has told late of an earlier request; never read again.
    public var formerStart: Int64?
    /// Where the watching ended; nil while it lasts.
    public var end: Int64?
    /// Milliseconds watched.
    public var watched: Int64
    /// Up to when `watched` is told, while it watches; what passes from there to the next row is watched too.
    ///
    /// Nil when nothing more is: in a pause, and at the end.
    public var watchedUntil: Int64?
    /// Milliseconds between the playlists that it asks for; 0 for a connection, and where it is not known.
    public var poll: Int
    /// Milliseconds that the player waited for media.
    public var stalled: Int64
    /// Where it stands in the dimensions.
    public var dimensions: Dimensions
    /// All renditions that it played, eight at most, in the order in which they were first played.
    public var renditions: [String]
    /// How often it changed its rendition.
    public var switches: Int
    /// Bytes that it was sent: of a connection, told when it closes; by requests, with the requests that are its own.
    public var bytes: Int64
    /// Who watched, beyond the session: a hash; nil for nobody known.
    public var viewer: UInt64?
    /// The viewer is known by a token.
    public var isUser: Bool
    /// A hash of where it came from, by which viewers are estimated; nil where nobody knows.
    public var estimate: UInt64?
    /// The player reported of itself.
    public var isHeard: Bool
    /// A log tells of it, some time after its requests.
    public var isLogged: Bool
    /// Why it ended.
    public var reason: AudienceEvent.CloseReason?
    /// It does not come back.
    public var isClosed: Bool

    /// A row as it was read, or as a test wants it.
    public init(
        code: UInt64,
        shard: UInt8,
        place: Int? = nil,
        room: String,
        epoch: Int64,
        start: Int64,
        formerStart: Int64? = nil,
        end: Int64?,
        watched: Int64,
        watchedUntil: Int64? = nil,
        poll: Int = 0,
        stalled: Int64 = 0,
        dimensions: Dimensions,
        renditions: [String]? = nil,
        switches: Int = 0,
        bytes: Int64 = 0,
        viewer: UInt64? = nil,
        isUser: Bool = false,
        estimate: UInt64? = nil,
        isHeard: Bool = false,
        isLogged: Bool = false,
        reason: AudienceEvent.CloseReason? = nil,
        isClosed: Bool = false
    ) {
        self.code = code
        self.shard = shard
        self.place = place
        self.room = room
        self.epoch = epoch
        self.start = start
        self.formerStart = formerStart
        self.end = end
        self.watched = watched
        self.watchedUntil = watchedUntil
        self.poll = poll
        self.stalled = stalled
        self.dimensions = dimensions
        self.renditions = renditions ?? [dimensions.rendition]
        self.switches = switches
        self.bytes = bytes
        self.viewer = viewer
        self.isUser = isUser
        self.estimate = estimate
        self.isHeard = isHeard
        self.isLogged = isLogged
        self.reason = reason
        self.isClosed = isClosed
    }
}

/// A playback was away for a while and came back; milliseconds since 1970.
public struct GapRow: Sendable, Hashable {
    /// The session's.
    public var code: UInt64
    /// The broadcast.
    public var epoch: Int64
    /// When it went.
    public var from: Int64
    /// When it came back.
    public var to: Int64

    /// A row.
    public init(code: UInt64, epoch: Int64, from: Int64, to: Int64) {
        self.code = code
        self.epoch = epoch
        self.from = from
        self.to = to
    }
}

/// A session went on in another rendition or by another protocol.
public struct MoveRow: Sendable, Equatable {
    /// The proof in the session's id.
    public var code: UInt64
    /// The broadcast.
    public var epoch: Int64
    /// Milliseconds since 1970.
    public var at: Int64
    /// Where it stood until then.
    public var from: Dimensions

    /// A move.
    public init(code: UInt64, epoch: Int64, at: Int64, from: Dimensions) {
        self.code = code
        self.epoch = epoch
        self.at = at
        self.from = from
    }
}
