/// A playback was away for a while and came back; milliseconds since 1970.
public struct GapRow: Sendable, Hashable {
    /// The session's.
    public var code: UInt64
    /// The broadcast.
    public var epoch: Int64
    /// When it went.
    public var from: Int64
    /// When it came back.
    public var to: Int64

    /// A row.
    public init(code: UInt64, epoch: Int64, from: Int64, to: Int64) {
        self.code = code
        self.epoch = epoch
        self.from = from
        self.to = to
    }
}
