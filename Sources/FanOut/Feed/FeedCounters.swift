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
    /// Bytes of the present group of pictures, in every form it is kept in.
    let cached = Atomic<Int>(0)
    /// Bytes that wait for viewers whose sockets do not take them.
    let queued = Atomic<Int>(0)
}
