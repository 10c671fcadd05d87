import Synchronization

/// What a feed has done so far.
public struct FeedActivity: Sendable, Equatable {
    /// The name under which it is played.
    public let name: String
    /// RTMP and HTTP-FLV viewers now, counted ones and others.
    public let viewers: Int
    /// Bytes handed to viewers.
    public let bytes: UInt64
    /// Packets taken in.
    public let packets: UInt64
    /// Slow viewers skipped forward.
    public let skips: UInt64
    /// Viewers closed because they took nothing.
    public let closedSlow: UInt64
    /// Bytes of the present group of pictures, every copy of it counted.
    public let cachedBytes: Int
    /// Bytes that wait for viewers whose sockets do not take them.
    public let queuedBytes: Int
}

extension Feed {
    /// The feed's figures at this moment.
    public var activity: FeedActivity {
        FeedActivity(
            name: name,
            viewers: counters.viewers.load(ordering: .relaxed),
            bytes: counters.bytes.load(ordering: .relaxed),
            packets: counters.packets.load(ordering: .relaxed),
            skips: counters.skips.load(ordering: .relaxed),
            closedSlow: counters.closedSlow.load(ordering: .relaxed),
            cachedBytes: counters.cached.load(ordering: .relaxed),
            queuedBytes: counters.queued.load(ordering: .relaxed)
        )
    }
}
