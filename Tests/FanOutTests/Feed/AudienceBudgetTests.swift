@testable import FanOut
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@Suite("What viewers may take of the machine, of one room and of all")
struct AudienceBudgetTests {
    private func goOnAir(_ stand: ShareStand) {
        stand.send(Packets.video(), Packets.audio(), Packets.key(0))
    }

    /// A viewer who takes nothing from now on.
    private func blockedViewer(_ stand: ShareStand) -> (viewer: Viewer, output: RecordingOutput) {
        let (viewer, output) = stand.join()
        output.hold()
        viewer.noteWritability(false, now: stand.now)
        return (viewer, output)
    }

    private func queued(_ stand: ShareStand) -> Int { stand.counters.queued.load(ordering: .relaxed) }

    @Test("What waits for slow viewers is metered, and given back when they take it or leave")
    func metered() {
        let stand = ShareStand()
        goOnAir(stand)
        let (slow, output) = blockedViewer(stand)
        let (gone, _) = blockedViewer(stand)
        _ = stand.join()
        stand.send(Packets.picture(40, bytes: 100_000))
        #expect((200_000..<202_000).contains(queued(stand)))
        #expect(stand.budget.queued.load(ordering: .relaxed) == queued(stand))
        stand.share.remove(gone, reason: .left, now: stand.now)
        #expect((100_000..<101_000).contains(queued(stand)))
        output.release()
        slow.noteWritability(true, now: stand.now)
        stand.send(Packets.picture(80))
        #expect(queued(stand) == 0)
        #expect(stand.budget.queued.load(ordering: .relaxed) == 0)
        #expect(stand.budget.viewers.load(ordering: .relaxed) == 2)
    }

    @Test("Beyond what may wait in a room nothing more is queued for those who take nothing; others miss nothing")
    func roomIsFull() {
        let limit = 1 << 20
        let stand = ShareStand(FanOutConfiguration(queueLimit: (limit, 1 << 30)))
        goOnAir(stand)
        let slow = (0..<20).map { _ in blockedViewer(stand) }
        let quick = stand.join().output
        for number in 1...100 { stand.send(Packets.picture(Int64(number) * 40, bytes: 10_000)) }
        // One batch to each of them beyond the limit at most.
        #expect(queued(stand) > limit)
        #expect(queued(stand) < limit + 20 * 11_000)
        #expect(stand.counters.skips.load(ordering: .relaxed) == 20)
        #expect(quick.tags.count == 3 + 100)
        // They go when others would only be skipped.
        stand.wait(5.5)
        stand.send(Packets.picture(9_500))
        #expect(slow.allSatisfy { $0.output.ends == [.tooSlow] })
        #expect(queued(stand) == 0)
        #expect(quick.tags.last?.timestamp == 9_500)
        #expect(quick.ends.isEmpty)
    }

    @Test("Beyond what may wait in all rooms together, patience is over in each of them")
    func gatewayIsFull() {
        let configuration = FanOutConfiguration(queueLimit: (1 << 30, 1 << 20))
        let crowded = ShareStand(configuration)
        let other = ShareStand(configuration, budget: crowded.budget)
        for stand in [crowded, other] { goOnAir(stand) }
        for _ in 0..<5 { _ = blockedViewer(crowded) }
        let slow = blockedViewer(other).output
        let quick = other.join().output
        crowded.send(Packets.picture(40, bytes: 300_000))
        #expect(crowded.budget.isQueueFull)
        other.send(Packets.picture(40))
        other.send(Packets.picture(80))
        #expect(slow.tags.map(\.timestamp) == [0, 0, 0])
        #expect(other.counters.skips.load(ordering: .relaxed) == 1)
        #expect(quick.tags.last?.timestamp == 80)
        #expect(quick.ends.isEmpty)
        crowded.share.end(.roomEnded, now: crowded.now)
        #expect(!crowded.budget.isQueueFull)
    }

    @Test("A slow viewer who gets through what waits is kept; one who takes a byte at a time is closed")
    func slowOrDead() {
        let stand = ShareStand()
        goOnAir(stand)
        let (_, slow) = blockedViewer(stand)
        let (_, trickle) = blockedViewer(stand)
        for second in 1...6 {
            stand.wait(1)
            stand.send(Packets.key(Int64(second) * 1_000, bytes: 400_000))
        }
        #expect(stand.counters.skips.load(ordering: .relaxed) == 2)
        for second in 7...40 {
            stand.wait(1)
            slow.take(80_000)
            trickle.take(1)
            stand.send(Packets.key(Int64(second) * 1_000))
        }
        #expect(slow.ends.isEmpty)
        #expect(trickle.ends == [.tooSlow])
        #expect(stand.counters.closedSlow.load(ordering: .relaxed) == 1)
    }

    @Test("The groups kept for joiners stay within the gateway's limit: the longest are let go, the others serve on")
    func caches() {
        let limit = 1 << 20
        let configuration = FanOutConfiguration(cacheLimit: limit)
        let budget = AudienceBudget(configuration)
        let stands = (0..<8).map { _ in ShareStand(configuration, budget: budget) }
        let batch = 20_000
        for stand in stands {
            goOnAir(stand)
            _ = stand.join(.flv)
            _ = stand.join(.rtmp)
        }
        for number in 1...30 {
            for (index, stand) in stands.enumerated() where index < 2 || number == 10 {
                stand.send(Packets.picture(Int64(number) * 40, bytes: batch))
                #expect(budget.cached.load(ordering: .relaxed) <= limit + 8 * 2 * (batch + 200))
            }
        }
        #expect(budget.cached.load(ordering: .relaxed) <= limit)
        // One or both of the long ones, at different moments.
        let joined = stands.map { $0.join().output.tags.map(\.timestamp) }
        #expect(joined[0].isEmpty || joined[1].isEmpty)
        #expect(joined[2...].allSatisfy { $0 == [0, 0, 0, 400] })
        // A key picture begins a short group again.
        for stand in stands[..<2] {
            stand.send(Packets.key(1_300))
            #expect(stand.join().output.tags.map(\.timestamp) == [1_300, 1_300, 1_300])
        }
    }

    @Test("What a feed keeps is metered, and given back when it goes")
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
        var stand: ShareStand? = ShareStand(configuration, budget: budget)
        stand?.send(Packets.video(), Packets.key(0, bytes: 50_000))
        _ = stand?.join()
        #expect(budget.cached.load(ordering: .relaxed) > 50_000)
        stand?.share.end(.shutdown, now: .now())
        stand = nil
        #expect(budget.cached.load(ordering: .relaxed) == 0)
    }
}
