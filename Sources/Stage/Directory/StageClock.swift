import Media

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Dates that never step back: the wall clock is read once and advanced by the monotonic clock.
struct StageClock: Sendable {
    private let clock: any MonotonicClock
    private let origin: MonotonicTime
    private let originDate: Double

    /// - Parameter startedAt: Seconds since 1970 at this moment; nil reads the machine's wall clock.
    init(_ clock: any MonotonicClock, startedAt: Double?) {
        self.clock = clock
        origin = clock.now
        originDate = startedAt ?? Self.wallClock()
    }

    /// Seconds since 1970.
    var now: Double { originDate + clock.now.seconds(since: origin) }

    private static func wallClock() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
