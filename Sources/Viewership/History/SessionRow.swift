public import Stage

/// A playback session in the history; times are milliseconds since 1970.
public struct SessionRow: Sendable, Equatable {
    /// The authentication code of the session's id, from which no id can be derived.
    public var code: UInt64
    /// The shard that owns the session.
    public var shard: UInt8
    /// The index in the shard's table, as in `LastHits`; nil for a participant without a player.
    public var index: Int?
    /// The room's unique name.
    public var room: String
    /// The epoch of the broadcast.
    public var epoch: Int64
    /// The first media.
    public var start: Int64
    /// The start of earlier rows, when a late log moved it; never read back.
    public var previousStart: Int64?
    /// The end of watching; nil while it lasts.
    public var end: Int64?
    /// Watch time, in milliseconds.
    public var watched: Int64
    /// The time up to which `watched` is complete; time from then to the next row is watched too.
    ///
    /// Nil while paused and after the end.
    public var watchedUntil: Int64?
    /// The interval of playlist requests, in milliseconds; 0 for a connection, and when unknown.
    public var poll: Int
    /// Rebuffering time, in milliseconds.
    public var stalled: Int64
    /// The current cell of the dimensions.
    public var dimensions: Dimensions
    /// The first eight renditions played, in order.
    public var renditions: [String]
    /// The number of rendition switches.
    public var switches: Int
    /// Bytes sent; of a connection reported when it closes, otherwise with each request.
    public var bytes: Int64
    /// A hash of the viewer; nil when only the session is known.
    public var viewer: UInt64?
    /// Whether a token identifies the viewer.
    public var isUser: Bool
    /// The estimated viewer, as a hash of address and player; nil when unknown.
    public var estimate: UInt64?
    /// Whether the player sent reports.
    public var hasReported: Bool
    /// Whether the session is known by a CDN log, some time after its requests.
    public var isLogged: Bool
    /// The reason of the end.
    public var reason: AudienceEvent.CloseReason?
    /// Whether the session can no longer resume.
    public var isClosed: Bool

    /// Creates a row.
    public init(
        code: UInt64,
        shard: UInt8,
        index: Int? = nil,
        room: String,
        epoch: Int64,
        start: Int64,
        previousStart: Int64? = nil,
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
        hasReported: Bool = false,
        isLogged: Bool = false,
        reason: AudienceEvent.CloseReason? = nil,
        isClosed: Bool = false
    ) {
        self.code = code
        self.shard = shard
        self.index = index
        self.room = room
        self.epoch = epoch
        self.start = start
        self.previousStart = previousStart
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
        self.hasReported = hasReported
        self.isLogged = isLogged
        self.reason = reason
        self.isClosed = isClosed
    }
}

/// An interruption of a playback session; times are milliseconds since 1970.
public struct GapRow: Sendable, Hashable {
    /// The authentication code of the session's id.
    public var code: UInt64
    /// The epoch of the broadcast.
    public var epoch: Int64
    /// The start of the interruption.
    public var from: Int64
    /// The end of the interruption.
    public var to: Int64

    /// Creates a row.
    public init(code: UInt64, epoch: Int64, from: Int64, to: Int64) {
        self.code = code
        self.epoch = epoch
        self.from = from
        self.to = to
    }
}

/// A switch of a session to another rendition or protocol.
public struct MoveRow: Sendable, Equatable {
    /// The authentication code of the session's id.
    public var code: UInt64
    /// The epoch of the broadcast.
    public var epoch: Int64
    /// The time of the switch, in milliseconds since 1970.
    public var at: Int64
    /// The cell before the switch.
    public var from: Dimensions

    /// Creates a row.
    public init(code: UInt64, epoch: Int64, at: Int64, from: Dimensions) {
        self.code = code
        self.epoch = epoch
        self.at = at
        self.from = from
    }
}

/// A recent state change of a session, for recovery after a kill.
///
/// The history is written about once a second; steps are written within 50 ms and cover what the history lacks when the
/// process is killed.
public struct SessionStep: Sendable, Equatable {
    /// The kind of state change.
    public enum Kind: UInt8, Sendable {
        /// A connection opened and is not qualified yet.
        case opened = 1
        /// A session qualified.
        case proven = 2
        /// A connection closed.
        case closed = 3
        /// A qualified session has a connection again.
        case reopened = 4
        /// An unqualified session requested its first playlist.
        case requested = 5
    }

    /// The kind of state change.
    public var kind: Kind
    /// The authentication code of the session's id.
    public var code: UInt64
    /// The shard that owns the session.
    public var shard: UInt8
    /// The epoch of the broadcast.
    public var epoch: Int64
    /// The cell of the dimensions.
    public var dimensions: Dimensions
    /// A hash of the viewer; nil when only the session is known.
    public var viewer: UInt64?
    /// Whether a token identifies the viewer.
    public var isUser: Bool
    /// The estimated viewer, as a hash; nil when unknown.
    public var estimate: UInt64?
    /// Whether the session is known by a CDN log.
    public var isLogged: Bool
    /// The opening, the first request or the start of watching; milliseconds since 1970.
    public var start: Int64
    /// The time of the step, in milliseconds since 1970.
    public var at: Int64

    /// Creates a step.
    public init(
        kind: Kind,
        code: UInt64,
        shard: UInt8,
        epoch: Int64,
        dimensions: Dimensions,
        viewer: UInt64? = nil,
        isUser: Bool = false,
        estimate: UInt64? = nil,
        isLogged: Bool = false,
        start: Int64,
        at: Int64
    ) {
        self.kind = kind
        self.code = code
        self.shard = shard
        self.epoch = epoch
        self.dimensions = dimensions
        self.viewer = viewer
        self.isUser = isUser
        self.estimate = estimate
        self.isLogged = isLogged
        self.start = start
        self.at = at
    }
}
