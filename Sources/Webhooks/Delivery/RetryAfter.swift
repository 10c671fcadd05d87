import Foundation

/// Reads `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// Seconds to wait; nil for anything else.
    static func seconds(_ text: String?, now: Double) -> Double? {
        guard let text = text?.trimmingCharacters(in: .whitespaces), text.utf8.count <= 64 else { return nil }
        if let seconds = UInt32(text) { return Double(seconds) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text).map { max($0.timeIntervalSince1970 - now, 0) }
    }
}
