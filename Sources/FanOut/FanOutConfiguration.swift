public import HLS
public import NIOCore

/// Configures how programs are distributed to viewers.
public struct FanOutConfiguration: Sendable {
    /// The minimum time between two writes to a viewer; a longer tick costs less per viewer and adds as much delay.
    ///
    /// With the default, two frames of a 30 fps program leave together: half the writes, at most one frame of delay.
    /// With any tick the kernel may also coalesce small writes, see `MediaWriter.setNagleEnabled`; with none it never
    /// does.
    public var tick: TimeAmount
    /// The number of viewers of a feed up to which each frame is sent at once instead of at `tick`.
    public var smallAudienceLimit: Int
    /// The limits of a GOP cache; a GOP that exceeds either is not cached.
    public var gopLimit: (milliseconds: Int64, bytes: Int)
    /// The limit for all GOP caches, in bytes, counting every copy; above it the longest GOPs are not cached.
    public var cacheLimit: Int
    /// A viewer whose socket blocks for this long, or that has more bytes queued, skips to the next keyframe.
    public var slowViewerLimit: (time: TimeAmount, bytes: Int)
    /// A viewer whose socket accepts nothing, or almost nothing, for this long is closed.
    public var deadViewerTime: TimeAmount
    /// The limits for bytes queued for slow viewers: of one feed, and of all feeds.
    ///
    /// Above a limit, blocked viewers skip at once and are closed after the time limit of `slowViewerLimit`.
    public var queueLimit: (feed: Int, total: Int)
    /// The media time after which a viewer counts.
    public var qualifyingTime: TimeAmount
    /// The maximum number of concurrent viewers, including the HLS viewers served by this process; others are refused.
    public var maximumViewers: Int
    /// Whether media is written to the viewers' sockets directly, see `DirectSocket`; otherwise through their channels.
    public var writesDirectly: Bool
    /// The HLS segmenter and playlist settings.
    public var hls: HLSConfiguration

    /// The tick of a feed with few viewers: at 30 fps no frame waits, and audio leaves with a video frame.
    static let smallAudienceTick = TimeAmount.milliseconds(33)

    /// Creates a configuration from its parts.
    public init(
        tick: TimeAmount = .milliseconds(66),
        smallAudienceLimit: Int = 100,
        gopLimit: (milliseconds: Int64, bytes: Int) = (8_000, 8 << 20),
        cacheLimit: Int = 512 << 20,
        slowViewerLimit: (time: TimeAmount, bytes: Int) = (.seconds(5), 4 << 20),
        deadViewerTime: TimeAmount = .seconds(10),
        queueLimit: (feed: Int, total: Int) = (512 << 20, 2 << 30),
        qualifyingTime: TimeAmount = .seconds(5),
        maximumViewers: Int = 20_000,
        writesDirectly: Bool = true,
        hls: HLSConfiguration = HLSConfiguration()
    ) {
        self.tick = tick
        self.smallAudienceLimit = smallAudienceLimit
        self.gopLimit = gopLimit
        self.cacheLimit = cacheLimit
        self.slowViewerLimit = slowViewerLimit
        self.deadViewerTime = deadViewerTime
        self.queueLimit = queueLimit
        self.qualifyingTime = qualifyingTime
        self.maximumViewers = maximumViewers
        self.writesDirectly = writesDirectly
        self.hls = hls
    }
}
