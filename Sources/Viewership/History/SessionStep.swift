public import Stage

/// One of the latest steps of a session, for a run that begins before the history has it.
///
/// The history is written about once a second. What a process that is killed had not written yet is told by these, which
/// the system has within a twentieth of a second.
public struct SessionStep: Sendable, Equatable {
    /// What happened.
    public enum Kind: UInt8, Sendable {
        /// A connection opened, which is not proven to watch.
        case opened = 1
        /// A session was proven to watch.
        case proven = 2
        /// A connection closed.
        case gone = 3
        /// A session that was proven before has a connection again.
        case back = 4
    }

    /// What happened.
    public var kind: Kind
    /// The proof in the session's id.
    public var code: UInt64
    /// The shard that owns the session.
    public var shard: UInt8
    /// The broadcast it belongs to.
    public var epoch: Int64
    /// How the viewer watches.
    public var playback: PlaybackProtocol
    /// When it opened, or where its watching began; milliseconds since 1970.
    public var start: Int64
    /// When it was noticed; milliseconds since 1970.
    public var at: Int64

    /// A step, as it was read.
    public init(
        kind: Kind,
        code: UInt64,
        shard: UInt8,
        epoch: Int64,
        playback: PlaybackProtocol,
        start: Int64,
        at: Int64
    ) {
        self.kind = kind
        self.code = code
        self.shard = shard
        self.epoch = epoch
        self.playback = playback
        self.start = start
        self.at = at
    }
}
