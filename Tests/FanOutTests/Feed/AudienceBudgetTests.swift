@testable import FanOut
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@Suite("Memory limits of viewers, per room and in total")
struct AudienceBudgetTests {
    private func goOnAir(_ fixture: FeedPartitionFixture) {
        fixture.send(Packets.video(), Packets.audio(), Packets.key(0))
    }

    /// Adds a viewer whose socket is blocked from now on.
    private func blockedViewer(_ fixture: FeedPartitionFixture) -> (viewer: FeedViewer, output: RecordingViewerOutput) {
        let (viewer, output) = fixture.join()
        output.block()
        viewer.updateWritability(false, now: fixture.now)
        return (viewer, output)
    }

    private func queued(_ fixture: FeedPartitionFixture) -> Int { fixture.counters.queued.load(ordering: .relaxed) }

    @Test("counts bytes queued for slow viewers until they are sent or the viewer leaves")
    func metered() {
        let fixture = FeedPartitionFixture()
        goOnAir(fixture)
        let (slow, output) = blockedViewer(fixture)
        let (gone, _) = blockedViewer(fixture)
        _ = fixture.join()
        fixture.send(Packets.frame(40, bytes: 100_000))
        #expect((200_000..<202_000).contains(queued(fixture)))
        #expect(fixture.budget.queued.load(ordering: .relaxed) == queued(fixture))
        fixture.partition.remove(gone, reason: .left, now: fixture.now)
        #expect((100_000..<101_000).contains(queued(fixture)))
        output.release()
        slow.updateWritability(true, now: fixture.now)
        fixture.send(Packets.frame(80))
        #expect(queued(fixture) == 0)
        #expect(fixture.budget.queued.load(ordering: .relaxed) == 0)
        #expect(fixture.budget.viewers.load(ordering: .relaxed) == 2)
    }

    @Test("above the queue limit of a room, queues nothing more for blocked viewers; others miss nothing")
    func roomIsFull() {
        let limit = 1 << 20
        let fixture = FeedPartitionFixture(FanOutConfiguration(queueLimit: (limit, 1 << 30)))
        goOnAir(fixture)
        let slow = (0..<20).map { _ in blockedViewer(fixture) }
        let quick = fixture.join().output
        for number in 1...100 { fixture.send(Packets.frame(Int64(number) * 40, bytes: 10_000)) }
        // At most one batch per viewer beyond the limit.
        #expect(queued(fixture) > limit)
        #expect(queued(fixture) < limit + 20 * 11_000)
        #expect(fixture.counters.skips.load(ordering: .relaxed) == 20)
        #expect(quick.tags.count == 3 + 100)
        // Blocked viewers are closed when they would otherwise only be skipped.
        fixture.wait(5.5)
        fixture.send(Packets.frame(9_500))
        #expect(slow.allSatisfy { $0.output.ends == [.tooSlow] })
        #expect(queued(fixture) == 0)
        #expect(quick.tags.last?.timestamp == 9_500)
        #expect(quick.ends.isEmpty)
    }

    @Test("above the total queue limit, skips and closes blocked viewers of all rooms early")
    func gatewayIsFull() {
        let configuration = FanOutConfiguration(queueLimit: (1 << 30, 1 << 20))
        let crowded = FeedPartitionFixture(configuration)
        let other = FeedPartitionFixture(configuration, budget: crowded.budget)
        for fixture in [crowded, other] { goOnAir(fixture) }
        for _ in 0..<5 { _ = blockedViewer(crowded) }
        let slow = blockedViewer(other).output
        let quick = other.join().output
        crowded.send(Packets.frame(40, bytes: 300_000))
        #expect(crowded.budget.isQueueFull)
        other.send(Packets.frame(40))
        other.send(Packets.frame(80))
        #expect(slow.tags.map(\.timestamp) == [0, 0, 0])
        #expect(other.counters.skips.load(ordering: .relaxed) == 1)
        #expect(quick.tags.last?.timestamp == 80)
        #expect(quick.ends.isEmpty)
        crowded.partition.end(.roomEnded, now: crowded.now)
        #expect(!crowded.budget.isQueueFull)
    }

    @Test("keeps a slow viewer that drains its queue, and closes one that accepts a byte at a time")
    func slowOrDead() {
        let fixture = FeedPartitionFixture()
        goOnAir(fixture)
        let (_, slow) = blockedViewer(fixture)
        let (_, trickle) = blockedViewer(fixture)
        for second in 1...6 {
            fixture.wait(1)
            fixture.send(Packets.key(Int64(second) * 1_000, bytes: 400_000))
        }
        #expect(fixture.counters.skips.load(ordering: .relaxed) == 2)
        for second in 7...40 {
            fixture.wait(1)
            slow.release(80_000)
            trickle.release(1)
            fixture.send(Packets.key(Int64(second) * 1_000))
        }
        #expect(slow.ends.isEmpty)
        #expect(trickle.ends == [.tooSlow])
        #expect(fixture.counters.closedSlow.load(ordering: .relaxed) == 1)
    }

    @Test("keeps the GOP caches within the gateway's limit by evicting the longest")
    func caches() {
        let limit = 1 << 20
        let configuration = FanOutConfiguration(cacheLimit: limit)
        let budget = AudienceBudget(configuration)
        let stands = (0..<8).map { _ in FeedPartitionFixture(configuration, budget: budget) }
        let batch = 20_000
        for fixture in stands {
            goOnAir(fixture)
            _ = fixture.join(.flv)
            _ = fixture.join(.rtmp)
        }
        for number in 1...30 {
            for (index, fixture) in stands.enumerated() where index < 2 || number == 10 {
                fixture.send(Packets.frame(Int64(number) * 40, bytes: batch))
                #expect(budget.cached.load(ordering: .relaxed) <= limit + 8 * 2 * (batch + 200))
            }
        }
        #expect(budget.cached.load(ordering: .relaxed) <= limit)
        // One or both of the long GOPs, at different times.
        let joined = stands.map { $0.join().output.tags.map(\.timestamp) }
        #expect(joined[0].isEmpty || joined[1].isEmpty)
        #expect(joined[2...].allSatisfy { $0 == [0, 0, 0, 400] })
        // A keyframe starts a short GOP again.
        for fixture in stands[..<2] {
            fixture.send(Packets.key(1_300))
            #expect(fixture.join().output.tags.map(\.timestamp) == [1_300, 1_300, 1_300])
        }
    }

    @Test("counts a feed's cached bytes, and subtracts them when the feed is closed")
    func givenBack() async throws {
        let configuration = FanOutConfiguration(tick: .zero)
        try await withLoops(2) { group in
            let feeds = FeedDirectory(group: group, configuration: configuration)
            let feed = feeds.open("r")
            for packet in [Packets.video(), Packets.key(0, bytes: 50_000)] { feed.receive(packet) }
            try await feed.settle(group)
            #expect(feeds.load.cachedBytes >= 50_000)
            #expect(feed.activity.cachedBytes == feeds.load.cachedBytes)
        }
        let budget = AudienceBudget(configuration)
        var fixture: FeedPartitionFixture? = FeedPartitionFixture(configuration, budget: budget)
        fixture?.send(Packets.video(), Packets.key(0, bytes: 50_000))
        _ = fixture?.join()
        #expect(budget.cached.load(ordering: .relaxed) > 50_000)
        fixture?.partition.end(.shutdown, now: .now())
        fixture = nil
        #expect(budget.cached.load(ordering: .relaxed) == 0)
    }
}
