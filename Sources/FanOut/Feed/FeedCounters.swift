import Synchronization

/// Counts a feed's activity over all event loops; partitions write once per batch.
final class FeedCounters: Sendable {
    let viewers = Atomic<Int>(0)
    let bytes = Atomic<UInt64>(0)
    /// Slow viewers that skipped to a keyframe.
    let skips = Atomic<UInt64>(0)
    /// Viewers closed because their sockets accepted nothing.
    let closedSlow = Atomic<UInt64>(0)
    let packets = Atomic<UInt64>(0)
    /// Bytes of the current GOP, in every wire format.
    let cached = Atomic<Int>(0)
    /// Bytes queued for viewers whose sockets are blocked.
    let queued = Atomic<Int>(0)
}

/// A snapshot of a feed's counters.
public struct FeedActivity: Sendable, Equatable {
    /// The name under which the feed is played.
    public let name: String
    /// Current RTMP and HTTP-FLV viewers, whether recorded or not.
    public let viewers: Int
    /// Bytes sent to viewers.
    public let bytes: UInt64
    /// Packets received.
    public let packets: UInt64
    /// Slow viewers that skipped to a keyframe.
    public let skips: UInt64
    /// Viewers closed because their sockets accepted nothing.
    public let closedSlow: UInt64
    /// Bytes of the GOP caches, counting every copy.
    public let cachedBytes: Int
    /// Bytes queued for viewers whose sockets are blocked.
    public let queuedBytes: Int
}

extension Feed {
    /// The feed's current counters.
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
