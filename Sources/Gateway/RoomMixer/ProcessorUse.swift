import Glibc
import Media
import Synchronization

/// How many cores this process keeps busy, over the last seconds.
final class ProcessorUse: Sendable {
    /// Seconds over which it is measured.
    private static let stretch = 2.0

    private struct State: Sendable {
        var at: MonotonicTime
        var used: Double
        var cores = 0.0
    }

    private let state = Mutex(State(at: .now(), used: ProcessorUse.processSeconds()))

    /// The cores kept busy in the last whole stretch; 0 in the first.
    var cores: Double {
        let now = MonotonicTime.now()
        return state.withLock { state in
            let passed = now.seconds(since: state.at)
            guard passed >= Self.stretch else { return state.cores }
            let used = Self.processSeconds()
            state.cores = max(used - state.used, 0) / passed
            (state.at, state.used) = (now, used)
            return state.cores
        }
    }

    private static func processSeconds() -> Double {
        // In millionths of a second, whatever the machine (POSIX, `CLOCKS_PER_SEC`).
        Double(clock()) / 1_000_000
    }
}
