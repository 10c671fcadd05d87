public import HLS
public import NIOCore

/// How the program is handed to the audience.
public struct FanOutConfiguration: Sendable {
    /// Least time between two writes to a viewer; longer makes crowds cheaper and everything that much later.
    ///
    /// With any tick the system may gather small writes as well, see `MediaWriter.gather`; with none it never does.
    public var tick: TimeAmount
    /// Most media kept for joiners; a group of pictures longer than either is not cached.
    public var groupLimit: (milliseconds: Int64, bytes: Int)
    /// A viewer that takes nothing for this long is skipped to the next key picture.
    public var slowViewerLimit: (time: TimeAmount, bytes: Int)
    /// A viewer that takes nothing for this long is closed.
    public var deadViewerTime: TimeAmount
    /// Media that must have flowed before a viewer counts.
    public var qualifyingTime: TimeAmount
    /// Connections the media listeners hold at most; more are refused.
    public var maximumViewers: Int
    /// How segments are cut and kept.
    public var hls: HLSConfiguration

    /// Makes one from its parts.
    public init(
        tick: TimeAmount = .milliseconds(33),
        groupLimit: (milliseconds: Int64, bytes: Int) = (8_000, 8 << 20),
        slowViewerLimit: (time: TimeAmount, bytes: Int) = (.seconds(5), 4 << 20),
        deadViewerTime: TimeAmount = .seconds(15),
        qualifyingTime: TimeAmount = .seconds(5),
        maximumViewers: Int = 20_000,
        hls: HLSConfiguration = HLSConfiguration()
    ) {
        self.tick = tick
        self.groupLimit = groupLimit
        self.slowViewerLimit = slowViewerLimit
        self.deadViewerTime = deadViewerTime
        self.qualifyingTime = qualifyingTime
        self.maximumViewers = maximumViewers
        self.hls = hls
    }
}
