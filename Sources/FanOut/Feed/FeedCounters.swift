import Synchronization

/// What a feed has done, summed over its event loops; written once a batch, read by whoever reports.
final class FeedCounters: Sendable {
    let viewers = Atomic<Int>(0)
    let bytes = Atomic<UInt64>(0)
    /// Slow viewers skipped forward to a key picture.
    let skips = Atomic<UInt64>(0)
    /// Viewers closed because they took nothing at all.
    let closedSlow = Atomic<UInt64>(0)
    let packets = Atomic<UInt64>(0)
}
