import Stage

/// What a shard remembers of one viewer session, in 64 bytes: one line of the processor's cache.
///
/// Times are whole milliseconds of the monotonic clock, kept in five bytes each: 17 years on either side of its zero.
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
        /// Its player has reported of itself.
        static let isHeard = Flags(rawValue: 64)
    }

    /// No such moment yet: the earliest that five bytes can hold, so that every other one is later.
    static let never: Int64 = -(1 << 39)

    /// Nonce and room of its id; of a recovered session not known before its id is shown.
    var tail: UInt64
    /// The proof in its id, by which it is found: as good as random, and nobody makes an id from it.
    var code: UInt64
    /// The lower four bytes of the moments, and then the highest ones.
    private var low: (since: UInt32, lastHit: UInt32, mark: UInt32, start: UInt32) = (0, 0, 0, 0)
    private var high: (since: UInt8, lastHit: UInt8, mark: UInt8, start: UInt8) = (0, 0, 0, 0)
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
        mark = Self.never
        start = Self.never
    }

    // MARK: Moments

    /// Where its present state began.
    ///
    /// NEW: the first playlist. LIVE by connection: the start of the present run. ENDED: when it ended.
    var since: Int64 {
        get { Self.moment(low.since, high.since) }
        set { Self.keep(newValue, &low.since, &high.since) }
    }

    /// The last sign of life, of a viewer by requests.
    var lastHit: Int64 {
        get { Self.moment(low.lastHit, high.lastHit) }
        set { Self.keep(newValue, &low.lastHit, &high.lastHit) }
    }

    /// A moment that is another one in each state.
    ///
    /// NEW and LIVE: the last playlist. ENDED: where the watching ended.
    var mark: Int64 {
        get { Self.moment(low.mark, high.mark) }
        set { Self.keep(newValue, &low.mark, &high.mark) }
    }

    /// First media of the watching that was proven.
    var start: Int64 {
        get { Self.moment(low.start, high.start) }
        set { Self.keep(newValue, &low.start, &high.start) }
    }

    private static func moment(_ low: UInt32, _ high: UInt8) -> Int64 {
        // Earlier than the clock's zero is below the middle.
        (Int64(high) << 32 | Int64(low)) + never
    }

    private static func keep(_ moment: Int64, _ low: inout UInt32, _ high: inout UInt8) {
        let bits = min(max(moment, never), -never - 1) - never
        low = UInt32(truncatingIfNeeded: bits)
        high = UInt8(truncatingIfNeeded: bits >> 32)
    }

    // MARK: Figures

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
