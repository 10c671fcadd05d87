/// The segmentation parameters of a program for HLS, and its retention.
public struct HLSConfiguration: Sendable, Equatable {
    /// The segment duration in seconds; a segment ends at the first keyframe at or near it.
    ///
    /// It should be a multiple of the program's keyframe interval; otherwise segments vary in length or begin without a
    /// keyframe.
    public var segmentDuration: Double
    /// The maximum part duration in seconds; a part contains whole frames.
    ///
    /// Players stay three parts behind the live edge, so it determines their latency and request rate.
    public var partDuration: Double
    /// The number of listed segments; more if they are shorter than three target durations in total (RFC 8216bis
    /// 6.2.2).
    public var windowLength: Int
    /// The number of segments that remain available after they left the playlist.
    public var graceLength: Int
    /// The maximum bytes of stored media, listed or not; beyond it, the oldest segments are evicted early.
    public var maximumBytes: Int

    /// Creates a configuration; values are clamped to their valid ranges.
    ///
    /// - Parameter graceLength: By default, enough for a segment to stay available for its own duration plus that of
    ///   the playlists that listed it (RFC 8216bis 6.2.2).
    public init(
        segmentDuration: Double = 2,
        partDuration: Double = 0.2,
        windowLength: Int = 10,
        graceLength: Int? = nil,
        maximumBytes: Int = 96 << 20
    ) {
        self.segmentDuration = min(max(segmentDuration, 0.5), 30)
        self.partDuration = min(max(partDuration, 0.1), self.segmentDuration)
        self.windowLength = max(windowLength, 3)
        self.graceLength = max(graceLength ?? self.windowLength + 1, 0)
        self.maximumBytes = max(maximumBytes, 1 << 20)
    }

    /// EXT-X-TARGETDURATION in seconds: constant; no segment rounds to more (RFC 8216 4.3.3.1).
    public var targetDuration: Int { Int(segmentDuration.rounded(.up)) }

    /// The maximum part duration in milliseconds, including a margin for whole-millisecond timestamps.
    public var partTargetMilliseconds: Int64 { Int64((partDuration * 1000).rounded()) + 2 }

    /// CAN-SKIP-UNTIL in seconds: delta updates omit older segments (RFC 8216bis 4.4.3.8).
    public var skipBoundary: Double { Double(6 * targetDuration) }

    /// The number of parts by which a blocking reload may precede the playlist (RFC 8216bis 6.2.5.2).
    public var advancePartLimit: Int { partTargetMilliseconds < 1000 ? Int(3000 / partTargetMilliseconds) : 3 }

    /// The timeout of a blocking request in seconds: three target durations (RFC 8216bis 6.2.5.2).
    public var blockingReloadTimeout: Double { Double(3 * targetDuration) }

    /// The milliseconds after which a segment ends at the next keyframe; slightly early is better than one GOP late.
    var earliestEndMilliseconds: Int64 { Int64(segmentDuration * 900) }

    /// The milliseconds that no segment reaches, so that its duration never rounds above the target.
    var latestEndMilliseconds: Int64 { Int64(targetDuration) * 1000 + 499 }

    /// The bytes after which a segment ends regardless of its duration, so that the window contains several.
    var maximumSegmentBytes: Int { maximumBytes / (windowLength + graceLength + 1) }
}
