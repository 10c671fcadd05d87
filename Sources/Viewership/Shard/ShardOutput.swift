import Stage

/// The changes of a shard in one turn, besides its counters.
struct ShardOutput {
    /// A change of a room's live count.
    struct Change: Equatable {
        var room: String
        var delta: Int
        var at: Int64
    }

    /// A qualified viewer.
    struct Arrival {
        var room: String
        var viewer: ViewerKey?
        /// The estimated viewer.
        var estimate: UInt64?
        var session: UInt64
    }

    /// A new state of a session; times are milliseconds of the monotonic clock.
    struct Session {
        var code: UInt64
        var shard: UInt8
        /// The index in the shard's table; nil for a participant without a player.
        var index: Int32?
        var room: String
        var start: Int64
        /// The start in earlier rows; nil when unchanged.
        var previousStart: Int64?
        /// The end of watching; nil while it lasts.
        var end: Int64?
        var watched: UInt32
        /// The time up to which `watched` is complete; nil while nothing is watched, as in a pause.
        var watchedUntil: Int64?
        /// The last request of an HLS viewer that watched when an earlier run ended.
        var lastHit: Int64?
        /// The playlist interval in milliseconds; 0 when unknown.
        var poll: UInt16 = 0
        var stalled: UInt32
        var playback: PlaybackProtocol
        var rendition: String
        /// The played renditions, in order of first playback.
        var renditions: [String] = []
        var region: String
        var client: ClientClass
        var switches: UInt8
        /// Bytes sent, as far as reported.
        var bytes: Int64 = 0
        var viewer: ViewerKey?
        /// The estimated viewer; set once, when the session qualifies.
        var estimate: UInt64?
        /// Whether the player sent reports.
        var hasReported = false
        /// Whether the session is known by a log.
        var isLogged = false
        /// The reason of the end.
        var reason: AudienceEvent.CloseReason?
        /// Whether the session can no longer resume.
        var isClosed: Bool
    }

    /// A step of a session; times are milliseconds of the monotonic clock.
    struct Step {
        var kind: SessionStep.Kind
        var code: UInt64
        var shard: UInt8
        var room: String
        var dimensions: Dimensions
        var viewer: ViewerKey?
        /// The estimated viewer, until the session has qualified.
        var estimate: UInt64?
        var isLogged: Bool
        var start: Int64
        var at: Int64
    }

    /// A count that belongs to a minute before the current one.
    struct Earlier {
        enum Count {
            /// Watch time between two times.
            case watched(from: Int64, to: Int64)
            case joined(at: Int64)
            case left(AudienceEvent.CloseReason, at: Int64)
        }

        var room: String
        var dimensions: Dimensions
        var count: Count
    }

    /// A switch of a session to another cell.
    struct Move {
        var code: UInt64
        var room: String
        var at: Int64
        /// The cell before the switch.
        var from: Dimensions
    }

    /// An interruption of a session.
    struct Gap {
        var code: UInt64
        var room: String
        var from: Int64
        var to: Int64
    }

    var changes: [Change] = []
    var arrivals: [Arrival] = []
    var sessions: [Session] = []
    var gaps: [Gap] = []
    var steps: [Step] = []
    var earlier: [Earlier] = []
    var moves: [Move] = []
    /// Startup times in milliseconds, one per viewer.
    var startups: [Int64] = []

    var isEmpty: Bool {
        changes.isEmpty && arrivals.isEmpty && sessions.isEmpty && gaps.isEmpty && startups.isEmpty && steps.isEmpty
            && earlier.isEmpty && moves.isEmpty
    }

    /// Removes all changes and keeps the capacity.
    mutating func clear() {
        changes.removeAll(keepingCapacity: true)
        arrivals.removeAll(keepingCapacity: true)
        sessions.removeAll(keepingCapacity: true)
        gaps.removeAll(keepingCapacity: true)
        startups.removeAll(keepingCapacity: true)
        steps.removeAll(keepingCapacity: true)
        earlier.removeAll(keepingCapacity: true)
        moves.removeAll(keepingCapacity: true)
    }
}
