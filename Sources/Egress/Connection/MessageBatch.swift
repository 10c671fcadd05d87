import Glibc
import NIOCore

/// RTMP messages laid out one behind the other as chunks (Adobe RTMP specification 1.0, 5.3), ready for one write.
///
/// librtmp writes each message with a call of its own; for a target that may wait, one call for many is much cheaper.
/// The bodies stay where they are: the system collects them from there.
struct MessageBatch: Sendable {
    /// Bytes of a message in one chunk.
    static let chunkSize = 64 << 10

    /// Part of a message, with what is laid before it.
    private struct Piece: Sendable {
        /// Where its headers end among all headers; they begin where those of the piece before it end.
        var headersEnd: Int
        var body: ByteBuffer
    }

    /// What is not part of any body.
    private var headers: [UInt8] = []
    private var pieces: [Piece] = []
    /// Bytes laid so far.
    private(set) var count = 0

    /// The chunks laid so far, copied to one place.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var start = 0
        for piece in pieces {
            bytes += headers[start..<piece.headersEnd]
            bytes += piece.body.readableBytesView
            start = piece.headersEnd
        }
        return bytes
    }

    /// The chunks laid so far, where they are in memory; the addresses hold while `body` runs.
    func withVectors<Result>(_ body: (UnsafeMutableBufferPointer<iovec>) -> Result) -> Result {
        headers.withUnsafeBytes { headers in
            withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2 * pieces.count) { vectors in
                var start = 0
                for (index, piece) in pieces.enumerated() {
                    let header = UnsafeRawBufferPointer(rebasing: headers[start..<piece.headersEnd])
                    vectors[2 * index] = Self.vector(of: header)
                    // The address outlives the closure because the piece, and with it the memory, does.
                    vectors[2 * index + 1] = piece.body.withUnsafeReadableBytesWithStorageManagement { bytes, _ in
                        Self.vector(of: bytes)
                    }
                    start = piece.headersEnd
                }
                return body(vectors)
            }
        }
    }

    /// For reading only, though its type says otherwise.
    private static func vector(of bytes: UnsafeRawBufferPointer) -> iovec {
        iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }

    /// Lays one message behind the others.
    ///
    /// The header is always a full one: with deltas a step back in time would read as 49 days forward.
    ///
    /// - Parameters:
    ///   - channel: The chunk stream's number, 2 to 63.
    ///   - timestamp: Absolute, in milliseconds.
    ///   - stream: The message stream's number.
    ///   - prefix: Bytes before the body, within the first chunk.
    mutating func append(
        type: UInt8,
        channel: UInt8,
        timestamp: UInt32,
        stream: Int32,
        prefix: [UInt8] = [],
        body: ByteBuffer
    ) {
        let length = prefix.count + body.readableBytes
        let isExtended = timestamp >= 0xFF_FFFF
        let before = headers.count
        headers.append(channel)
        appendBigEndian(isExtended ? 0xFF_FFFF : timestamp, count: 3)
        appendBigEndian(UInt32(truncatingIfNeeded: length), count: 3)
        headers.append(type)
        // The one number in RTMP that is little-endian.
        appendBigEndian(UInt32(bitPattern: stream).byteSwapped, count: 4)
        if isExtended { appendBigEndian(timestamp, count: 4) }
        headers.append(contentsOf: prefix)
        var body = body
        var room = Self.chunkSize - prefix.count
        while let chunk = body.readSlice(length: min(room, body.readableBytes)) {
            pieces.append(Piece(headersEnd: headers.count, body: chunk))
            if body.readableBytes == 0 { break }
            // The rest follows in chunks with the shortest header, which repeats an extended timestamp.
            headers.append(0xC0 | channel)
            if isExtended { appendBigEndian(timestamp, count: 4) }
            room = Self.chunkSize
        }
        count += length + headers.count - before - prefix.count
    }

    /// Forgets what was laid, and keeps the memory.
    mutating func removeAll() {
        headers.removeAll(keepingCapacity: true)
        pieces.removeAll(keepingCapacity: true)
        count = 0
    }

    /// The low `count` bytes of `value`, the highest of them first.
    private mutating func appendBigEndian(_ value: UInt32, count: Int) {
        for place in (0..<count).reversed() { headers.append(UInt8(truncatingIfNeeded: value >> (8 * UInt32(place)))) }
    }
}
