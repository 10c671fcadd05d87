/// What was counted in one place of the dimensions in one minute of a broadcast, or in a part of that minute.
public struct MinuteRow: Sendable, Equatable {
    /// Which minute of what.
    public struct Key: Sendable, Hashable {
        /// The room's unique name.
        public var room: String
        /// The broadcast.
        public var epoch: Int64
        /// Minutes since 1970.
        public var minute: Int64
        /// Nil for the room as a whole, whose live figures are exact to the event.
        public var dimensions: Dimensions?

        /// Names a minute.
        public init(room: String, epoch: Int64, minute: Int64, dimensions: Dimensions?) {
            self.room = room
            self.epoch = epoch
            self.minute = minute
            self.dimensions = dimensions
        }
    }

    /// Which minute of what.
    public var key: Key
    /// Milliseconds watched; 0 in the row of the whole room.
    public var watched: Int64
    /// Milliseconds of `watched` while the program was on the air; in the row of the whole room, how long it was.
    public var aired: Int64
    /// Sessions that were proven to watch.
    public var joins: Int
    /// By reason, in the order of `AudienceEvent.CloseReason.allCases`.
    public var leaves: [Int]
    /// Changes of rendition or protocol.
    public var switches: Int
    /// Milliseconds that players waited for media.
    public var stalled: Int64
    /// Milliseconds from wish to picture, of those of whom it is known.
    public var startup: Int64
    /// How many `startup` is of.
    public var startups: Int
    /// Fewest, most and last viewers at once; of a place in the dimensions as seen once a second.
    public var minimum: Int
    /// The most at once.
    public var maximum: Int
    /// The latest number.
    public var last: Int

    /// A row.
    public init(
        key: Key,
        watched: Int64 = 0,
        aired: Int64 = 0,
        joins: Int = 0,
        leaves: [Int] = [0, 0, 0, 0, 0],
        switches: Int = 0,
        stalled: Int64 = 0,
        startup: Int64 = 0,
        startups: Int = 0,
        minimum: Int = 0,
        maximum: Int = 0,
        last: Int = 0
    ) {
        self.key = key
        self.watched = watched
        self.aired = aired
        self.joins = joins
        self.leaves = leaves
        self.switches = switches
        self.stalled = stalled
        self.startup = startup
        self.startups = startups
        self.minimum = minimum
        self.maximum = maximum
        self.last = last
    }

    /// Takes a later part of the same minute in.
    mutating func append(_ later: MinuteRow) {
        watched += later.watched
        aired += later.aired
        joins += later.joins
        for place in leaves.indices { leaves[place] += later.leaves[place] }
        switches += later.switches
        stalled += later.stalled
        startup += later.startup
        startups += later.startups
        minimum = min(minimum, later.minimum)
        maximum = max(maximum, later.maximum)
        last = later.last
    }
}
