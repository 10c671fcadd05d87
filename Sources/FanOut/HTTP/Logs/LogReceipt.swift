/// What became of the lines of a log.
public struct LogReceipt: Sendable, Equatable {
    /// Requests of players, to be counted as such.
    public var taken = 0
    /// They tell of something else, or of a room that is another's.
    public var ignored = 0
    /// Requests for media playlists that nothing says whose they were.
    public var nameless = 0
    /// No JSON, or not what was asked for and how that was answered.
    public var malformed = 0
    /// Too old, or from the future.
    public var late = 0
    /// There was no room for them.
    public var dropped = 0
    /// They came before, in this log or an earlier one.
    public var repeated = 0

    /// Of no lines.
    public init() {}

    static func += (left: inout LogReceipt, right: LogReceipt) {
        left.taken += right.taken
        left.ignored += right.ignored
        left.nameless += right.nameless
        left.malformed += right.malformed
        left.late += right.late
        left.dropped += right.dropped
        left.repeated += right.repeated
    }
}
