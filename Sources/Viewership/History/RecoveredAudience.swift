/// What an earlier run left in the history.
public struct RecoveredAudience: Sendable {
    /// Who watched a broadcast.
    public struct Viewer: Sendable, Hashable {
        /// The broadcast.
        public var epoch: Int64
        /// The proof in the session's id.
        public var session: UInt64
        /// A hash of whom; nil for nobody known beyond the session.
        public var viewer: UInt64?
        /// The viewer is known by a token.
        public var isUser: Bool
        /// Who it may be; nil where nobody knows.
        public var estimate: UInt64?

        /// One of the distinct viewers.
        public init(epoch: Int64, session: UInt64, viewer: UInt64?, isUser: Bool, estimate: UInt64? = nil) {
            self.epoch = epoch
            self.session = session
            self.viewer = viewer
            self.isUser = isUser
            self.estimate = estimate
        }
    }

    /// When that run was last known to live, milliseconds since 1970; nil where there was none.
    public var lastSeen: Int64?
    /// Until when that run is known to have lived, by the log of its sessions' steps; nil where there is none.
    public var livedUntil: Int64?
    /// The latest steps of sessions, in order; rows tell of the older ones of them too.
    public var steps: [SessionStep] = []
    /// Broadcasts that had not ended.
    public var broadcasts: [BroadcastRow]
    /// Their counts so far, a row for each place in the dimensions; minute and live figures mean nothing.
    public var totals: [MinuteRow]
    /// Their sessions that may still come back, or whose end is not known.
    public var sessions: [SessionRow]
    /// When those of them who watched by requests were last heard of, by shard.
    public var lastHits: [UInt8: LastHits] = [:]
    /// Everybody who was in them.
    public var viewers: [Viewer]
    /// The most over all rooms at once since the first of them began, and when; nil where nobody was.
    public var totalPeak: (viewers: Int, at: Int64)?

    /// What was counted of no room.
    public var counters = RunCounters()

    /// By how much what logs told came later than it happened; milliseconds.
    public var logLag: Int64 { min(max(counters.logLag ?? 0, 0), RunCounters.mostLag) }

    /// Nothing, unless given otherwise.
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
