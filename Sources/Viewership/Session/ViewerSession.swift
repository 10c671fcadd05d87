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
        /// How long it waited for its first media is counted, or never will be.
        static let isTimed = Flags(rawValue: 128)
    }

    /// No such moment yet: the earliest that five bytes can hold, so that every other one is later.
    static let never: Int64 = -(1 << 39)

    /// The proof in its id, by which it is found: as good as random, and nobody makes an id from it.
    var code: UInt64
    /// The nonce of its id; of a recovered session not known before its id is shown.
    private var nonce: (UInt32, UInt16)
    /// The renditions that it played, by number.
    var trail: UInt16 = 0
    /// The lower four bytes of the moments, and then the highest ones.
    private var low: (since: UInt32, lastHit: UInt32, mark: UInt32, start: UInt32) = (0, 0, 0, 0)
    private var high: (since: UInt8, lastHit: UInt8, mark: UInt8, start: UInt8) = (0, 0, 0, 0)
    /// Milliseconds watched, without the present run of a connection.
    var watched: UInt32 = 0
    /// Milliseconds that its player says it waited for media.
    var stalled: UInt32 = 0
    private var lowBytes: UInt32 = 0
    private var links: Links
    /// Median time between playlist fetches, in milliseconds; 0 until it is known.
    var poll: UInt16 = 0
    /// Open connections that present this id; more than one while a reconnect overtakes the end of the old connection.
    var connections: UInt8 {
        get { spacing & 15 }
        set { spacing = spacing & ~15 | min(newValue, 15) }
    }
    /// The number of connections, and above it the time between its last two playlists, in units of four seconds.
    private var spacing: UInt8 = 0
    /// Time between its playlists, in quarters of a second; stays at 63 seconds.
    private var pace: UInt8 = 0
    private var highBytes: UInt8 = 0
    var flags: Flags = []
    /// How often it changed its rendition; stays at 255.
    var switches: UInt8 = 0
    /// The phase, above it the place of the reason in the list of all, and above that three marks.
    private var state: UInt8

    /// A session that begins, NEW.
    init(id: SessionID, cell: Int32, at: Int64) {
        self.init(nonce: id.nonce, code: id.code, cell: cell, since: at, lastHit: at)
    }

    init(nonce: UInt64, code: UInt64, cell: Int32, since: Int64, lastHit: Int64) {
        self.nonce = (UInt32(truncatingIfNeeded: nonce), UInt16(truncatingIfNeeded: nonce >> 32))
        self.code = code
        links = Links(cell: cell)
        state = Phase.new.rawValue
        self.since = since
        self.lastHit = lastHit
        mark = Self.never
        start = since
    }

    /// NEW again, with nothing watched: what it watched until now is told of.
    mutating func renew() {
        phase = .new
        flags.remove([.isCredited, .isPaused])
        // It was proven to watch.
        flags.insert(.isTimed)
        (watched, stalled, switches, trail) = (0, 0, 0, 0)
    }

    /// Whether `id`, which has the same proof, is the session's own.
    func isNamed(by id: SessionID) -> Bool {
        UInt64(nonce.1) << 32 | UInt64(nonce.0) == id.nonce
    }

    /// Takes the name of `id`.
    mutating func takeName(of id: SessionID) {
        nonce = (UInt32(truncatingIfNeeded: id.nonce), UInt16(truncatingIfNeeded: id.nonce >> 32))
    }

    // MARK: State

    var phase: Phase {
        get { Phase(rawValue: state & 3) ?? .vacant }
        set { state = state & ~3 | newValue.rawValue }
    }

    /// Why it ended.
    var endReason: AudienceEvent.CloseReason {
        get { PerReason.allReasons[Int(state >> 2 & 7)] }
        set { state = state & ~0b1_1100 | UInt8(PerReason.place(of: newValue)) << 2 }
    }

    /// A server in front of us answered its latest request.
    var isElsewhere: Bool {
        get { state & 1 << 5 != 0 }
        set { state = newValue ? state | 1 << 5 : state & ~(1 << 5) }
    }

    /// A log tells of its requests, some time after they were.
    var isLogged: Bool {
        get { state & 1 << 7 != 0 }
        set { state = newValue ? state | 1 << 7 : state & ~(1 << 7) }
    }

    /// It is one of the shard's `requesters`.
    var isRequester: Bool {
        get { state & 1 << 6 != 0 }
        set { state = newValue ? state | 1 << 6 : state & ~(1 << 6) }
    }

    // MARK: Links

    /// Place of its cell in the shard's list.
    var cell: Int32 {
        get { links.cell }
        set { links.cell = newValue }
    }

    /// Place of its viewer in the shard's list; -1 for one that is known by this session alone.
    var viewer: Int32 {
        get { links.viewer }
        set { links.viewer = newValue }
    }

    /// The next session in the same slot of the timer wheel; -1 behind the last.
    var next: Int32 {
        get { links.next }
        set { links.next = newValue }
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

    /// First media of the watching that was proven; of a new session its first request.
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

    /// Bytes that it was sent; stays at 1 TiB.
    var bytes: Int64 { Int64(highBytes) << 32 | Int64(lowBytes) }

    private static let mostBytes: Int64 = 1 << 40 - 1

    /// Adds to what it was sent.
    mutating func noteBytes(_ count: Int) {
        let sum = min(bytes + min(max(0, Int64(count)), Self.mostBytes), Self.mostBytes)
        lowBytes = UInt32(truncatingIfNeeded: sum)
        highBytes = UInt8(truncatingIfNeeded: sum >> 32)
    }

    /// Adds to what it watched.
    mutating func noteWatched(_ milliseconds: Int64) {
        watched = UInt32(clamping: Int64(watched) + milliseconds)
    }

    /// Follows the median of the poll interval: a step towards each sample, whatever its distance, so that one long
    /// pause does not move it.
    ///
    /// - Parameter isNew: It is not proven to watch yet. A player that waits for each segment comes somewhere between two
    ///   of them, which cuts its first interval short: so the longest of the first ones is what it goes on from.
    mutating func notePoll(_ interval: Int64, limit: Int64, isNew: Bool = false) {
        guard interval > 0 else { return }
        let sample = min(interval, limit)
        guard poll > 0, !isNew else {
            poll = max(poll, UInt16(clamping: sample))
            return
        }
        let step = max(1, Int64(poll) / 8)
        let distance = sample - Int64(poll)
        poll = UInt16(clamping: Int64(poll) + min(max(distance, -step), step))
    }
}

