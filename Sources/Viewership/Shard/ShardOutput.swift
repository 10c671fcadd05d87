import Stage

/// What a shard has to tell after a turn, besides its counters.
struct ShardOutput {
    /// The number of a room's live viewers moved.
    struct Change: Equatable {
        var room: String
        var delta: Int
        var at: Int64
    }

    /// A viewer was proven to watch.
    struct Arrival {
        var room: String
        var viewer: ViewerKey?
        /// Who it may be, by what its player tells.
        var estimate: UInt64?
        var session: UInt64
    }

    /// A session came to a new state; times are of the monotonic clock, in milliseconds.
    struct Session {
        var code: UInt64
        var shard: UInt8
        /// Where it stands in the shard's table; nil for a participant's seat.
        var place: Int32?
        var room: String
        var start: Int64
        /// The start that was told before; nil where that is the same.
        var formerStart: Int64?
        /// Where the watching ended; nil while it lasts.
        var end: Int64?
        var watched: UInt32
        /// Up to when that is, of a session that watches; nil while nothing is watched, as in a pause.
        var watchedUntil: Int64?
        /// When it was last heard of, of a viewer by requests who watched when an earlier run ended.
        var lastHit: Int64?
        /// Milliseconds between its playlists; 0 where that is not known.
        var poll: UInt16 = 0
        var stalled: UInt32
        var playback: PlaybackProtocol
        var rendition: String
        /// All that it played, in the order in which they were first played.
        var renditions: [String] = []
        var region: String
        var client: ClientClass
        var switches: UInt8
        /// Bytes that it was sent, as far as whoever served it has said.
        var bytes: Int64 = 0
        var viewer: ViewerKey?
        /// Who it may be; said once, when it joins.
        var estimate: UInt64?
        /// Its player reported of itself.
        var isHeard = false
        /// A log tells of it.
        var isLogged = false
        /// Why it ended.
        var reason: AudienceEvent.CloseReason?
        /// It does not come back.
        var isClosed: Bool
    }

    /// A session came a step further on its way to count; a moment in milliseconds of the monotonic clock.
    struct Step {
        var kind: SessionStep.Kind
        var code: UInt64
        var shard: UInt8
        var room: String
        var dimensions: Dimensions
        var viewer: ViewerKey?
        /// Who it may be, where it is not proven to watch yet or is proven now.
        var estimate: UInt64?
        var isLogged: Bool
        var start: Int64
        var at: Int64
    }

    /// What was counted in a place belongs to a moment before the present minute.
    struct Earlier {
        enum Count {
            /// Watched from the one moment to the other.
            case watched(from: Int64, to: Int64)
            case joined(at: Int64)
            case left(AudienceEvent.CloseReason, at: Int64)
        }

        var room: String
        var dimensions: Dimensions
        var count: Count
    }

    /// A session went on in another place of the dimensions.
    struct Move {
        var code: UInt64
        var room: String
        var at: Int64
        /// Where it was until then.
        var from: Dimensions
    }

    /// A session was away for a while.
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
    /// Milliseconds between request and first media, one for each viewer of whom it became known.
    var startups: [Int64] = []

    var isEmpty: Bool {
        changes.isEmpty && arrivals.isEmpty && sessions.isEmpty && gaps.isEmpty && startups.isEmpty && steps.isEmpty
            && earlier.isEmpty && moves.isEmpty
    }

    /// Empties the lists and keeps their memory for the next turn.
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
