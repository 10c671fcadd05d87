import Stage

/// What a shard remembers of one viewer session, in 80 bytes.
///
/// Times are whole milliseconds of the monotonic clock.
/// NEW until it is proven to watch, LIVE while it counts, ENDED while it may still come back, then gone.
struct ViewerSession {
    enum Phase: UInt8 {
        /// The place is free, or waits for its timer before it is.
        case vacant
        case new
        case live
        /// Left or timed out; the same id within the grace time makes it live again without a new join.
        case ended
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// The timer wheel holds an entry for it.
        static let isScheduled = Flags(rawValue: 1)
        /// It holds a join that no leave has answered yet.
        static let isCredited = Flags(rawValue: 2)
        /// It plays and never counts.
        static let isExcluded = Flags(rawValue: 4)
        /// Its player says that it is paused: it counts, but what passes is not watched.
        static let isPaused = Flags(rawValue: 8)
        /// Came from the history, and nobody has shown its id yet.
        static let isRecovered = Flags(rawValue: 16)
        /// Only its player's reports are seen, as behind a network of caches.
        static let isRemote = Flags(rawValue: 32)
    }

    /// No such moment yet.
    static let never = Int64.min

    /// Nonce and room of its id; of a recovered session not known before its id is shown.
    var tail: UInt64
    /// The proof in its id, by which it is found: as good as random, and nobody makes an id from it.
    var code: UInt64
    /// Where its present state began.
    ///
    /// NEW: the first playlist. LIVE by connection: the start of the present run. ENDED: when it ended.
    var since: Int64
    /// The last sign of life, of a viewer by requests.
    var lastHit: Int64
    /// A moment that is another one in each state.
    ///
    /// NEW and LIVE: the last playlist. ENDED: where the watching ended.
    var mark: Int64 = ViewerSession.never
    /// First media of the watching that was proven.
    var start: Int64 = ViewerSession.never
    /// Milliseconds watched, without the present run of a connection.
    var watched: UInt32 = 0
    /// Milliseconds that its player says it waited for media.
    var stalled: UInt32 = 0
    /// Place of its cell in the shard's list.
    var cell: Int32
    /// Place of its viewer in the shard's list; -1 for one that is known by this session alone.
    var viewer: Int32 = -1
    /// The next session in the same slot of the timer wheel.
    var next: Int32 = -1
    /// Median time between playlist fetches, in milliseconds; 0 until it is known.
    var poll: UInt16 = 0
    /// Open connections that present this id; more than one while a reconnect overtakes the end of the old connection.
    var connections: UInt16 = 0
    var phase: Phase = .new
    var endReason: AudienceEvent.CloseReason = .left
    var flags: Flags = []
    /// How often it changed its rendition; stays at 255.
    var switches: UInt8 = 0

    /// A session that begins, NEW.
    init(id: SessionID, cell: Int32, at: Int64) {
        self.init(tail: id.tail, code: id.code, cell: cell, since: at, lastHit: at)
    }

    init(tail: UInt64, code: UInt64, cell: Int32, since: Int64, lastHit: Int64) {
        self.tail = tail
        self.code = code
        self.cell = cell
        self.since = since
        self.lastHit = lastHit
    }

    /// Adds to what it watched.
    mutating func noteWatched(_ milliseconds: Int64) {
        watched = UInt32(clamping: Int64(watched) + milliseconds)
    }

    /// Follows the median of the poll interval: a step towards each sample, whatever its distance, so that one long
    /// pause does not move it.
    mutating func notePoll(_ interval: Int64, limit: Int64) {
        guard interval > 0 else { return }
        let sample = min(interval, limit)
        guard poll > 0 else {
            poll = UInt16(clamping: sample)
            return
        }
        let step = max(1, Int64(poll) / 8)
        let distance = sample - Int64(poll)
        poll = UInt16(clamping: Int64(poll) + min(max(distance, -step), step))
    }
}
