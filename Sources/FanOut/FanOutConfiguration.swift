public import HLS
public import NIOCore

/// How the program is handed to the audience.
public struct FanOutConfiguration: Sendable {
    /// Least time between two writes to a viewer; longer makes crowds cheaper and everything that much later.
    ///
    /// By default two pictures of a program with 30 a second leave together: half the writes, at most a picture later.
    /// With any tick the system may gather small writes as well, see `MediaWriter.gather`; with none it never does.
    public var tick: TimeAmount
    /// Viewers of a feed up to whom there is no crowd that `tick` would make cheaper: each picture leaves at once.
    public var promptAudience: Int
    /// Most media kept for joiners; a group of pictures longer than either is not cached.
    public var groupLimit: (milliseconds: Int64, bytes: Int)
    /// Bytes of all rooms' media kept for joiners, every copy counted; beyond it the longest groups are not cached.
    public var cacheLimit: Int
    /// A viewer that takes nothing for this long, or for whom more waits, is skipped to the next key picture.
    public var slowViewerLimit: (time: TimeAmount, bytes: Int)
    /// A viewer that takes nothing for this long, or next to nothing, is closed.
    public var deadViewerTime: TimeAmount
    /// Bytes that may wait for the slow viewers of one feed, and of all.
    ///
    /// Beyond it those that take nothing are skipped at once, and closed when they would have been skipped.
    public var queueLimit: (feed: Int, total: Int)
    /// Media that must have flowed before a viewer counts.
    public var qualifyingTime: TimeAmount
    /// Most viewers at a time, those by HLS who are served here among them; more are refused.
    public var maximumViewers: Int
    /// How segments are cut and kept.
    public var hls: HLSConfiguration

    /// The tick of a feed whose audience is small: of 30 pictures a second none waits, and sound leaves with a picture.
    static let promptTick = TimeAmount.milliseconds(33)

    /// Makes one from its parts.
    public init(
        tick: TimeAmount = .milliseconds(66),
        promptAudience: Int = 100,
        groupLimit: (milliseconds: Int64, bytes: Int) = (8_000, 8 << 20),
        cacheLimit: Int = 512 << 20,
        slowViewerLimit: (time: TimeAmount, bytes: Int) = (.seconds(5), 4 << 20),
        deadViewerTime: TimeAmount = .seconds(10),
        queueLimit: (feed: Int, total: Int) = (512 << 20, 2 << 30),
        qualifyingTime: TimeAmount = .seconds(5),
        maximumViewers: Int = 20_000,
        hls: HLSConfiguration = HLSConfiguration()
    ) {
        self.tick = tick
        self.promptAudience = promptAudience
        self.groupLimit = groupLimit
        self.cacheLimit = cacheLimit
        self.slowViewerLimit = slowViewerLimit
        self.deadViewerTime = deadViewerTime
        self.queueLimit = queueLimit
        self.qualifyingTime = qualifyingTime
        self.maximumViewers = maximumViewers
        self.hls = hls
    }
}
