public import Stage

/// When a player starts and stops to count.
///
/// A viewer by connection (RTMP, HTTP-FLV) counts from the moment the fan-out reports that media flowed long enough,
/// until its connection closes. A viewer by requests (HLS) has no connection to watch, so its time-outs are set here.
public struct ViewershipConfiguration: Sendable, Equatable {
    /// How long an ended session may come back as the same session, without a new join; seconds.
    public var grace: Double
    /// The playlists' target duration in seconds; the time-outs of viewers by requests follow it.
    public var targetDuration: Double
    /// How far apart two playlist fetches must be to prove that somebody watches; seconds.
    public var qualifyingGap: Double
    /// For how long a player can go on from what it has in its buffer: as long as a playlist, and one segment; seconds.
    ///
    /// Who asks rarely counts that long after each request.
    public var longestBuffer: Double
    /// How far apart the first two playlists of a player that has fetched media may be; seconds.
    public var longestInterval: Double
    /// Viewers by requests that are remembered at once, over all rooms; further ones are refused and counted.
    public var sessionLimit: Int
    /// Sessions of one client, a `PeerAddress.account`, that are not proven to watch; further ones are refused, nil for none.
    public var unprovenPerClient: Int?
    /// Anonymous sessions of one client that count as viewers; further ones play and do not count, nil for none.
    public var viewersPerClient: Int?
    /// Players that are known by reports alone, under names that they made up, count without any media that was seen.
    ///
    /// Where a content network answers everything and tells nothing; anybody can make up such players.
    public var countsReportsAlone: Bool
    /// Rooms that are remembered at once.
    public var roomLimit: Int
    /// How long the figures of an ended room stay in `metrics()`; seconds.
    public var retention: Double
    /// Rooms that get a label of their own in `metrics()`, the fullest first; the rest are added up as `_other`.
    public var labelledRooms: Int
    /// Where viewers are taken to be of whom nobody knows it: the gateway's own country, ISO codes; empty for nowhere.
    public var region: String

    /// The values that the specification of the count names, unless given otherwise.
    public init(
        grace: Double = 30,
        targetDuration: Double = 2,
        qualifyingGap: Double = 2,
        longestBuffer: Double = 22,
        longestInterval: Double = 62,
        sessionLimit: Int = 1_000_000,
        unprovenPerClient: Int? = nil,
        viewersPerClient: Int? = nil,
        countsReportsAlone: Bool = false,
        roomLimit: Int = 10_000,
        retention: Double = 300,
        labelledRooms: Int = 500,
        region: String = ""
    ) {
        self.grace = grace
        self.targetDuration = targetDuration
        self.qualifyingGap = qualifyingGap
        self.longestBuffer = longestBuffer
        self.longestInterval = longestInterval
        self.sessionLimit = sessionLimit
        self.unprovenPerClient = unprovenPerClient
        self.viewersPerClient = viewersPerClient
        self.countsReportsAlone = countsReportsAlone
        self.roomLimit = roomLimit
        self.retention = retention
        self.labelledRooms = labelledRooms
        self.region = region
    }

    /// How long after its last request a viewer still counts; seconds.
    ///
    /// Longer for one that asks rarely. Connections have no such time: they close.
    public func timeout(of playback: PlaybackProtocol) -> Double {
        playback == .llhls ? max(10, 3 * targetDuration) : min(max(3 * targetDuration, 12), 30)
    }
}
