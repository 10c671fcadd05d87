public import NIOCore
import Stage

/// What hosts may send, and how guessing at keys is slowed down.
public struct IngestConfiguration: Sendable {
    /// Highest sustained rate of one host in kb/s; a warning is logged above 1.5 times, the host closed above twice.
    public var maximumBitrate: Int
    /// Wait before an unknown key is refused.
    public var wrongKeyDelay: TimeAmount
    /// Wrong keys of one address per minute from which on more of them are refused at once rather than held and
    /// looked at like a mistake; a right key is taken all the same.
    public var wrongKeysPerMinute: Int
    /// Largest picture a host may send, in pixels a side of the longer and the shorter edge.
    public var maximumPicture: (long: Int, short: Int)
    /// Connections that may publish at a time, over all rooms.
    public var maximumPublishers: Int

    /// Limits that suit hosts on ordinary uplinks.
    public init(
        maximumBitrate: Int = 12_000,
        wrongKeyDelay: TimeAmount = .seconds(1),
        wrongKeysPerMinute: Int = 5,
        maximumPicture: (long: Int, short: Int) = (1920, 1088),
        maximumPublishers: Int = 2_000
    ) {
        self.maximumBitrate = maximumBitrate
        self.wrongKeyDelay = wrongKeyDelay
        self.wrongKeysPerMinute = wrongKeysPerMinute
        self.maximumPicture = maximumPicture
        self.maximumPublishers = maximumPublishers
    }
}

extension IngestConfiguration {
    /// The lower of these limits and those of one host.
    ///
    /// Edges are taken up to whole macroblocks, for encoders that do not say which rows are not to be shown.
    func narrowed(to limits: PublishLimits) -> IngestConfiguration {
        func whole(_ side: Int?) -> Int { side.map { ($0 + 15) / 16 * 16 } ?? .max }
        var narrowed = self
        narrowed.maximumBitrate = min(maximumBitrate, limits.bitrate ?? .max)
        narrowed.maximumPicture = (
            min(maximumPicture.long, whole(limits.longerSide)), min(maximumPicture.short, whole(limits.shorterSide))
        )
        return narrowed
    }
}
