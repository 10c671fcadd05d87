import Stage

/// The state of one viewer session in a shard, in 64 bytes: one cache line.
///
/// Times are milliseconds of the monotonic clock in five bytes: 17 years on either side of zero. A session is NEW until
/// it qualifies, LIVE while it counts, ENDED while it may still resume, then removed.
struct ViewerSession {
    enum Phase: UInt8 {
        /// The index is free, or is freed when its timer fires.
        case vacant
        case new
        case live
        /// Left or timed out; the same id within the grace time resumes the session without a new join.
        case ended
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// The timer wheel has an entry for the session.
        static let isScheduled = Flags(rawValue: 1)
        /// A join was counted whose leave is not counted yet.
        static let hasJoined = Flags(rawValue: 2)
        /// The session plays but never counts.
        static let isExcluded = Flags(rawValue: 4)
        /// The player reports that it is paused: it counts, but its time is not watch time.
        static let isPaused = Flags(rawValue: 8)
        /// The session was restored, and its id has not been presented yet.
        static let isRecovered = Flags(rawValue: 16)
        /// Only the player's reports are seen, as behind a CDN.
        static let isRemote = Flags(rawValue: 32)
        /// The player has sent a report.
        static let hasReported = Flags(rawValue: 64)
        /// The startup time was counted, or never will be.
        static let isTimed = Flags(rawValue: 128)
    }

    /// The earliest time that five bytes can hold, for times that are not set.
    static let never: Int64 = -(1 << 39)

    /// The authentication code of the id, the key of the session: random, and no id can be derived from it.
    var code: UInt64
    /// The nonce of the id; unknown of a restored session until its id is presented.
    private var nonce: (UInt32, UInt16)
    /// The played renditions, as a number of `RenditionHistories`.
    var renditionHistory: UInt16 = 0
    /// The lower four bytes of the times, and their highest bytes.
    private var low: (since: UInt32, lastHit: UInt32, mark: UInt32, start: UInt32) = (0, 0, 0, 0)
    private var high: (since: UInt8, lastHit: UInt8, mark: UInt8, start: UInt8) = (0, 0, 0, 0)
    /// Watch time in milliseconds, without the current run of a connection.
    var watched: UInt32 = 0
    /// Rebuffering time, in milliseconds.
    var stalled: UInt32 = 0
    private var lowBytes: UInt32 = 0
    private var links: Links
    /// The median playlist interval in milliseconds; 0 until known.
    var poll: UInt16 = 0
    /// Open connections with this id; more than one while a reconnect overtakes the close of the old connection.
    var connections: UInt8 {
        get { spacing & 15 }
        set { spacing = spacing & ~15 | min(newValue, 15) }
    }
    /// The number of connections, and above it the last playlist interval in units of four seconds.
    private var spacing: UInt8 = 0
    /// The playlist interval in quarters of a second, saturated.
    private var pace: UInt8 = 0
    private var highBytes: UInt8 = 0
    var flags: Flags = []
    /// The number of rendition switches, saturated at 255.
    var switches: UInt8 = 0
    /// The phase, the close reason and three flags.
    private var state: UInt8

    /// Creates a session in phase NEW.
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

    /// Returns to phase NEW with no watch time; the earlier time was reported.
    mutating func renew() {
        phase = .new
        flags.remove([.hasJoined, .isPaused])
        // The session qualified before.
        flags.insert(.isTimed)
        (watched, stalled, switches, renditionHistory) = (0, 0, 0, 0)
    }

    /// Whether `id`, which has the same code, is the session's own.
    func matches(by id: SessionID) -> Bool {
        UInt64(nonce.1) << 32 | UInt64(nonce.0) == id.nonce
    }

    /// Adopts the nonce of `id`.
    mutating func adoptID(of id: SessionID) {
        nonce = (UInt32(truncatingIfNeeded: id.nonce), UInt16(truncatingIfNeeded: id.nonce >> 32))
    }

    // MARK: State

    var phase: Phase {
        get { Phase(rawValue: state & 3) ?? .vacant }
        set { state = state & ~3 | newValue.rawValue }
    }

    /// The reason of the end.
    var endReason: AudienceEvent.CloseReason {
        get { CloseReasonCounters.allReasons[Int(state >> 2 & 7)] }
        set { state = state & ~0b1_1100 | UInt8(CloseReasonCounters.index(of: newValue)) << 2 }
    }

    /// Whether a server in front answered the latest request.
    var isServedElsewhere: Bool {
        get { state & 1 << 5 != 0 }
        set { state = newValue ? state | 1 << 5 : state & ~(1 << 5) }
    }

    /// Whether the session is known by a log, some time after its requests.
    var isLogged: Bool {
        get { state & 1 << 7 != 0 }
        set { state = newValue ? state | 1 << 7 : state & ~(1 << 7) }
    }

    /// Whether the session is one of the shard's local HLS viewers.
    var isRequester: Bool {
        get { state & 1 << 6 != 0 }
        set { state = newValue ? state | 1 << 6 : state & ~(1 << 6) }
    }

    // MARK: Links

    /// The index of the cell.
    var cell: Int32 {
        get { links.cell }
        set { links.cell = newValue }
    }

