/// How a program is cut for HLS, and how much of it is kept.
public struct HLSConfiguration: Sendable, Equatable {
    /// Seconds of a segment: it ends at the first key picture at or near this age.
    ///
    /// It should be a whole multiple of the program's key picture interval; otherwise segments are of unequal length, or
    /// begin without a key picture.
    public var segmentDuration: Double
    /// Seconds of a part, at most; a part holds whole pictures.
    ///
    /// Players stay three parts behind the end, so it decides how far behind they are, and how often each of them asks.
    public var partDuration: Double
    /// Segments that the playlist lists; more, where they are so short that they are less than three target durations
    /// together (RFC 8216bis 6.2.2).
    public var windowLength: Int
    /// Segments that can still be fetched after they left the playlist.
    public var graceLength: Int
    /// Bytes of media kept, listed and not; beyond it the oldest segments go early.
    public var maximumBytes: Int

    /// A configuration; values are brought into the range that works.
    ///
    /// - Parameter graceLength: When left out, as many as it takes for a segment to stay for its own duration and that of
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

    /// EXT-X-TARGETDURATION in seconds: constant, and no segment rounds to more (RFC 8216 4.3.3.1).
    public var targetDuration: Int { Int(segmentDuration.rounded(.up)) }

    /// Milliseconds that a part may last at most: its duration, and room for timestamps of whole milliseconds.
    public var partTargetMilliseconds: Int64 { Int64((partDuration * 1000).rounded()) + 2 }

    /// CAN-SKIP-UNTIL in seconds: segments older than this are left out of delta updates (RFC 8216bis 4.4.3.8).
    public var skipBoundary: Double { Double(6 * targetDuration) }

    /// Parts by which a blocking reload may run ahead of the playlist (RFC 8216bis 6.2.5.2).
    public var advancePartLimit: Int { partTargetMilliseconds < 1000 ? Int(3000 / partTargetMilliseconds) : 3 }

    /// Seconds that a request may wait for what it asks for: three target durations (RFC 8216bis 6.2.5.2).
    public var longestWait: Double { Double(3 * targetDuration) }

    /// Milliseconds after which a segment ends at the next key picture; a little early is better than a group late.
    var earliestCutMilliseconds: Int64 { Int64(segmentDuration * 900) }

    /// Milliseconds that no segment reaches, so that its duration never rounds above the target.
    var latestCutMilliseconds: Int64 { Int64(targetDuration) * 1000 + 499 }

    /// Bytes after which a segment is cut whatever its age, so that the window holds several.
    var maximumSegmentBytes: Int { maximumBytes / (windowLength + graceLength + 1) }
}
