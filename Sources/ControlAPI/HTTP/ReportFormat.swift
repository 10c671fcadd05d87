import Foundation
import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// The format of a report: JSON, CSV, or JSON Lines.
enum ReportFormat: String {
    case json
    case csv
    case jsonLines = "jsonl"

    private static let types: [(String, ReportFormat)] = [
        ("text/csv", .csv), ("application/jsonl", .jsonLines), ("application/x-ndjson", .jsonLines),
        ("application/json", .json),
    ]

    /// Reads the format from the path's extension, the query item `format`, or `Accept`, in this order.
    ///
    /// - Throws: 3073 for an unknown format.
    init(_ request: Request) throws(StageError) {
        let path = request.uri.path
        if let named = [ReportFormat.csv, .jsonLines].first(where: { path.hasSuffix("." + $0.rawValue) }) {
            self = named
        } else if let name = request.uri.queryParameters.get("format") {
            guard let format = ReportFormat(rawValue: name) else {
                throw .invalidParameter("format", "must be json, csv or jsonl")
            }
            self = format
        } else {
            let accepted = request.headers[.accept]?.lowercased() ?? ""
            let found = Self.types.compactMap { type, format in
                accepted.firstRange(of: type).map { ($0.lowerBound, format) }
            }
            self = found.min { $0.0 < $1.0 }?.1 ?? .json
        }
    }

    /// Returns the report, or 304 if the client has it already.
    ///
    /// - Parameters:
    ///   - whole: The content of the JSON format.
    ///   - rows: The content of the other two formats.
    ///   - name: The file name without extension.
    ///   - withoutTimestamp: `whole` without its time, if it has one; determines whether the report has changed.
    func answer<Whole: Encodable, Row: ReportRow>(
        _ whole: Whole,
        rows: [Row],
        name: String,
        withoutTimestamp: Whole? = nil,
        to request: Request
    ) throws -> Response {
        let content = try WireJSON.encode(withoutTimestamp ?? whole) + Array(rawValue.utf8)
        let tag = EntityTag(of: content, isWeak: withoutTimestamp != nil)
        return tag.answer(
            tag.isMatched(by: request)
                ? Response(status: .notModified) : try response(whole, rows: rows, name: name)
        )
    }

    private func response<Row: ReportRow>(_ whole: some Encodable, rows: [Row], name: String) throws -> Response {
        switch self {
        case .json:
            return try APIResponse.json(whole)
        case .csv:
            var table = CSVText(header: Row.columns)
            for line in rows.flatMap(\.lines) { table.add(line) }
            return file(ByteBuffer(string: table.text), type: "text/csv; charset=utf-8; header=present", name: name)
        case .jsonLines:
            var lines = ByteBuffer()
            for row in rows {
                lines.writeBytes(try WireJSON.encode(row))
                lines.writeString("\n")
            }
            return file(lines, type: "application/jsonl; charset=utf-8", name: name)
        }
    }

    private func file(_ bytes: ByteBuffer, type: String, name: String) -> Response {
        let plain = String(
            name.unicodeScalars.filter {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_".unicodeScalars.contains($0))
            }
        )
        return Response(
            status: .ok,
            headers: [
                .contentType: type,
                .contentLength: String(bytes.readableBytes),
                .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"\(plain).\(rawValue)\"",
            ],
            body: ResponseBody(byteBuffer: bytes)
        )
    }
}

/// A row of a report, as a JSON value and as one or more lines of a CSV table.
protocol ReportRow: Encodable {
    static var columns: [String] { get }
    var lines: [[CSVText.Cell]] { get }
}

