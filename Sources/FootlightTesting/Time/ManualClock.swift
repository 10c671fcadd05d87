public import Media
import Synchronization

/// A clock that stands still until a test moves it.
public final class ManualClock: MonotonicClock {
    private let time: Mutex<MonotonicTime>

    /// A clock that begins at `start`.
    public init(start: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000)) {
        time = Mutex(start)
    }

    /// The moment the clock stands at.
    public var now: MonotonicTime { time.withLock { $0 } }

    /// Moves the clock forward; a negative duration is ignored, since a monotonic clock never steps back.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        guard nanoseconds > 0 else { return }
        time.withLock { $0.nanoseconds += nanoseconds }
    }

    /// Moves the clock forward to `moment`, or leaves it where it is when that has passed.
    public func advance(to moment: MonotonicTime) {
        time.withLock { $0 = max($0, moment) }
    }
}
