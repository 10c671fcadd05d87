import CZlib
import NIOCore

/// Compresses and expands gzip bodies (RFC 1952).
enum Gzip {
    /// The compression level; playlists are so repetitive that a higher one gains nothing.
    private static let level: Int32 = 5

    /// Returns the compressed bytes; nil if memory is short, and then the caller sends them uncompressed.
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
                // The output has room for the worst case, so one call is enough.
                status = deflate(&stream, Z_FINISH)
                return target.count - Int(stream.avail_out)
            }
        }
        return status == Z_STREAM_END ? output : nil
    }

    /// The reason why bytes cannot be expanded.
    enum Fault: Error, Equatable {
        case tooLarge
        /// The bytes are no gzip file, or only a part of one.
        case damaged
    }

    /// Whether a file starts with the gzip magic number (RFC 1952 section 2.3.1).
    static func isGzip(_ file: ByteBuffer) -> Bool {
        file.getInteger(at: file.readerIndex, as: UInt16.self) == 0x1F8B
    }

    /// Expands a gzip file of one or more members.
    ///
    /// - Parameter limit: The maximum size of the expanded bytes.
    static func expand(_ bytes: ByteBuffer, limit: Int) -> Result<ByteBuffer, Fault> {
        var stream = z_stream()
        guard footlight_gunzip_begin(&stream) == Z_OK else { return .failure(.damaged) }
        defer { inflateEnd(&stream) }
        var output = ByteBuffer()
        var fault: Fault?
        bytes.withUnsafeReadableBytes { source in
            stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.avail_in = UInt32(clamping: source.count)
            var isEnd = false
            while fault == nil, stream.avail_in > 0 || !isEnd {
                if isEnd { inflateReset(&stream) }
                isEnd = false
                var status = Z_STREAM_ERROR
                output.writeWithUnsafeMutableBytes(minimumWritableBytes: piece) { target in
                    stream.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.avail_out = UInt32(clamping: target.count)
                    status = inflate(&stream, Z_NO_FLUSH)
                    return target.count - Int(stream.avail_out)
                }
                isEnd = status == Z_STREAM_END
                if output.readableBytes > limit {
                    fault = .tooLarge
                } else if status != Z_OK, !isEnd {
                    fault = .damaged
                }
            }
        }
        return fault.map { .failure($0) } ?? .success(output)
    }

    /// The minimum number of bytes expanded at a time.
    private static let piece = 64 * 1024

    /// Whether a client with this `Accept-Encoding` accepts gzip (RFC 9110 section 12.5.3).
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
