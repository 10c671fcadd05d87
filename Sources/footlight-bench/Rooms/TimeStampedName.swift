import Media
import NIOCore

/// A display name that says when it was given: `t`, nanoseconds of the monotonic clock, `n`.
enum TimeStampedName {
    static var now: String { "t\(MonotonicTime.now().nanoseconds)n" }

    /// The times in `bytes`, which holds whole lines.
    ///
    /// - Parameter body: Called with each time.
    static func scan(_ bytes: ByteBufferView, _ body: (MonotonicTime) -> Void) {
        var index = bytes.startIndex
        while let quote = bytes[index...].firstIndex(of: UInt8(ascii: "\"")) {
            index = bytes.index(after: quote)
            guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "t") else { continue }
            var value: Int64 = 0
            var end = bytes.index(after: index)
            while end < bytes.endIndex, case let digit = bytes[end] &- UInt8(ascii: "0"), digit <= 9, value < 1 << 59 {
                value = value * 10 + Int64(digit)
                end = bytes.index(after: end)
            }
            guard value > 0, end < bytes.endIndex, bytes[end] == UInt8(ascii: "n") else { continue }
            body(MonotonicTime(nanoseconds: value))
        }
    }
}
