import Crypto
import NIOCore

/// A file as it is served.
struct StaticFile: Sendable {
    let bytes: ByteBuffer
    /// The value of `Content-Type`.
    let contentType: String
    /// The value of `ETag`, which the bytes decide.
    let tag: String

    init(_ bytes: some Collection<UInt8>, name: String) {
        self.bytes = ByteBuffer(bytes: bytes)
        contentType = Self.contentType(of: name)
        let digest = SHA256.hash(data: [UInt8](bytes)).prefix(12)
        tag = "\"\(digest.map { Self.hexadecimal($0) }.joined())\""
    }

    private static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
