import Foundation
import Glibc
import Synchronization

/// Caches the text of the `Date` header (RFC 9110 section 6.6.1), which changes once a second.
///
/// Safe to use from any thread.
public final class HTTPDateCache: Sendable {
    private struct Written {
        var second = Int.min
        var text = ""
    }

    /// English names, whatever the locale; the C library's names depend on it.
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private let clock: @Sendable () -> Int
    private let written = Mutex(Written())

    /// Creates a cache that uses the system's clock.
    public convenience init() {
        self.init { Int(Date().timeIntervalSince1970) }
    }

    /// - Parameter clock: Returns the seconds since 1970.
    init(clock: @escaping @Sendable () -> Int) {
        self.clock = clock
    }

    /// The current date as text.
    public var text: String {
        let second = clock()
        return written.withLock { written in
            if written.second != second { written = Written(second: second, text: Self.text(of: second)) }
            return written.text
        }
    }

    /// Formats a date as in `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(of second: Int) -> String {
        var (moment, parts) = (time_t(second), tm())
        gmtime_r(&moment, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
        let (day, month) = (days[Int(parts.tm_wday)], months[Int(parts.tm_mon)])
        return "\(day), \(two(parts.tm_mday)) \(month) \(Int(parts.tm_year) + 1900) \(clock) GMT"
    }
}