/// A table of comma-separated values (RFC 4180): UTF-8, a header line, CRLF.
///
/// A text that a spreadsheet would interpret as a formula is prefixed with an apostrophe, so that the name of a room or
/// rendition cannot inject a formula. Numbers are written unchanged.
struct CSVText {
    /// The content of one cell.
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
        // Compared by Unicode scalar, so that a combining mark after the sign does not hide it.
        guard let first = text.unicodeScalars.first, "=+-@\t\r\n".unicodeScalars.contains(first) else { return text }
        return "'" + text
    }

    /// Returns a text without the apostrophe by which `add` protects it.
    static func unguarded(_ text: String) -> String {
        guard text.hasPrefix("'"), guarded(String(text.dropFirst())) == text else { return text }
        return String(text.dropFirst())
    }

    /// Parses the rows of a table (RFC 4180); lines may end with LF alone.
    ///
    /// - Throws: 53004 for a quoted cell without an end.
    static func rows(of text: String) throws(StageError) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var cell: [UInt8] = []
        var isQuoted = false
        var previousQuote = false
        var bytes = Array(text.utf8)
        // A byte order mark, as spreadsheets write.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        for byte in bytes where byte != UInt8(ascii: "\r") || isQuoted {
            if isQuoted {
                if byte == UInt8(ascii: "\"") {
                    isQuoted = false
                    previousQuote = true
                } else {
                    cell.append(byte)
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                // A doubled quote inside of a quoted cell is one quote.
                if previousQuote { cell.append(byte) }
                isQuoted = true
            case UInt8(ascii: ","):
                row.append(String(decoding: cell, as: UTF8.self))
                cell = []
            case UInt8(ascii: "\n"):
                row.append(String(decoding: cell, as: UTF8.self))
                rows.append(row)
                (row, cell) = ([], [])
            default:
                cell.append(byte)
            }
            previousQuote = false
        }
        guard !isQuoted else { throw .malformed("line \(rows.count + 1): a quote has no end") }
        if !cell.isEmpty || !row.isEmpty { rows.append(row + [String(decoding: cell, as: UTF8.self)]) }
        return rows
    }

    private static func escaped(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\"") && byte != 13 && byte != 10
        }
        guard !isPlain else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}

extension CSVText.Cell {
    static func time(_ time: Timestamp?) -> CSVText.Cell {
        time.map { .text($0.text) } ?? .nothing
    }

    static func optional(_ text: String?) -> CSVText.Cell {
        text.map { .text($0) } ?? .nothing
    }

    static func optional(_ number: Double?) -> CSVText.Cell {
        number.map { .number($0) } ?? .nothing
    }

    static func optional(_ count: Int?) -> CSVText.Cell {
        count.map { .count($0) } ?? .nothing
    }
}

/// An entity tag that identifies the state of a report (RFC 9110 8.8.3), for conditional requests.
struct EntityTag: Equatable {
    /// The tag as it stands in a header field.
    let text: String

    /// - Parameters:
    ///   - content: The report's bytes.
    ///   - isWeak: Whether responses with the same tag are equivalent but not byte-identical.
    init(of content: some Sequence<UInt8>, isWeak: Bool) {
        // FNV-1a, 64 bits: a collision between two successive reports of one URL must be improbable.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in content { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        text = (isWeak ? "W/" : "") + "\"\(String(hash, radix: 36))\""
    }

    /// Whether a request's `If-None-Match` contains the tag (RFC 9110 13.1.2, weak comparison).
    func isMatched(by request: Request) -> Bool {
        guard let held = request.headers[.ifNoneMatch] else { return false }
        return held.split(separator: ",").contains { item in
            let tag = item.filter { $0 != " " && $0 != "\t" }
            return tag == "*" || Self.strong(tag) == Self.strong(text)
        }
    }

    private static func strong(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }

    /// Returns the response with its tag.
    func answer(_ response: Response) -> Response {
        var response = response
        response.headers[.eTag] = text
        // Cacheable with revalidation. A response that contains its time must not be cached: the browser would show the
        // old time with figures that have not changed since.
        response.headers[.cacheControl] = text.hasPrefix("W/") ? "no-store" : "private, no-cache"
        return response
    }
}
