import Egress
import FanOut
import RTMP
import ServiceLifecycle
import Stage
import Synchronization
import Viewership

/// Whether new work should be sent here; what `/readyz` answers.
final class Health: Sendable {
    private let isDraining = Atomic<Bool>(false)

    var isReady: Bool { !isDraining.load(ordering: .relaxed) }

    func drain() {
        isDraining.store(true, ordering: .relaxed)
    }
}

/// Moves the audience ledger's time.
struct Counting: Service {
    let viewership: ViewershipLedger

    func run() async throws {
        await cancelWhenGracefulShutdown { await viewership.run() }
    }
}

/// Ends rooms that nobody needs any more, and keeps the event streams alive.
struct StageUpkeep: Service {
    let stage: RoomDirectory

    func run() async throws {
        await cancelWhenGracefulShutdown { await stage.run() }
    }
}

/// Waits for the order to stop, then closes what is open from the outside in.
struct Draining: Service {
    let pipeline: Pipeline
    let servers: [RTMPServer]
    let health: Health

    func run() async throws {
        try? await gracefulShutdown()
        health.drain()
        pipeline.stage.drain()
        pipeline.livestreams.shutdown()
        for feed in pipeline.feeds.all { feed.end(.shutdown) }
        pipeline.stage.endReaders()
        for server in servers { await server.shutdown() }
    }
}
