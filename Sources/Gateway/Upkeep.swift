import FanOut
import Media
import ServiceLifecycle
import Stage
import Viewership

/// Moves the time of everything that only looks at its clocks now and then: rooms, viewers, logs, playlists.
///
/// All in one loop, for each waking up of a process that has nothing else to do costs more than the looking. Nothing in
/// here waits.
struct Upkeep: Service {
    /// Four times a second while anybody is on a stage, for speakers take turns faster than a second.
    private static let pause = Duration.milliseconds(250)
    private static let turnsPerSecond = 4
    /// So that readers know a quiet room from a dead connection.
    private static let turnsPerHeartbeat = RoomDirectory.heartbeatInterval * turnsPerSecond

    let stage: RoomDirectory
    let viewership: ViewershipLedger
    let logs: AudienceLogs
    let playlists: HLSDirectory
    let control: HLSControl

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var turn = 0
            while !Task.isCancelled {
                let isBusy = stage.sweep()
                if turn % Self.turnsPerHeartbeat == 0 { stage.beat() }
                if turn % Self.turnsPerSecond == 0 { lookAtAudience() }
                let turns = isBusy ? 1 : Self.turnsPerSecond - turn % Self.turnsPerSecond
                turn += turns
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: Self.pause * turns)
            }
        }
    }

    private func lookAtAudience() {
        logs.advance()
        viewership.advance(to: .now())
        // The stage makes news of what changed.
        for room in viewership.totals().rooms {
            stage.viewershipChanged(room: room.room, viewers: room.concurrent)
        }
        control.tick()
        playlists.sweep()
    }
}
