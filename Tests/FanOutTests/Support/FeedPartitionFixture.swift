import Media
import NIOCore
import NIOEmbedded
import NIOPosix
import Stage
import Synchronization

@testable import FanOut

/// One partition of a feed, on a manual clock.
final class FeedPartitionFixture {
    let counters = FeedCounters()
    let partition: FeedPartition
    let audience = RecordingAudience()
    let budget: AudienceBudget
    let eventLoop = EmbeddedEventLoop()
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)

    /// - Parameter budget: The limits shared with other partitions; nil for its own.
    init(_ configuration: FanOutConfiguration = FanOutConfiguration(), budget: AudienceBudget? = nil) {
        self.budget = budget ?? AudienceBudget(configuration)
        self.budget.feeds.add(1, ordering: .relaxed)
        partition = FeedPartition(
            configuration: configuration,
            tick: configuration.tick,
            counters: counters,
            budget: self.budget,
            copies: ViewerWireFormat.allCases.count,
            sent: self.budget.sent,
            eventLoop: eventLoop
        )
    }

    func wait(_ seconds: Double) { now = now.advanced(seconds: seconds) }

    func join(
        _ wire: ViewerWireFormat = .flv,
        sid: String? = nil
    ) -> (viewer: FeedViewer, output: RecordingViewerOutput) {
        let output = RecordingViewerOutput()
        let session = sid.map { PlaybackSession(sid: $0, room: "r", playback: .flv, audience: audience) }
        let viewer = FeedViewer(output: output, writer: output, wire: wire, session: session)
        partition.add(viewer, now: now)
        return (viewer, output)
    }

    func send(_ packets: MediaPacket...) { partition.deliver(packets, now: now) }
}

/// Runs `body` with event loops that are shut down afterwards.
func withLoops(_ count: Int = 2, _ body: (MultiThreadedEventLoopGroup) async throws -> Void) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
    do {
        try await body(group)
    } catch {
        try await group.shutdownGracefully()
        throw error
    }
    try await group.shutdownGracefully()
}

extension Feed {
    /// Waits until all packets sent to the feed have reached its loops.
    func settle(_ group: any EventLoopGroup) async throws {
        try await ownerLoop.submit {}.get()
        for loop in group.makeIterator() { try await loop.submit {}.get() }
    }
}
