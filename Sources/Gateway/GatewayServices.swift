import Egress
import FanOut
import Logging
import RTMP
import Recording
import ServiceLifecycle
import Stage
import Viewership
import ViewershipStore

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

/// Waits for the order to stop, then closes what is open from the outside in.
struct Draining: Service {
    let pipeline: Pipeline
    let servers: [RTMPServer]
    let health: Health

    func run() async throws {
        try? await gracefulShutdown()
        health.set(.draining, "the gateway is being stopped")
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