    /// The index of the viewer; -1 when only the session is known.
    var viewer: Int32 {
        get { links.viewer }
        set { links.viewer = newValue }
    }

    /// The next session in the same slot of the timer wheel; -1 at the end.
    var next: Int32 {
        get { links.next }
        set { links.next = newValue }
    }

    // MARK: Times

    /// The start of the current phase.
    ///
    /// NEW: the first playlist. LIVE by connection: the start of the present run. ENDED: when it ended.
    var since: Int64 {
        get { Self.moment(low.since, high.since) }
        set { Self.store(newValue, &low.since, &high.since) }
    }

    /// The last request or report of an HLS viewer.
    var lastHit: Int64 {
        get { Self.moment(low.lastHit, high.lastHit) }
        set { Self.store(newValue, &low.lastHit, &high.lastHit) }
    }

    /// A time whose meaning depends on the phase.
    ///
    /// NEW and LIVE: the last playlist. ENDED: the end of watching.
    var mark: Int64 {
        get { Self.moment(low.mark, high.mark) }
        set { Self.store(newValue, &low.mark, &high.mark) }
    }

    /// The first media of the qualified playback; of a new session its first request.
    var start: Int64 {
        get { Self.moment(low.start, high.start) }
        set { Self.store(newValue, &low.start, &high.start) }
    }

    private static func moment(_ low: UInt32, _ high: UInt8) -> Int64 {
        // Times before zero are below the middle of the range.
        (Int64(high) << 32 | Int64(low)) + never
    }

    private static func store(_ moment: Int64, _ low: inout UInt32, _ high: inout UInt8) {
        let bits = min(max(moment, never), -never - 1) - never
        low = UInt32(truncatingIfNeeded: bits)
        high = UInt8(truncatingIfNeeded: bits >> 32)
    }

    // MARK: Figures

    /// Bytes sent, saturated at 1 TiB.
    var bytes: Int64 { Int64(highBytes) << 32 | Int64(lowBytes) }

    private static let maximumBytes: Int64 = 1 << 40 - 1

    /// Adds sent bytes.
    mutating func addBytes(_ count: Int) {
        let sum = min(bytes + min(max(0, Int64(count)), Self.maximumBytes), Self.maximumBytes)
        lowBytes = UInt32(truncatingIfNeeded: sum)
        highBytes = UInt8(truncatingIfNeeded: sum >> 32)
    }

    /// Adds watch time.
    mutating func addWatchTime(_ milliseconds: Int64) {
        watched = UInt32(clamping: Int64(watched) + milliseconds)
    }

    /// Updates the median of the polling interval: one step towards each sample, whatever its distance, so that one
    /// long pause does not move it.
    ///
    /// - Parameter isNew: Whether the session has not qualified. A player that waits for each segment starts between
    ///   two of them, which shortens its first interval, so the longest of the first ones is the initial value.
    mutating func addPollSample(_ interval: Int64, limit: Int64, isNew: Bool = false) {
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
    /// The playlist interval in milliseconds; 0 until known.
    var interval: Int64 { Int64(pace) * 250 }

    /// Updates the playlist interval: grows to the shorter of the last two, and shrinks by at most half.
    ///
    /// A page in the background polls rarely for long; a pause occurs once.
    ///
    /// - Parameter isNew: Whether the session has not qualified, so that it has not paused.
    mutating func addPlaylistInterval(_ interval: Int64, isNew: Bool = false) {
        guard interval > 0 else { return }
        let before = (Int64(spacing >> 4) + 1) * Self.spacingUnit
        let confirmed = isNew ? interval : min(interval, before)
        pace = max(UInt8(clamping: (confirmed + 249) / 250), pace / 2)
        spacing = spacing & 15 | UInt8(clamping: min(interval / Self.spacingUnit, 15)) << 4
    }

    private static let spacingUnit: Int64 = 4000
}

extension ViewerSession {
    /// Three indices in eight bytes; those of the viewer and of the next session may be absent.
    private struct Links {
        /// Cells have 20 bits, sessions and viewers 22; all bits set mean none.
        private static let cellBits: UInt64 = 1 << 20 - 1
        private static let indexBits: UInt64 = 1 << 22 - 1

        private var bits: UInt64

        init(cell: Int32) {
            bits = ~Self.cellBits | UInt64(cell)
        }

        var cell: Int32 {
            get { Int32(bits & Self.cellBits) }
            set { bits = bits & ~Self.cellBits | UInt64(newValue) & Self.cellBits }
        }

        var viewer: Int32 {
            get { index(at: 20) }
            set { set(newValue, at: 20) }
        }

        var next: Int32 {
            get { index(at: 42) }
            set { set(newValue, at: 42) }
        }

        private func index(at shift: UInt64) -> Int32 {
            let index = bits >> shift & Self.indexBits
            return index == Self.indexBits ? -1 : Int32(index)
        }

        private mutating func set(_ index: Int32, at shift: UInt64) {
            bits = bits & ~(Self.indexBits << shift) | (UInt64(truncatingIfNeeded: index) & Self.indexBits) << shift
        }
    }
}
