import Foundation

/// The items of a CMCD text: `br=3200,bs,sid="6e2fb550"`, as in a header field, a query or a line of a beacon.
public struct CMCDItems: Sendable {
    /// Characters of one text beyond which nothing is read.
    private static let limit = 8192

    /// The values by key, without quotes; of a key that stands alone, `true`.
    public private(set) var values: [String: String] = [:]

    init() {}

    /// Reads the items of a header field or of a line of a beacon; for the item of a query see `init(query:)`.
    public init(_ text: String) {
        merge(text)
    }

    /// - Parameter query: percent-encoded, as in an address.
    init(query: String) {
        merge(query.removingPercentEncoding ?? "")
    }

    /// Adds the items of another header field.
    mutating func merge(_ text: String) {
        for item in Self.items(of: text.prefix(Self.limit)) {
            guard let equals = item.firstIndex(of: "=") else {
                // A key alone means true.
                values[String(item)] = "true"
                continue
            }
            var value = item[item.index(after: equals)...]
            if value.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
            values[String(item[..<equals])] = String(value).replacing("\\\"", with: "\"")
        }
    }

    /// Split at commas that are in neither quotes nor parentheses.
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
    /// What the items say.
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

    /// A number, or the greatest of a list with one for each kind of media, `(128;a 4200;v)`: the picture's rate, and the
    /// longest wait.
    private static func number(_ text: String) -> Int? {
        text.split { $0 == "(" || $0 == ")" || $0 == " " }.compactMap { item in
            let digits = item.prefix { $0.isASCII && $0.isNumber }
            return digits.count <= 12 ? Int(digits) : nil
        }.max()
    }
}
