public import Stage

/// Configures when viewers start and stop to count, and the limits of the count.
///
/// A connection viewer (RTMP, HTTP-FLV) counts from qualification, which the fan-out reports, until its connection
/// closes. An HLS viewer has no connection, so its timeouts are set here.
public struct ViewershipConfiguration: Sendable, Equatable {
    /// How long an ended session may resume without a new join, in seconds.
    public var grace: Double
    /// The target duration of the playlists in seconds; the timeouts of HLS viewers derive from it.
    public var targetDuration: Double
    /// The minimum distance of two playlist requests that qualify a session, in seconds.
    public var qualifyingGap: Double
    /// The maximum playing time from a player's buffer, in seconds: the length of a playlist and one segment.
    ///
    /// A player that polls rarely counts that long after each request.
    public var longestBuffer: Double
    /// The maximum distance of the first two playlist requests of a player that has received media, in seconds.
    public var longestInterval: Double
    /// The maximum number of HLS viewers over all rooms; further ones are refused and counted.
    public var sessionLimit: Int
    /// The maximum number of unqualified sessions per client, a `PeerAddress.account`; nil for no limit.
    public var unprovenPerClient: Int?
    /// The maximum number of anonymous viewers per client; further ones play without counting, nil for no limit.
    public var viewersPerClient: Int?
    /// Whether players with reports only and unsigned names count without media.
    ///
    /// For a CDN that forwards neither requests nor logs; such players can be forged.
    public var countsReportsAlone: Bool
    /// The maximum number of rooms.
    public var roomLimit: Int
    /// Retention of the figures of an ended room in `metrics()`, in seconds.
    public var retention: Double
    /// The number of rooms with their own label in `metrics()`, by audience; the rest is summed as `_other`.
    public var labelledRooms: Int
    /// The default region of viewers, as ISO codes; empty for none.
    public var region: String

    /// Creates a configuration with the specified defaults.
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

    /// Returns how long a viewer counts after its last request, in seconds.
    ///
    /// Players that poll rarely have a longer timeout; connections have none.
    public func timeout(of playback: PlaybackProtocol) -> Double {
        playback == .llhls ? max(10, 3 * targetDuration) : min(max(3 * targetDuration, 12), 30)
    }
}
