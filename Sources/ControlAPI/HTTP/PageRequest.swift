import Foundation
import GatewayModel
import Hummingbird
import Stage

/// Which part of a list is wanted: `page_size` entries from behind the one that `page_token` names.
struct PageRequest {
    /// An entry's place in its list, good for going on behind it even after it is gone.
    struct Mark: Equatable {
        /// Seconds since 1970; rises along the list.
        let at: Double
        let sid: String

        init(at: Double, sid: String) {
            self.at = at
            self.sid = sid
        }

        /// Reads what `text` wrote; nil for anything else.
        init?(_ text: String) {
            guard text.utf8.count <= 256, let data = Data(base64Encoded: text) else { return nil }
            let parts = String(decoding: data, as: UTF8.self).split(separator: " ")
            guard parts.count == 2, let bits = UInt64(parts[0], radix: 16) else { return nil }
            self.init(at: Double(bitPattern: bits), sid: String(parts[1]))
        }

        /// Opaque to clients; letters, digits, `=` only when given a hexadecimal sid.
        var text: String {
            Data("\(String(at.bitPattern, radix: 16)) \(sid)".utf8).base64EncodedString()
        }
    }

    static let usualSize = 50
    static let sizes = 1...100

    let size: Int
    let mark: Mark?

    /// Reads a request's query.
    ///
    /// - Throws: 3073 for a size out of range or a token that is none.
    init(_ request: Request) throws(StageError) {
        size = try Self.size(of: request)
        if let text = request.uri.queryParameters.get("page_token"), !text.isEmpty {
            guard let mark = Mark(text) else {
                throw .invalidParameter("page_token", "must be the next_page_token of an earlier answer")
            }
            self.mark = mark
        } else {
            mark = nil
        }
    }

    /// How many entries are wanted.
    ///
    /// - Throws: 3073 for a size out of range.
    static func size(of request: Request) throws(StageError) -> Int {
        guard let text = request.uri.queryParameters.get("page_size") else { return usualSize }
        guard let size = Int(text), sizes.contains(size) else {
            throw .invalidParameter("page_size", "must be between \(sizes.lowerBound) and \(sizes.upperBound)")
        }
        return size
    }

    /// The wanted part of `entries`, and where the list goes on.
    func page<Entry>(of entries: [Entry], mark: (Entry) -> Mark) -> (entries: [Entry], meta: PageResource) {
        let start = self.mark.map { known in
            if let index = entries.firstIndex(where: { mark($0).sid == known.sid }) { return index + 1 }
            return entries.firstIndex { mark($0).at > known.at } ?? entries.endIndex
        }
        let page = Array(entries[(start ?? 0)...].prefix(size))
        let isLast = (start ?? 0) + page.count >= entries.count
        let next = isLast ? nil : page.last.map { mark($0).text }
        return (page, PageResource(pageSize: size, nextPageToken: next))
    }
}
