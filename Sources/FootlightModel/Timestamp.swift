import Foundation

/// A time as the API encodes it: RFC 3339 in UTC with milliseconds, `2026-05-01T18:30:00.250Z`.
public struct Timestamp: Codable, Sendable, Hashable, Comparable {
    /// Seconds since 1970.
    public var seconds: Double

    /// Creates a time.
    public init(_ seconds: Double) {
        self.seconds = seconds
    }

    /// Parses RFC 3339, with or without fractions of a second; nil for anything else.
    public init?(_ text: String) {
        let plain = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let date = (try? fractional.parse(text)) ?? (try? plain.parse(text)) else { return nil }
        self.init(date.timeIntervalSince1970)
    }

    /// The time in RFC 3339, rounded to the millisecond.
    public var text: String {
        // The formatter truncates, so 0.4 ms are added after rounding.
        let date = Date(timeIntervalSince1970: ((seconds * 1000).rounded() + 0.4) / 1000)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Decodes RFC 3339 text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Timestamp(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time")
        }
        self = value
    }

    /// Encodes RFC 3339 text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// Whether the left time is earlier.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.seconds < right.seconds
    }
}
