import Foundation

/// A CMCD report of a player (CTA-5004), version 1 or 2.
public struct PlayerReport: Sendable, Equatable {
    /// The session id: one of this gateway, or one of the player's own.
    public var sid: String?
    /// The content id: the room.
    public var contentID: String?
    /// Whether the player plays; true for a report without a state.
    public var isPlaying = true
    /// Whether the player is paused; nil when the report does not say.
    public var isPaused: Bool?
    /// Whether playback has ended, failed or been abandoned.
    public var isEnd = false
    /// Whether the player uses LL-HLS.
    public var isLowLatency = false
    /// Rebuffering time since the last report, in milliseconds.
    public var stalled: Int?
    /// Startup time, from the play request to the first frame, in milliseconds.
    public var startup: Int?
    /// The encoded bit rate, in kbit/s.
    public var bitrate: Int?
    /// The rendition, when the bit rate determines it.
    public var rendition: String?

    /// Creates an empty report.
    public init() {}
}

/// The key-value pairs of a CMCD text: `br=3200,bs,sid="6e2fb550"`, in a header field, a query or a line of a report.
public struct CMCDItems: Sendable {
    /// The maximum number of characters that are parsed.
    private static let limit = 8192

    /// The unquoted values by key; `true` for a key without a value.
    public private(set) var values: [String: String] = [:]

    init() {}

    /// Parses a header field or a line of a report; for a query see `init(query:)`.
    public init(_ text: String) {
        merge(text)
    }

    /// - Parameter query: The percent-encoded value of the query item.
    init(query: String) {
        merge(query.removingPercentEncoding ?? "")
    }

    /// Adds the pairs of another header field.
    mutating func merge(_ text: String) {
        for item in Self.items(of: text.prefix(Self.limit)) {
            guard let equals = item.firstIndex(of: "=") else {
                // A key without a value is true.
                values[String(item)] = "true"
                continue
            }
            var value = item[item.index(after: equals)...]
            if value.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
            values[String(item[..<equals])] = String(value).replacing("\\\"", with: "\"")
        }
    }

    /// Splits at commas outside of quotes and parentheses.
    private static func items(of text: Substring) -> [Substring] {
        var items: [Substring] = []
        var start = text.startIndex
        var (isQuoted, isEscaped, depth) = (false, false, 0)
        for index in text.indices {
            let character = text[index]
            switch character {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted: depth -= 1
            case "," where !isQuoted && depth <= 0:
                items.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        items.append(text[start...])
        return items.map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
    }
}

extension PlayerReport {
    /// Creates a report from CMCD pairs.
    public init(_ items: CMCDItems) {
        self.init()
        let values = items.values
        sid = values["sid"]
        contentID = values["cid"]
        isLowLatency = values["sf"] == "h" && values["st"] == "ll"
        bitrate = values["br"].flatMap { Self.number($0) }
        stalled = values["bsd"].flatMap { Self.number($0) }
        startup = values["msd"].flatMap { Self.number($0) }
        switch values["sta"] {
        case "p", "r", "k", "w":
            isPaused = false
        case "a":
            isPlaying = false
            isPaused = true
        case "s", "d":
            isPlaying = false
        case "e", "f", "q":
            isPlaying = false
            isEnd = true
        default: break
        }
    }

    /// Parses a number, or the maximum of a list with one per media type such as `(128;a 4200;v)`: the video bit rate,
    /// and the longest stall.
    private static func number(_ text: String) -> Int? {
        text.split { $0 == "(" || $0 == ")" || $0 == " " }.compactMap { item in
            let digits = item.prefix { $0.isASCII && $0.isNumber }
            return digits.count <= 12 ? Int(digits) : nil
        }.max()
    }
}
