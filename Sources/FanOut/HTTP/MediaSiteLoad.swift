/// What the requests for media hold of what there is for them, and whom that sent away.
public struct MediaSiteLoad: Sendable, Equatable {
    /// Requests that wait for media.
    public var waiting = 0
    /// The most that may.
    public var waitingLimit = 0
    /// Requests that were sent away because too many waited, of all or of their viewer.
    public var refusedWaits: UInt64 = 0
    /// Requests that came faster than their client may ask.
    public var refusedRequests: UInt64 = 0
    /// Connections of clients that had too many open.
    public var refusedConnections: UInt64 = 0
}
