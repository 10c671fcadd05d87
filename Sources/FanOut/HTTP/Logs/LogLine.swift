import Foundation

/// One line of a request log: a JSON object whose fields have one of the names in `LogField`.
struct LogLine {
    /// Longest line that is read, in bytes.
    static let limit = 16 * 1024

    private let fields: [String: Any]

    /// Nil for what is no JSON object, or is too long.
    init?(_ bytes: Data) {
        guard bytes.count <= Self.limit, let read = try? JSONSerialization.jsonObject(with: bytes),
            var fields = read as? [String: Any]
        else { return nil }
        if let headers = fields[LogField.headers] as? [String: Any] { fields.merge(headers) { own, _ in own } }
        self.fields = fields
    }

    /// What the line says, as text; nil where it says nothing, which some logs write as a dash.
    subscript(field: LogField) -> String? {
        for name in field.names {
            if let text = text(name) { return text }
        }
        return nil
    }

    /// What the player calls its playback, where that stands alone.
    var playbackName: String? { text(LogField.cmcdSessionID).map { $0.filter { $0 != "\"" } } }

    /// Seconds since 1970; nil where the line has no time or one that makes no sense.
    var date: Double? { self[.time].flatMap { Self.date($0) } }

    private func text(_ name: String) -> String? {
        let text: String
        switch fields[name] {
        case let words as String: text = words
        case let number as NSNumber: text = number.stringValue
        default: return nil
        }
        return text.isEmpty || text == "-" ? nil : text
    }

    /// A number is of seconds, milli-, micro- or nanoseconds, by its size; anything else is a date of RFC 3339.
    static func date(_ text: String) -> Double? {
        if let number = Double(text) {
            guard number > 0 else { return nil }
            return switch number {
            case ..<1e11: number
            case ..<1e14: number / 1e3
            case ..<1e17: number / 1e6
            default: number / 1e9
            }
        }
        for hasFraction in [false, true] {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
            if let date = try? style.parse(text) { return date.timeIntervalSince1970 }
        }
        return nil
    }
}
