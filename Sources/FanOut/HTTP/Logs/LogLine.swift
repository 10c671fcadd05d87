import Foundation

/// One line of a CDN log: a JSON object whose fields have the names in `LogField`.
struct LogLine {
    /// The maximum length of a line, in bytes.
    static let limit = 16 * 1024

    private let fields: [String: Any]

    /// Parses a line; nil if it is no JSON object or too long.
    init?(_ bytes: Data) {
        guard bytes.count <= Self.limit, let read = try? JSONSerialization.jsonObject(with: bytes),
            var fields = read as? [String: Any]
        else { return nil }
        if let headers = fields[LogField.headers] as? [String: Any] { fields.merge(headers) { own, _ in own } }
        self.fields = fields
    }

    /// The value of a field as text; nil if it is absent, empty or a dash.
    subscript(field: LogField) -> String? {
        for name in field.names {
            if let text = text(name) { return text }
        }
        return nil
    }

    /// The player's playback session id, if it is logged as a field of its own.
    var playbackName: String? { text(LogField.cmcdSessionID).map { $0.filter { $0 != "\"" } } }

    /// The time in seconds since 1970; nil if it is missing or invalid.
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

    /// Parses a time: a number in seconds, milli-, micro- or nanoseconds by its size, or a date of RFC 3339.
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

/// The fields read from a line of a CDN log.
///
/// Each field has a name of this project and the names that CDNs use for it: Cloudflare (Logpush, `http_requests`),
/// Akamai (DataStream 2, JSON) and Amazon (CloudFront real-time and standard logs).
enum LogField {
    case time
    /// Path and query, or the absolute URL.
    case address
    case path
    case query
    case status
    case method
    case client
    case userAgent
    case country
    case sid
    case cmcd
    case cmcdSession
    case cmcdStatus
    case playbackSession
    case purpose

    /// The possible names of the field; the first one present is used.
    var names: [String] {
        switch self {
        case .time: ["time", "EdgeStartTimestamp", "reqTimeSec", "timestamp", "timestamp(ms)"]
        case .address: ["uri", "url", "ClientRequestURI"]
        case .path: ["path", "reqPath", "cs-uri-stem"]
        case .query: ["query", "queryStr", "cs-uri-query"]
        case .status: ["status", "EdgeResponseStatus", "statusCode", "sc-status"]
        case .method: ["method", "ClientRequestMethod", "reqMethod", "cs-method"]
        case .client: ["ip", "ClientIP", "cliIP", "c-ip"]
        case .userAgent: ["user_agent", "ClientRequestUserAgent", "UA", "cs-user-agent", "cs(User-Agent)"]
        case .country: ["country", "ClientCountry", "c-country"]
        case .sid: ["sid"]
        case .cmcd: ["cmcd", "CMCD"]
        case .cmcdSession: ["cmcd_session", "cmcd-session"]
        case .cmcdStatus: ["cmcd_status", "cmcd-status"]
        case .playbackSession: ["playback_session_id", "x-playback-session-id"]
        case .purpose: ["sec_purpose", "sec-purpose"]
        }
    }

    /// The CMCD session id alone, as Amazon's logs write it.
    static let cmcdSessionID = "cmcd-session-id"
    /// The request header fields that Cloudflare is configured to log, with lower-case names.
    static let headers = "RequestHeaders"
}
