import Foundation
import FootlightModel
import Hummingbird
import Stage

/// The page of a list that a request asks for: `page_size` entries after the one that `page_token` names.
struct PageRequest {
    /// The position of an entry in its list, valid even after the entry is removed.
    struct Cursor: Equatable {
        /// Seconds since 1970; increases along the list.
        let at: Double
        let sid: String

        init(at: Double, sid: String) {
            self.at = at
            self.sid = sid
        }

        /// Parses a page token; nil if it is malformed.
        init?(_ text: String) {
            guard text.utf8.count <= 256, let data = Data(base64Encoded: text) else { return nil }
            let parts = String(decoding: data, as: UTF8.self).split(separator: " ")
            guard parts.count == 2, let bits = UInt64(parts[0], radix: 16) else { return nil }
            self.init(at: Double(bitPattern: bits), sid: String(parts[1]))
        }

        /// The opaque page token; letters, digits and `=` only, given a hexadecimal sid.
        var text: String {
            Data("\(String(at.bitPattern, radix: 16)) \(sid)".utf8).base64EncodedString()
        }
    }

    static let defaultSize = 50
    static let sizes = 1...100

    let size: Int
    let cursor: Cursor?

    /// Parses a request's query.
    ///
    /// - Throws: 3073 for a size out of range or a malformed token.
    init(_ request: Request) throws(StageError) {
        size = try Self.size(of: request)
        if let text = request.uri.queryParameters.get("page_token"), !text.isEmpty {
            guard let cursor = Cursor(text) else {
                throw .invalidParameter("page_token", "must be the next_page_token of an earlier answer")
            }
            self.cursor = cursor
        } else {
            cursor = nil
        }
    }

    /// Returns the requested page size.
    ///
    /// - Throws: 3073 for a size out of range.
    static func size(of request: Request) throws(StageError) -> Int {
        guard let text = request.uri.queryParameters.get("page_size") else { return defaultSize }
        guard let size = Int(text), sizes.contains(size) else {
            throw .invalidParameter("page_size", "must be between \(sizes.lowerBound) and \(sizes.upperBound)")
        }
        return size
    }

    /// Returns the requested page of `entries`, and the token of the next one.
    func page<Entry>(of entries: [Entry], cursor: (Entry) -> Cursor) -> (entries: [Entry], meta: PageResource) {
        let start = self.cursor.map { known in
            if let index = entries.firstIndex(where: { cursor($0).sid == known.sid }) { return index + 1 }
            return entries.firstIndex { cursor($0).at > known.at } ?? entries.endIndex
        }
        let page = Array(entries[(start ?? 0)...].prefix(size))
        let isLast = (start ?? 0) + page.count >= entries.count
        let next = isLast ? nil : page.last.map { cursor($0).text }
        return (page, PageResource(pageSize: size, nextPageToken: next))
    }
}
