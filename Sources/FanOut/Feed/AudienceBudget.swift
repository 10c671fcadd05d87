public import Stage
import Synchronization

/// Counts the memory that all feeds use for their viewers, and holds its limits.
///
/// Each feed partition writes once per batch; admission checks and reports read.
final class AudienceBudget: Sendable {
    /// Bytes of all GOP caches, in every wire format.
    let cached = Atomic<Int>(0)
    /// Bytes queued for viewers whose sockets are blocked; viewers share most of the buffers.
    let queued = Atomic<Int>(0)
    /// RTMP and HTTP-FLV viewers, whether recorded or not.
    let viewers = Atomic<Int>(0)
    /// The number of feeds that share the cache limit.
    let feeds = Atomic<Int>(0)
    /// Bytes sent to viewers.
    let sent = SentByteCounters()

    private let cacheLimit: Int
    private let queueLimit: Int
    private let refusedRTMP = Atomic<UInt64>(0)
    private let refusedFLV = Atomic<UInt64>(0)
    private let refusedHLS = Atomic<UInt64>(0)

    init(_ configuration: FanOutConfiguration) {
        cacheLimit = configuration.cacheLimit
        queueLimit = configuration.queueLimit.total
    }

    /// Returns the current limit for one copy of one feed's GOP, in bytes.
    ///
    /// There is no limit while all caches together are within theirs; above it each feed has an equal share, so that
    /// the largest GOPs are evicted.
    ///
    /// - Parameter copies: The maximum number of copies of a feed's GOP.
    func gopByteLimit(copies: Int) -> Int {
        guard cached.load(ordering: .relaxed) > cacheLimit else { return .max }
        return cacheLimit / (max(feeds.load(ordering: .relaxed), 1) * max(copies, 1))
    }

    /// Whether the bytes queued for slow viewers exceed the limit for all feeds.
    var isQueueFull: Bool { queued.load(ordering: .relaxed) > queueLimit }

    /// Counts a viewer that was refused for lack of capacity.
    func refused(_ playback: PlaybackProtocol) {
        switch playback {
        case .rtmp: refusedRTMP.add(1, ordering: .relaxed)
        case .flv: refusedFLV.add(1, ordering: .relaxed)
        case .hls, .llhls, .sdk: refusedHLS.add(1, ordering: .relaxed)
        }
    }

    /// Viewers refused since the start; HLS and LL-HLS count as one, because they differ only once a player plays.
    var refusals: [PlaybackProtocol: UInt64] {
        [
            .rtmp: refusedRTMP.load(ordering: .relaxed), .flv: refusedFLV.load(ordering: .relaxed),
            .hls: refusedHLS.load(ordering: .relaxed),
        ]
    }
}

/// Reports the bytes of one copy of a feed's GOP cache to the counters, and subtracts them on deinit.
final class CacheUsage {
    private let counters: FeedCounters
    private let budget: AudienceBudget
    private let copies: Int
    private var bytes = 0

    /// - Parameter copies: The number of copies of the GOP that the feed has.
    init(counters: FeedCounters, budget: AudienceBudget, copies: Int) {
        self.counters = counters
        self.budget = budget
        self.copies = copies
    }

    deinit { update(0) }

    /// The current limit for the copy, in bytes.
    var gopByteLimit: Int { budget.gopByteLimit(copies: copies) }

    /// Sets the size of the copy.
    func update(_ bytes: Int) {
        let more = bytes - self.bytes
        guard more != 0 else { return }
        self.bytes = bytes
        counters.cached.add(more, ordering: .relaxed)
        budget.cached.add(more, ordering: .relaxed)
    }
}

/// Counts the bytes of media and playlists sent to viewers since the start, by protocol, ended feeds included.
///
/// Every event loop adds; reports read.
final class SentByteCounters: Sendable {
    private let rtmp = Atomic<UInt64>(0)
    private let flv = Atomic<UInt64>(0)
    private let hls = Atomic<UInt64>(0)

    func add(_ bytes: UInt64, by playback: PlaybackProtocol) {
        switch playback {
        case .rtmp: rtmp.add(bytes, ordering: .relaxed)
        case .flv: flv.add(bytes, ordering: .relaxed)
        case .hls, .llhls, .sdk: hls.add(bytes, ordering: .relaxed)
        }
    }

    /// The totals; HLS and LL-HLS count as one, because they share segments.
    var totals: [PlaybackProtocol: UInt64] {
        [
            .rtmp: rtmp.load(ordering: .relaxed), .flv: flv.load(ordering: .relaxed),
            .hls: hls.load(ordering: .relaxed),
        ]
    }
}

/// A snapshot of what all feeds of a gateway use for their viewers.
public struct FanOutLoad: Sendable, Equatable {
    /// RTMP and HTTP-FLV viewers, whether recorded or not.
    public let viewers: Int
    /// Bytes of all GOP caches, counting every copy.
    public let cachedBytes: Int
    /// Bytes queued for viewers whose sockets are blocked; viewers share most of the buffers.
    public let queuedBytes: Int
    /// Whether new viewers are refused because memory is short.
    public let isAdmissionSuspended: Bool
    /// Viewers refused for lack of capacity since the start, by protocol.
    public let refused: [PlaybackProtocol: UInt64]
    /// Bytes of media and playlists sent to viewers since the start, by protocol.
    public let sent: [PlaybackProtocol: UInt64]
}
