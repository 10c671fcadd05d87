import CZlib
import NIOCore

/// Bodies as gzip files (RFC 1952), for players that say they read them.
enum Gzip {
    /// Playlists repeat themselves so much that more effort gains nothing.
    private static let level: Int32 = 5

    /// The bytes compressed; nil when memory is short, and then they are sent as they are.
    static func compress(_ bytes: ByteBuffer) -> ByteBuffer? {
        var stream = z_stream()
        guard footlight_gzip_begin(&stream, level) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var output = ByteBuffer()
        let bound = Int(deflateBound(&stream, UInt(bytes.readableBytes)))
        var status = Z_STREAM_ERROR
        _ = bytes.withUnsafeReadableBytes { source in
            output.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { target in
                stream.next_in = UnsafeMutablePointer(
                    mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self)
                )
                stream.avail_in = UInt32(clamping: source.count)
                stream.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.avail_out = UInt32(clamping: target.count)
                // The output has room for the worst case, so one call does it all.
                status = deflate(&stream, Z_FINISH)
                return target.count - Int(stream.avail_out)
            }
        }
        return status == Z_STREAM_END ? output : nil
    }

    /// Whether a client that sent this `Accept-Encoding` reads gzip (RFC 9110 12.5.3).
    static func isAccepted(_ header: String?) -> Bool {
        guard let header else { return false }
        var anything = false
        for item in header.lowercased().split(separator: ",") {
            let pieces = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let coding = pieces.first else { continue }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if coding == "gzip" || coding == "x-gzip" { return weight > 0 }
            if coding == "*" { anything = weight > 0 }
        }
        return anything
    }
}
