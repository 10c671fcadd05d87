import Stage
import Synchronization

/// What all feeds of a gateway together hold for their viewers, and how much of it they may.
///
/// Written once a batch by each share of a feed; read whenever somebody is let in, and for reports.
final class AudienceBudget: Sendable {
    /// Bytes of groups of pictures kept for joiners, in every form.
    let cached = Atomic<Int>(0)
    /// Bytes that wait for viewers whose sockets do not take them; viewers share most of them.
    let queued = Atomic<Int>(0)
    /// RTMP and HTTP-FLV viewers, counted ones and others.
    let viewers = Atomic<Int>(0)
    /// Feeds that share what may be cached.
    let feeds = Atomic<Int>(0)
    /// What they were given.
    let sent = AudienceBytes()

    private let cacheLimit: Int
    private let queueLimit: Int
    private let refusedRTMP = Atomic<UInt64>(0)
    private let refusedFLV = Atomic<UInt64>(0)
    private let refusedHLS = Atomic<UInt64>(0)

    init(_ configuration: FanOutConfiguration) {
        cacheLimit = configuration.cacheLimit
        queueLimit = configuration.queueLimit.total
    }

    /// Bytes that one copy of one feed's group may have at this moment.
    ///
    /// Any number while all caches together are within their limit; beyond it each feed has its even part, so that the
    /// largest groups are let go.
    ///
    /// - Parameter copies: Copies of its group that a feed has at most.
    func largestGroup(copies: Int) -> Int {
        guard cached.load(ordering: .relaxed) > cacheLimit else { return .max }
        return cacheLimit / (max(feeds.load(ordering: .relaxed), 1) * max(copies, 1))
    }

    /// Whether so much waits for slow viewers that patience with them is over.
    var isQueueFull: Bool { queued.load(ordering: .relaxed) > queueLimit }

    /// Notes that somebody was sent away for want of room.
    func refused(_ playback: PlaybackProtocol) {
        switch playback {
        case .rtmp: refusedRTMP.add(1, ordering: .relaxed)
        case .flv: refusedFLV.add(1, ordering: .relaxed)
        case .hls, .llhls, .sdk: refusedHLS.add(1, ordering: .relaxed)
        }
    }

    /// Viewers sent away since the start; low latency or not cannot be told before a player plays.
    var refusals: [PlaybackProtocol: UInt64] {
        [
            .rtmp: refusedRTMP.load(ordering: .relaxed), .flv: refusedFLV.load(ordering: .relaxed),
            .hls: refusedHLS.load(ordering: .relaxed),
        ]
    }
}
