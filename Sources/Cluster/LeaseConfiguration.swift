/// The durations of a node's lease, all derived from one: how long a node may be silent.
public struct LeaseConfiguration: Sendable, Hashable {
    /// The milliseconds after sending the latest acknowledged write for which a node holds its lease.
    public let timeToLive: Int64
    /// The milliseconds that others wait beyond `timeToLive` before they fence a node.
    ///
    /// Clocks of two machines may run at different rates, up to the ratio of this to `timeToLive`: 15 %.
    public let margin: Int64
    /// The milliseconds from one heartbeat to the next.
    public let interval: Int64
    /// The milliseconds after which a request without an answer is given up.
    ///
    /// Less than `timeToLive` together with `interval`, so that a node that waits for a dead server still sends its
    /// next heartbeat before others may fence it.
    public let requestTimeout: Int64
    /// The milliseconds for which each further candidate lets those before it take over a room.
    public let candidateDelay: Int64

    /// Derives the durations.
    ///
    /// - Parameter timeToLive: Milliseconds, limited to 500 to 60,000. At least four times the slowest write of a
    ///   healthy store.
    public init(timeToLive: Int64 = 2000) {
        let bounded = min(max(timeToLive, 500), 60_000)
        self.timeToLive = bounded
        margin = bounded * 15 / 100
        interval = bounded / 5
        requestTimeout = bounded * 35 / 100
        candidateDelay = bounded / 2
    }

    /// The milliseconds for which a node's row must be unchanged before another may fence the node.
    var silence: Int64 { timeToLive + margin }
}
