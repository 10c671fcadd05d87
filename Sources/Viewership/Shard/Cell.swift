public import Stage

/// The counts of one cell of the dimensions.
///
/// Every session is in exactly one cell, so that all groupings have the same sum. Counters continue from one broadcast
/// of the room to the next; `baseline` is the start of the current one.
struct Cell: Sendable {
    struct Key: Hashable, Sendable {
        /// The index of the room in the shard; -1 for a free cell.
        var room: Int32
        var playback: PlaybackProtocol
        /// Numbers of the shard's `StringInterner`.
        var rendition: UInt16 = 0
        var region: UInt16 = 0
        var client: ClientClass = .unknown
    }

    var key: Key
    /// Concurrent viewers.
    var live = 0
    /// Watch time includes ended connections, and HLS viewers up to their last request.
    var counts = AudienceCounts.zero
    /// The sum of the start times of live connections.
    var runStarts: Int64 = 0
    var baseline = AudienceCounts.zero

    init(key: Key) {
        self.key = key
    }

    /// Returns the counts until `now`: watch time of connections is exact, of HLS viewers up to their last request.
    func counts(at now: Int64) -> AudienceCounts {
        var counts = counts
        if key.playback.isContinuous { counts.watched += max(0, Int64(live) * now - runStarts) }
        return counts
    }
}

extension PlaybackProtocol {
    /// Whether viewers are observed continuously; the others are seen by their requests only.
    var isContinuous: Bool { isConnection || self == .sdk }
}

/// The dimensions of viewers within a room.
public struct Dimensions: Sendable, Hashable {
    /// The protocol.
    public var playback: PlaybackProtocol
    /// The rendition; empty for the source.
    public var rendition: String
    /// The region, as ISO codes; empty when unknown.
    public var region: String
    /// The class of player.
    public var client: ClientClass

    /// Creates a cell of the dimensions.
    public init(
        playback: PlaybackProtocol,
        rendition: String = "",
        region: String = "",
        client: ClientClass = .unknown
    ) {
        self.playback = playback
        self.rendition = rendition
        self.region = region
        self.client = client
    }
}

/// The counters of a room in one shard, besides its cells.
struct RoomCounters: Sendable {
    /// The monotonic counters.
    struct Counts: AdditiveCounters {
        static let zero = Counts()

        /// Excluded sessions, and requests without one.
        var excluded = ExclusionCounters.zero
        /// Qualified sessions whose players sent reports.
        var reportingSessions = 0
        /// Ids that were issued and never used: the user left, or the player uses another server and sends no reports.
        var unusedIDs = 0

        mutating func add(_ other: Counts, times factor: Int) {
            excluded.add(other.excluded, times: factor)
            reportingSessions += factor * other.reportingSessions
            unusedIDs += factor * other.unusedIDs
        }
    }

    /// Sessions of any phase, and viewers known beyond them.
    var occupants = 0
    /// Ended sessions that may resume, whose leave is not counted yet.
    var resumable = 0
    /// Live player sessions of present participants that watch.
    var attributed = 0
    /// Live sessions of viewers beyond their first.
    var surplus = 0
    /// Sessions that have not qualified, or never will.
    var unproven = 0
    var counts = Counts.zero
    var baseline = Counts.zero

    static func += (left: inout RoomCounters, right: RoomCounters) {
        left.occupants += right.occupants
        left.resumable += right.resumable
        left.attributed += right.attributed
        left.surplus += right.surplus
        left.unproven += right.unproven
        left.counts += right.counts
        left.baseline += right.baseline
    }
}
