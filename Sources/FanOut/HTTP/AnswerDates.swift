import Foundation
import NIOCore
import Synchronization

/// The `Date` of answers (RFC 9110, section 6.6.1), written once a second for all of them.
final class AnswerDates: Sendable {
    private struct Written {
        var second = Int.min
        var text = ""
        var line = ByteBuffer()
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private let clock: @Sendable () -> Int
    private let written = Mutex(Written())

    /// - Parameter clock: Seconds since 1970.
    init(clock: @escaping @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }) {
        self.clock = clock
    }

    /// Now, in words.
    var text: String { current { $0.text } }

    /// Now, as the last line of a head and the empty one behind it.
    var lastLine: ByteBuffer { current { $0.line } }

    private func current<Part: Sendable>(_ part: (Written) -> Part) -> Part {
        let second = clock()
        return written.withLock { written in
            if written.second != second {
                let text = Self.text(of: second)
                written = Written(second: second, text: text, line: ByteBuffer(string: "Date: \(text)\r\n\r\n"))
            }
            return part(written)
        }
    }

    /// As in `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(of second: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let time = ((second % 86_400) + 86_400) % 86_400
        let day = (second - time) / 86_400
        // Years that begin in March, counted from the year 0: a leap day is the last of its year, and of its 400 years.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = (monthFromMarch + 2) % 12
        let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
        let clock = [time / 3600, time / 60 % 60, time % 60].map(two).joined(separator: ":")
        return "\(days[((day % 7) + 7) % 7]), \(two(dayOfMonth)) \(months[month]) \(year) \(clock) GMT"
    }
}
