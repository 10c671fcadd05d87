import Media
import Synchronization

/// Ends calls that take too long, from outside: one thread for all pushes of the process.
///
/// librtmp's calls block and cannot be cancelled. What does end them is shutting their socket down, which this thread
/// does when a deadline has passed. A connection's last moment is kept to the millisecond. A single call announces
/// itself to nobody, so that it costs nothing: the thread looks four times a second, and ends one late by at most that.
final class Watchdog: Sendable {
    static let shared = Watchdog()

    private struct Watched: Sendable {
        var guards: [ObjectIdentifier: SocketGuard] = [:]
        var isRunning = false
        /// A last moment was set that the thread does not know.
        var isChanged = false
    }

    private static let period: Int64 = 250

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

    /// Lets the thread take notice of a last moment that was set.
    func look() {
        watched.update { $0.isChanged = true }
    }

    /// The watchdog's thread; it lives as long as the process and sleeps without a timer when nothing is watched.
    private func run() {
        while true {
            let guards = watched.wait(until: nil) { state in state.guards.isEmpty ? nil : Array(state.guards.values) }
            let now = MonotonicTime.now()
            var next = now.advanced(milliseconds: Self.period)
            for socket in guards ?? [] {
                if let moment = socket.enforce(now: now) { next = min(next, moment) }
            }
            _ = watched.wait(until: next) { state in
                defer { state.isChanged = false }
                return state.isChanged ? true : nil
            }
        }
    }
}
