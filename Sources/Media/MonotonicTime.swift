#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A moment on the machine's monotonic clock, in nanoseconds; it never jumps when the wall clock is set.
public struct MonotonicTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since a moment that is fixed while the machine runs.
    public var nanoseconds: Int64

    /// The moment that many nanoseconds after the clock's beginning.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The moment of the call, from CLOCK_MONOTONIC.
    public static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Whole milliseconds, rounded down: the unit of RTMP timestamps.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// The moment `milliseconds` later (earlier when negative).
    public func advanced(milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds + milliseconds * 1_000_000)
    }

    /// The moment `seconds` later (earlier when negative); what is further away than a century is a century away, and
    /// what is no number is now.
    public func advanced(seconds: Double) -> MonotonicTime {
        let bounded = seconds.isNaN ? 0 : min(max(seconds, -Self.century), Self.century)
        return MonotonicTime(nanoseconds: nanoseconds + Int64(bounded * 1e9))
    }

    private static let century = 3_155_760_000.0

    /// Seconds from `other` to this moment; negative when this moment came first.
    public func seconds(since other: MonotonicTime) -> Double {
        Double(nanoseconds - other.nanoseconds) / 1e9
    }

    /// Whether `left` came first.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// Where the time comes from, so that a test can move it by hand.
public protocol MonotonicClock: Sendable {
    /// The present moment.
    var now: MonotonicTime { get }
}

/// The machine's own monotonic clock.
public struct SystemClock: MonotonicClock {
    /// The machine's clock; there is but one.
    public init() {}

    /// The moment of the call.
    public var now: MonotonicTime { .now() }
}
