import Egress
import FanOut
import Logging
import Media
import ServiceLifecycle
import Stage
import Viewership
import ViewershipStore

/// Moves the time of everything that only looks at its clocks now and then: rooms, viewers, logs, playlists, memory,
/// and the audience's history, which it has written.
///
/// All in one loop, for each waking up of a process that has nothing else to do costs more than the looking. Nothing in
/// here waits.
struct Upkeep: Service {
    /// Four times a second while anybody is on a stage, for speakers take turns faster than a second.
    private static let pause = Duration.milliseconds(250)
    private static let turnsPerSecond = 4
    /// So that readers know a quiet room from a dead connection.
    private static let turnsPerHeartbeat = RoomDirectory.heartbeatInterval * turnsPerSecond

    let pipeline: Pipeline
    let news: WebhookNews
    let web: GatewayWeb
    let health: Health
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var turn = 0
            var memory = MemoryWatch()
            var renditions = RenditionWatch()
            var awaited = AwaitedPrograms()
            while !Task.isCancelled {
                let isBusy = pipeline.stage.sweep()
                if turn % Self.turnsPerHeartbeat == 0 { pipeline.stage.beat() }
                if turn % Self.turnsPerSecond == 0 {
                    lookAtAudience(&awaited)
                    look(at: &memory)
                    look(at: &renditions)
                }
                let turns = isBusy ? 1 : Self.turnsPerSecond - turn % Self.turnsPerSecond
                turn += turns
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: Self.pause * turns)
            }
        }
        // What changed last.
        await pipeline.history.write(pipeline.viewership.takeHistory())
    }

    private func lookAtAudience(_ awaited: inout AwaitedPrograms) {
        pipeline.logs.advance()
        pipeline.viewership.advance(to: .now())
        let rooms = pipeline.viewership.totals().rooms
        // The stage makes news of what changed.
        for room in rooms { pipeline.stage.viewershipChanged(room: room.room, viewers: room.concurrent) }
        let watched = rooms.filter { $0.concurrent > 0 }.map(\.room)
        for (wish, isOn) in awaited.look(at: pipeline.viewersWishes(watched)) {
            pipeline.mixers.demandChanged(room: wish.room, wish.demand, isOn: isOn)
        }
        news.look(at: rooms)
        web.keepTotals()
        pipeline.history.keep(pipeline.viewership)
        pipeline.playlists.tick()
        pipeline.hls.sweep()
    }

    /// Sends viewers away from renditions that the mixer does without, and tells operators whose outputs push one.
    private func look(at watch: inout RenditionWatch) {
        let still = pipeline.feeds.dismissFromStillRenditions().map { name, takers in
            let pushes = takers.compactMap { ($0 as? RTMPPush)?.status }.filter { $0.state != .stopped }
            return (name, Set(pushes.map(\.name)))
        }
        let news = watch.look(at: Dictionary(still, uniquingKeysWith: { $1 })) { name in
            pipeline.feeds.feed(name.text) != nil
        }
        for (room, warning) in news { pipeline.stage.livestreamWarned(room: room, warning) }
    }

    /// Holds new viewers off while memory is short, so that those who watch and those on air keep theirs.
    private func look(at memory: inout MemoryWatch) {
        guard let used = MemoryUse.current()?.part, let isShort = memory.note(used) else { return }
        pipeline.feeds.holdAdmission(isShort)
        health.set(.memory, isShort ? "\(Int(used * 100)) percent of the memory are in use" : nil)
        logger.log(
            level: isShort ? .warning : .notice,
            isShort ? "memory is short, new viewers are refused" : "memory is back, viewers are let in",
            metadata: ["used_percent": "\(Int(used * 100))"]
        )
    }
}