extension ViewerSession {
    /// How far apart its playlists are, in milliseconds; 0 until that is known.
    var interval: Int64 { Int64(pace) * 250 }

    /// Follows the time between playlists: to the shorter of the last two when it grows, by half when it shrinks.
    ///
    /// A page in the background asks rarely, and goes on to; a pause comes once.
    ///
    /// - Parameter isNew: It is not proven to watch yet, so that it has not paused.
    mutating func noteInterval(_ interval: Int64, isNew: Bool = false) {
        guard interval > 0 else { return }
        let before = (Int64(spacing >> 4) + 1) * Self.spacingUnit
        let confirmed = isNew ? interval : min(interval, before)
        pace = max(UInt8(clamping: (confirmed + 249) / 250), pace / 2)
        spacing = spacing & 15 | UInt8(clamping: min(interval / Self.spacingUnit, 15)) << 4
    }

    private static let spacingUnit: Int64 = 4000
}

extension ViewerSession {
    /// Three places in lists in eight bytes; those of the viewer and of the next session may be none.
    private struct Links {
        /// Cells are told by twenty bits, sessions and viewers by 22, and all of them set say none.
        private static let cellBits: UInt64 = 1 << 20 - 1
        private static let placeBits: UInt64 = 1 << 22 - 1

        private var bits: UInt64

        init(cell: Int32) {
            bits = ~Self.cellBits | UInt64(cell)
        }

        var cell: Int32 {
            get { Int32(bits & Self.cellBits) }
            set { bits = bits & ~Self.cellBits | UInt64(newValue) & Self.cellBits }
        }

        var viewer: Int32 {
            get { place(at: 20) }
            set { set(newValue, at: 20) }
        }

        var next: Int32 {
            get { place(at: 42) }
            set { set(newValue, at: 42) }
        }

        private func place(at shift: UInt64) -> Int32 {
            let place = bits >> shift & Self.placeBits
            return place == Self.placeBits ? -1 : Int32(place)
        }

        private mutating func set(_ place: Int32, at shift: UInt64) {
            bits = bits & ~(Self.placeBits << shift) | (UInt64(truncatingIfNeeded: place) & Self.placeBits) << shift
        }
    }
}
