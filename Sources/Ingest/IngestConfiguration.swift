public import NIOCore
import Stage

/// The limits of hosts and the throttling of invalid stream keys.
public struct IngestConfiguration: Sendable {
    /// The maximum sustained bit rate of one host in kb/s; above 1.5 times a warning is logged, above twice it is
    /// closed.
    public var maximumBitrate: Int
    /// The delay before an unknown key is refused.
    public var wrongKeyDelay: TimeAmount
    /// The wrong keys per minute and address beyond which further ones are refused without delay; valid keys are still
    /// accepted.
    public var wrongKeysPerMinute: Int
    /// The maximum frame size in pixels of the longer and the shorter edge.
    public var maximumFrameSize: (long: Int, short: Int)
    /// The maximum number of publishing connections over all rooms.
    public var maximumPublishers: Int

    /// Creates limits suitable for ordinary uplinks.
    public init(
        maximumBitrate: Int = 12_000,
        wrongKeyDelay: TimeAmount = .seconds(1),
        wrongKeysPerMinute: Int = 5,
        maximumFrameSize: (long: Int, short: Int) = (1920, 1088),
        maximumPublishers: Int = 2_000
    ) {
        self.maximumBitrate = maximumBitrate
        self.wrongKeyDelay = wrongKeyDelay
        self.wrongKeysPerMinute = wrongKeysPerMinute
        self.maximumFrameSize = maximumFrameSize
        self.maximumPublishers = maximumPublishers
    }
}

extension IngestConfiguration {
    /// Returns the lower of these limits and those of one host.
    ///
    /// Edges are rounded up to whole macroblocks, for encoders that do not signal cropping.
    func narrowed(to limits: PublishLimits) -> IngestConfiguration {
        func aligned(_ side: Int?) -> Int { side.map { ($0 + 15) / 16 * 16 } ?? .max }
        var narrowed = self
        narrowed.maximumBitrate = min(maximumBitrate, limits.bitrate ?? .max)
        narrowed.maximumFrameSize = (
            min(maximumFrameSize.long, aligned(limits.longerSide)),
            min(maximumFrameSize.short, aligned(limits.shorterSide))
        )
        return narrowed
    }
}
