/// A table as comma-separated values (RFC 4180): UTF-8, a header, CRLF.
///
/// A text that a spreadsheet would take for a formula gets an apostrophe in front, so that nobody who names a room or a
/// rendition makes a formula of it. Numbers are written as they are.
struct CSVText {
    /// What stands in one place of the table.
    enum Cell: Sendable {
        case text(String)
        case number(Double)
        case count(Int)
        case nothing
    }

    private(set) var text: String

    init(header: [String]) {
        text = header.map(Self.escaped).joined(separator: ",") + "\r\n"
    }

    mutating func add(_ row: [Cell]) {
        text += row.map(Self.written).joined(separator: ",") + "\r\n"
    }

    private static func written(_ cell: Cell) -> String {
        switch cell {
        case .text(let text): escaped(guarded(text))
        case .number(let number): "\(number)"
        case .count(let count): "\(count)"
        case .nothing: ""
        }
    }

    private static func guarded(_ text: String) -> String {
        // By scalar: a combining mark behind the sign must not hide it.
        guard let first = text.unicodeScalars.first, "=+-@\t\r\n".unicodeScalars.contains(first) else { return text }
        return "'" + text
    }

    private static func escaped(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\"") && byte != 13 && byte != 10
        }
        guard !isPlain else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
