public import Stage

/// A broadcast of a room with its totals; times are milliseconds since 1970.
public struct BroadcastRow: Sendable, Equatable {
    /// The identifier of the broadcast; later broadcasts have higher numbers.
    public var epoch: Int64
    /// The room's unique name.
    public var room: String
    /// The room's sid; empty when unknown.
    public var roomSID: String
    /// The start of the broadcast.
    public var began: Int64
    /// The end of the broadcast; nil while it is in progress.
    public var ended: Int64?
    /// Time on air, in milliseconds.
    public var onAir: Int64
    /// The concurrent peak, provisional.
    public var peak: Int
    /// The time of the peak; nil before the first viewer.
    public var peakAt: Int64?
    /// Distinct viewers.
    public var uniques: UniqueViewers
    /// Qualified sessions whose players sent reports.
    public var reportingSessions: Int
    /// Session ids that were issued and never used.
    public var unusedIDs: Int
    /// Excluded sessions and requests, in the order of `ExclusionReason.allCases`.
    public var excluded: [Int]

    /// Creates a row.
    public init(
        epoch: Int64,
        room: String,
        roomSID: String = "",
        began: Int64,
        ended: Int64? = nil,
        onAir: Int64 = 0,
        peak: Int = 0,
        peakAt: Int64? = nil,
        uniques: UniqueViewers = .init(),
        reportingSessions: Int = 0,
        unusedIDs: Int = 0,
        excluded: [Int] = ExclusionReason.allCases.map { _ in 0 }
    ) {
        self.epoch = epoch
        self.room = room
        self.roomSID = roomSID
        self.began = began
        self.ended = ended
        self.onAir = onAir
        self.peak = peak
        self.peakAt = peakAt
        self.uniques = uniques
        self.reportingSessions = reportingSessions
        self.unusedIDs = unusedIDs
        self.excluded = excluded
    }
}

/// The counts of one cell of the dimensions in one minute of a broadcast, or in a part of that minute.
public struct MinuteRow: Sendable, Equatable {
    /// Identifies a minute of a cell.
    public struct Key: Sendable, Hashable {
        /// The room's unique name.
        public var room: String
        /// The epoch of the broadcast.
        public var epoch: Int64
        /// Minutes since 1970.
        public var minute: Int64
        /// The cell; nil for the whole room, whose live figures are exact to the event.
        public var dimensions: Dimensions?

        /// Creates a key.
        public init(room: String, epoch: Int64, minute: Int64, dimensions: Dimensions?) {
            self.room = room
            self.epoch = epoch
            self.minute = minute
            self.dimensions = dimensions
        }
    }

    /// The minute and cell.
    public var key: Key
    /// The counts; zero in the row of a whole room.
    public var counts: AudienceCounts
    /// The part of the watch time that was on air, in milliseconds; in the row of a whole room the time on air.
    public var aired: Int64
    /// The fewest concurrent viewers; of a cell sampled once a second.
    public var minimum: Int
    /// The most concurrent viewers.
    public var maximum: Int
    /// The latest number of concurrent viewers.
    public var last: Int

    /// Creates a row.
    public init(
        key: Key,
        counts: AudienceCounts = .zero,
        aired: Int64 = 0,
        minimum: Int = 0,
        maximum: Int = 0,
        last: Int = 0
    ) {
        self.key = key
        self.counts = counts
        self.aired = aired
        self.minimum = minimum
        self.maximum = maximum
        self.last = last
    }

    /// Adds a later part of the same minute.
    mutating func append(_ later: MinuteRow) {
        counts += later.counts
        aired += later.aired
        minimum = min(minimum, later.minimum)
        maximum = max(maximum, later.maximum)
        last = later.last
    }
}
