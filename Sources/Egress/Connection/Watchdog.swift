import Media
import Synchronization

/// Ends calls that take too long, from outside: one thread for all pushes of the process.
///
/// librtmp's calls block and cannot be cancelled. What does end them is shutting their socket down, which this thread
/// does when a call's deadline has passed. It looks ten times a second while there is anything to look at.
final class Watchdog: Sendable {
    static let shared = Watchdog()

    private struct Watched: Sendable {
        var guards: [ObjectIdentifier: SocketGuard] = [:]
        var isRunning = false
    }

    private let watched = Latch(Watched())

    func add(_ socket: SocketGuard) {
        let mustStart = watched.update { state in
            state.guards[ObjectIdentifier(socket)] = socket
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mustStart else { return }
        let isRunning = spawnThread(named: "push-watchdog") { self.run() }
        if !isRunning { watched.update { $0.isRunning = false } }
    }

    func remove(_ socket: SocketGuard) {
        watched.update(wakes: false) { _ = $0.guards.removeValue(forKey: ObjectIdentifier(socket)) }
    }

    /// The watchdog's thread; it lives as long as the process and sleeps without a timer when nothing is watched.
    private func run() {
        while true {
            let guards = watched.wait(until: nil) { state in state.guards.isEmpty ? nil : Array(state.guards.values) }
            let now = MonotonicTime.now()
            for socket in guards ?? [] { socket.enforce(now: now) }
            _ = watched.wait(until: now.advanced(milliseconds: 100)) { _ in Never?.none }
        }
    }
}
