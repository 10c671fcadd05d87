import Egress
import FanOut
import Logging
import RTMP
import ServiceLifecycle
import Stage
import Synchronization
import Viewership

/// Whether new work should be sent here; what `/readyz` answers.
final class Health: Sendable {
    private let isDraining = Atomic<Bool>(false)
    private let isOverloaded = Atomic<Bool>(false)

    var isReady: Bool { !isDraining.load(ordering: .relaxed) && !isOverloaded.load(ordering: .relaxed) }

    func setOverloaded(_ isOverloaded: Bool) {
        self.isOverloaded.store(isOverloaded, ordering: .relaxed)
    }

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

/// Gives memory back, and holds new viewers off while it is short, so that those who watch and those on air keep
/// theirs.
struct MemoryUpkeep: Service {
    let feeds: FeedDirectory
    let hls: HLSDirectory
    let health: Health
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var watch = MemoryWatch()
            while !Task.isCancelled {
                hls.sweep()
                if let used = MemoryWatch.usedPart(), let isShort = watch.note(used) {
                    feeds.holdAdmission(isShort)
                    health.setOverloaded(isShort)
                    logger.log(
                        level: isShort ? .warning : .notice,
                        isShort ? "memory is short, new viewers are refused" : "memory is back, viewers are let in",
                        metadata: ["used_percent": "\(Int(used * 100))"]
                    )
                }
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(1))
            }
        }
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
