import Egress
import FanOut
import Logging
import RTMP
import Recording
import ServiceLifecycle
import Stage
import Synchronization
import Viewership
import ViewershipStore

/// Whether new work should be sent here; what `/readyz` answers.
final class Health: Sendable {
    /// Seconds after which somebody who was sent away may try again.
    static let retryAfter = 5

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

extension Duration {
    /// How much later what happens about once a second may happen, so that one wake-up of the process serves several.
    fileprivate static let upkeep = Duration.milliseconds(250)
}

/// Writes the audience's history once a second, and once more at the end.
struct HistoryKeeping: Service {
    let history: HistoryKeeper
    let viewership: ViewershipLedger

    func run() async throws {
        await cancelWhenGracefulShutdown { await history.run(viewership) }
    }
}

/// Goes on with the figures' events while somebody who followed them may come back.
struct TotalsKeeping: Service {
    let web: GatewayWeb

    func run() async throws {
        await cancelWhenGracefulShutdown { await web.keepTotals() }
    }
}

/// Deletes recorded files that are kept no longer.
struct RecordingUpkeep: Service {
    let recordings: RecordingControl

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                recordings.sweep()
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(60))
            }
        }
    }
}

/// Holds new viewers off while memory is short, so that those who watch and those on air keep theirs.
struct MemoryUpkeep: Service {
    let feeds: FeedDirectory
    let health: Health
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var watch = MemoryWatch()
            while !Task.isCancelled {
                if let used = MemoryUse.current()?.part, let isShort = watch.note(used) {
                    feeds.holdAdmission(isShort)
                    health.setOverloaded(isShort)
                    logger.log(
                        level: isShort ? .warning : .notice,
                        isShort ? "memory is short, new viewers are refused" : "memory is back, viewers are let in",
                        metadata: ["used_percent": "\(Int(used * 100))"]
                    )
                }
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(1), tolerance: .upkeep)
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
        pipeline.recordings.shutdown()
        for feed in pipeline.feeds.all { feed.end(.shutdown) }
        pipeline.stage.endReaders()
        for server in servers { await server.shutdown() }
        // What was recorded last is on its way to the disk.
        for _ in 0..<40 where !pipeline.recordings.isIdle { try? await Task.sleep(for: .milliseconds(50)) }
    }
}
