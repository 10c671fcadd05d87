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
        /// A session that is not proven to watch asked for its first playlist.
        case asked = 5
    }

    /// What happened.
    public var kind: Kind
    /// The proof in the session's id.
    public var code: UInt64
    /// The shard that owns the session.
    public var shard: UInt8
    /// The broadcast it belongs to.
    public var epoch: Int64
    /// How the viewer watches, what, from where and with what.
    public var dimensions: Dimensions
    /// A hash of whom; nil for nobody known beyond the session.
    public var viewer: UInt64?
    /// The viewer is known by a token.
    public var isUser: Bool
    /// Who it may be; nil where nobody knows.
    public var estimate: UInt64?
    /// A log tells of it.
    public var isLogged: Bool
    /// When it opened or asked, or where its watching began; milliseconds since 1970.
    public var start: Int64
    /// When it was noticed; milliseconds since 1970.
    public var at: Int64

    /// A step, as it was read.
    public init(
        kind: Kind,
        code: UInt64,
        shard: UInt8,
        epoch: Int64,
        dimensions: Dimensions,
        viewer: UInt64? = nil,
        isUser: Bool = false,
        estimate: UInt64? = nil,
        isLogged: Bool = false,
        start: Int64,
        at: Int64
    ) {
        self.kind = kind
        self.code = code
        self.shard = shard
        self.epoch = epoch
        self.dimensions = dimensions
        self.viewer = viewer
        self.isUser = isUser
        self.estimate = estimate
        self.isLogged = isLogged
        self.start = start
        self.at = at
    }
}
