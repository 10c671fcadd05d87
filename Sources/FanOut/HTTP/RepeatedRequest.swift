import HTTPTypes
import NIOCore

/// The bytes of a request for a media file, by which the next one for a file beside it is known.
struct RepeatedRequest {
    /// Of what a file was given, and to whom.
    struct File {
        let room: String
        let run: String
        /// The session that the path names.
        let sid: String?
        /// The request's fields, by which its sender is known behind a proxy.
        let fields: HTTPFields
    }

    /// Names of our files are shorter.
    private static let longestName = 40
    private static let end = Array("\r\n\r\n".utf8)

    let file: File
    /// `GET /live/ROOM/RUN/`.
    private let start: [UInt8]
    /// From the space behind the name to the empty line.
    private let rest: [UInt8]

    /// Remembers a request that was answered with a whole file, and whose target has no query; nil for one of another form.
    init?(_ request: ByteBuffer, for file: File) {
        let bytes = request.readableBytesView
        guard let space = bytes.dropFirst(4).firstIndex(of: UInt8(ascii: " ")),
            let slash = bytes[..<space].lastIndex(of: UInt8(ascii: "/"))
        else { return nil }
        self.file = file
        start = Array(bytes[...slash])
        rest = Array(bytes[space...])
    }

    /// Whether bytes are the head of one GET of HTTP/1.1, whole, and nothing else, behind which another request comes.
    static func isBare(_ request: ByteBuffer) -> Bool {
        let bytes = request.readableBytesView
        guard bytes.starts(with: "GET ".utf8), bytes.suffix(4).elementsEqual(end) else { return false }
        var isFirst = true
        var start = bytes.startIndex
        while let lineEnd = bytes[start...].firstIndex(of: 13) {
            let line = bytes[start..<lineEnd]
            // A line that ends in anything else, and an empty line anywhere but at the end, are another request's.
            guard bytes[lineEnd...].starts(with: "\r\n".utf8), !line.contains(10) else { return false }
            if isFirst {
                guard line.suffix(9).elementsEqual(" HTTP/1.1".utf8) else { return false }
            } else if line.isEmpty {
                return lineEnd + 2 == bytes.endIndex
            } else if framingFields.contains(where: { line.hasName($0) }) {
                return false
            }
            isFirst = false
            start = lineEnd + 2
        }
        return false
    }

    /// Fields by which something else than a request follows the empty line.
    private static let framingFields = ["content-length", "transfer-encoding", "upgrade"].map { Array($0.utf8) }

    /// Whether another request would be remembered as the same.
    func resembles(_ request: ByteBuffer) -> Bool { fileName(in: request) != nil }

    /// The file that a request of the same form asks for; nil for all other requests.
    func fileName(in request: ByteBuffer) -> String? {
        request.withUnsafeReadableBytes { bytes in
            let length = bytes.count - start.count - rest.count
            guard length > 0, length <= Self.longestName, bytes.starts(with: start),
                bytes[(bytes.count - rest.count)...].elementsEqual(rest)
            else { return nil }
            let name = bytes[start.count..<(start.count + length)]
            guard name.allSatisfy(Self.isOfName) else { return nil }
            return String(decoding: name, as: UTF8.self)
        }
    }

    /// Nothing that would end the name, or mean something in a target.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }
}

extension ByteBufferView {
    /// Whether a line begins with the name of a field, given in small letters.
    fileprivate func hasName(_ name: [UInt8]) -> Bool {
        guard count > name.count else { return false }
        let isWhole = [UInt8(ascii: ":"), 9, 32].contains(self[startIndex + name.count])
        return isWhole && zip(self, name).allSatisfy { $0 | 0x20 == $1 }
    }
}
