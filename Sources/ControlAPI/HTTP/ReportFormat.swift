import Foundation
import GatewayModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// How a report is wanted: as JSON, as a table, or as a line of JSON for each row.
enum ReportFormat: String {
    case json
    case csv
    case jsonLines = "jsonl"

    private static let types: [(String, ReportFormat)] = [
        ("text/csv", .csv), ("application/jsonl", .jsonLines), ("application/x-ndjson", .jsonLines),
        ("application/json", .json),
    ]

    /// By the end of the path, the query item `format`, or `Accept`, in this order.
    ///
    /// - Throws: 3073 for a format that there is not.
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

    /// The answer, or 304 to a client that has it already.
    ///
    /// - Parameters:
    ///   - whole: what JSON has.
    ///   - rows: what the other two have.
    ///   - name: of the file that a browser makes of it, without its ending.
    ///   - timeless: `whole` without the moment that it is of, where it has one: as long as that stays the same, nothing
    ///     has changed.
    func answer<Whole: Encodable, Row: ReportRow>(
        _ whole: Whole,
        rows: [Row],
        name: String,
        timeless: Whole? = nil,
        to request: Request
    ) throws -> Response {
        let content = try WireJSON.encode(timeless ?? whole) + Array(rawValue.utf8)
        let tag = EntityTag(of: content, isWeak: timeless != nil)
        return tag.answer(
            tag.isHeld(by: request)
                ? Response(status: .notModified) : try response(whole, rows: rows, name: name)
        )
    }

    private func response<Row: ReportRow>(_ whole: some Encodable, rows: [Row], name: String) throws -> Response {
        switch self {
        case .json:
            return try Reply.json(whole)
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

/// A row of a report, as JSON has it and as a table has it: there it takes one line or more.
protocol ReportRow: Encodable {
    static var columns: [String] { get }
    var lines: [[CSVText.Cell]] { get }
}
