public import Media
import Synchronization

/// A clock that advances only when a test moves it.
public final class ManualClock: MonotonicClock {
    private let time: Mutex<MonotonicTime>

    /// Creates a clock at `start`.
    public init(start: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000)) {
        time = Mutex(start)
    }

    /// The current time.
    public var now: MonotonicTime { time.withLock { $0 } }

    /// Advances the clock; a negative duration is ignored, since a monotonic clock never steps back.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        guard nanoseconds > 0 else { return }
        time.withLock { $0.nanoseconds += nanoseconds }
    }

    /// Advances the clock to `moment`, unless that has passed.
    public func advance(to moment: MonotonicTime) {
        time.withLock { $0 = max($0, moment) }
    }
}

/// Polls `condition` until it holds or the deadline expires.
///
/// For actions of other processes; code with an injected clock is tested by advancing that clock.
///
/// - Parameters:
///   - deadline: The maximum time. A long one costs nothing if the condition becomes true, and machines may stall for
///     seconds, so use a shorter one than the default only where the time itself is tested.
///   - pause: The polling interval.
/// - Returns: Whether the condition held before the deadline.
public func eventually(
    within deadline: Duration = .seconds(20),
    every pause: Duration = .milliseconds(20),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let (seconds, attoseconds) = deadline.components
    let end = MonotonicTime.now().advanced(seconds: Double(seconds) + Double(attoseconds) / 1e18)
    while true {
        if try await condition() { return true }
        if MonotonicTime.now() >= end { return false }
        try await Task.sleep(for: pause)
    }
}
