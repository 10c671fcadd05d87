/// A session went on in another rendition or by another protocol.
public struct MoveRow: Sendable, Equatable {
    /// The proof in the session's id.
    public var code: UInt64
    /// The broadcast.
    public var epoch: Int64
    /// Milliseconds since 1970.
    public var at: Int64
    /// Where it stood until then.
    public var from: Dimensions

    /// A move.
    public init(code: UInt64, epoch: Int64, at: Int64, from: Dimensions) {
        self.code = code
        self.epoch = epoch
        self.at = at
        self.from = from
    }
}
