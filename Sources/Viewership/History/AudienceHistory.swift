public import Stage

/// Reads the settled history: what was counted, by minute and by session.
public protocol AudienceHistory: Sendable {
    /// Returns the broadcasts of a room by name or sid, the latest first.
    func broadcasts(room: String, limit: Int) async throws -> [BroadcastRow]
    /// Returns the minutes from `from` to before `to`, summed over all broadcasts in steps, in order.
    ///
    /// One row for each step and group, whose other dimensions are arbitrary, and one for the whole. With a grouping,
    /// `maximum` in the row of a group is the concurrent peak of that group.
    ///
    /// - Parameters:
    ///   - room: The room; nil for all rooms together.
    ///   - sid: The sid of the one room of that name whose broadcasts count; nil for all of them.
    ///   - from: The start of the first step, in minutes since 1970.
    ///   - step: The length of a step, in minutes.
    ///   - limit: The maximum number of rows.
    func minutes(
        room: String?,
        sid: String?,
        from: Int64,
        to: Int64,
        step: Int64,
        grouping: ViewershipGrouping?,
        limit: Int
    ) async throws -> [MinuteRow]
    /// Returns the time on air of any program from minute `from` to before `to`, and the concurrent peak over all
    /// rooms.
    func air(from: Int64, to: Int64) async throws -> PeriodFigures.Air
    /// Returns the sums over all minutes of a scope: one row per cell of the dimensions.
    func sums(of scope: ReportScope) async throws -> [MinuteRow]
    /// Returns what `sums` cannot give: peaks per group, and distinct viewers per group and of the whole (key nil).
    func groups(of scope: ReportScope) async throws -> [ViewerGroup?: GroupFigures]
    /// Returns sessions of a broadcast, ordered by their start.
    ///
    /// - Parameter after: Continues after this start and code.
    func sessions(epoch: Int64, after: (start: Int64, code: UInt64)?, limit: Int) async throws -> [SessionRow]
    /// Returns the interruptions of a broadcast's sessions, in order.
    ///
    /// - Parameters:
    ///   - first: The first session, in the order of `sessions`.
    ///   - last: The last session.
    ///   - limit: The maximum number of rows.
    func gaps(epoch: Int64, from first: SessionRow, through last: SessionRow, limit: Int) async throws -> [GapRow]
    /// Returns the settled peaks of the whole (key nil) and of each group.
    ///
    /// Empty while a broadcast of the scope is in progress, with too many sessions, or after their expiry; the peak of
    /// a whole broadcast is retained.
    func settledPeaks(of scope: ReportScope) async throws -> [ViewerGroup?: SettledPeak]
    /// Returns how long the playbacks of a broadcast lasted; nil if that is not known.
    ///
    /// Once the single sessions are deleted, in steps of 10 seconds, of more for a broadcast of more than 12 hours.
    ///
    /// - Parameters:
    ///   - end: The end of the broadcast, in milliseconds since 1970; of one in progress the present.
    ///   - step: The length of a step, in milliseconds.
    func retention(of broadcast: BroadcastRow, until end: Int64, step: Int64) async throws -> AudienceRetention?
}

/// The state that an earlier run left in the history.
public struct RecoveredAudience: Sendable {
    /// A distinct viewer of a broadcast.
    public struct Viewer: Sendable, Hashable {
        /// The epoch of the broadcast.
        public var epoch: Int64
        /// The authentication code of the session's id.
        public var session: UInt64
        /// A hash of the viewer; nil when only the session is known.
        public var viewer: UInt64?
        /// Whether a token identifies the viewer.
        public var isUser: Bool
        /// The estimated viewer, as a hash; nil when unknown.
        public var estimate: UInt64?

        /// Creates a viewer.
        public init(epoch: Int64, session: UInt64, viewer: UInt64?, isUser: Bool, estimate: UInt64? = nil) {
            self.epoch = epoch
            self.session = session
            self.viewer = viewer
            self.isUser = isUser
            self.estimate = estimate
        }
    }

    /// When that run was last known to live, in milliseconds since 1970; nil without an earlier run.
    public var lastSeen: Int64?
    /// The time until which that run lived by its session step log; nil without a log.
    public var livedUntil: Int64?
    /// The latest session steps, in order; they overlap the session rows.
    public var steps: [SessionStep] = []
    /// The broadcasts in progress.
    public var broadcasts: [BroadcastRow]
    /// The counts of those broadcasts, one row per cell of the dimensions; `minute` and the live figures are
    /// meaningless.
    public var totals: [MinuteRow]
    /// The sessions of those broadcasts that are open or may still return.
    public var sessions: [SessionRow]
    /// The last requests of HLS viewers, by shard.
    public var lastHits: [UInt8: LastHits] = [:]
    /// All distinct viewers of those broadcasts.
    public var viewers: [Viewer]
    /// The concurrent peak over all rooms since the first of those broadcasts began; nil without any viewer.
    public var totalPeak: (viewers: Int, at: Int64)?

    /// The counters that belong to no room.
    public var counters = RunCounters()

    /// The lag of CDN logs, in milliseconds.
    public var logLag: Int64 { min(max(counters.logLag ?? 0, 0), RunCounters.maximumLag) }

    /// Creates a state; empty by default.
    public init(
        lastSeen: Int64? = nil,
        broadcasts: [BroadcastRow] = [],
        totals: [MinuteRow] = [],
        sessions: [SessionRow] = [],
        viewers: [Viewer] = []
    ) {
        self.lastSeen = lastSeen
        self.broadcasts = broadcasts
        self.totals = totals
        self.sessions = sessions
        self.viewers = viewers
    }
}
