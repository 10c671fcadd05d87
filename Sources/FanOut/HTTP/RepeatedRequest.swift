import HTTPTypes
import NIOCore

/// The bytes of a request for a media file, by which the next one for a file beside it is known.
struct RepeatedRequest {
    /// Of what a file was given, and to whom.
    struct File {
        let room: String
        let run: String
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

    /// Whether bytes are the head of one GET, whole, and nothing else.
    static func isBare(_ request: ByteBuffer) -> Bool {
        let bytes = request.readableBytesView
        guard bytes.starts(with: "GET ".utf8), bytes.suffix(4).elementsEqual(end) else { return false }
        // An empty line anywhere else is the end of another request.
        var index = bytes.startIndex
        while let next = bytes[index...].firstIndex(of: 13), next + 4 < bytes.endIndex {
            if bytes[next + 1] == 10, bytes[next + 2] == 13, bytes[next + 3] == 10 { return false }
            index = next + 1
        }
        return true
    }

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
