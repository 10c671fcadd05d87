#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A time on the machine's monotonic clock, in nanoseconds; unaffected by changes of the wall clock.
public struct MonotonicTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since a fixed origin, constant while the machine runs.
    public var nanoseconds: Int64

    /// Makes the time `nanoseconds` after the clock's origin.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Returns the current time, from CLOCK_MONOTONIC.
    public static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Whole milliseconds, rounded down: the unit of RTMP timestamps.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// Returns the time `milliseconds` later (earlier when negative).
    public func advanced(milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds + milliseconds * 1_000_000)
    }

    /// Returns the time `seconds` later (earlier when negative), limited to a century either way; NaN adds nothing.
    public func advanced(seconds: Double) -> MonotonicTime {
        let bounded = seconds.isNaN ? 0 : min(max(seconds, -Self.century), Self.century)
        return MonotonicTime(nanoseconds: nanoseconds + Int64(bounded * 1e9))
    }

    private static let century = 3_155_760_000.0

    /// Returns the seconds from `other` to this time; negative when this time is earlier.
    public func seconds(since other: MonotonicTime) -> Double {
        Double(nanoseconds - other.nanoseconds) / 1e9
    }

    /// Whether `left` is earlier than `right`.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// A source of monotonic time that tests can replace.
public protocol MonotonicClock: Sendable {
    /// The current time.
    var now: MonotonicTime { get }
}

/// The machine's own monotonic clock.
public struct SystemClock: MonotonicClock {
    /// Makes the clock.
    public init() {}

    /// The current time, from CLOCK_MONOTONIC.
    public var now: MonotonicTime { .now() }
}
