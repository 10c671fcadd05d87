import Glibc
import NIOCore

/// A batch of RTMP messages in chunk form (Adobe RTMP specification 1.0, 5.3), ready for one write.
///
/// librtmp writes each message with its own system call; where latency does not matter, one call for many is much
/// cheaper. The bodies are not copied: a vectored write collects them.
struct MessageBatch: Sendable {
    /// The chunk size in bytes.
    static let chunkSize = 64 << 10

    /// Part of a message body, with the headers before it.
    private struct Piece: Sendable {
        /// The end of its headers in `headers`; they begin where those of the previous piece end.
        var headersEnd: Int
        var body: ByteBuffer
    }

    /// The chunk and message headers.
    private var headers: [UInt8] = []
    private var pieces: [Piece] = []
    /// Bytes in the batch.
    private(set) var count = 0

    /// The chunks, copied to one array.
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

    /// Calls `body` with the chunks as vectors, which are valid only until it returns.
    func withVectors<Result>(_ body: (UnsafeMutableBufferPointer<iovec>) -> Result) -> Result {
        headers.withUnsafeBytes { headers in
            withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2 * pieces.count) { vectors in
                var start = 0
                for (index, piece) in pieces.enumerated() {
                    let header = UnsafeRawBufferPointer(rebasing: headers[start..<piece.headersEnd])
                    vectors[2 * index] = Self.vector(of: header)
                    // The address outlives the closure because the piece keeps the memory alive.
                    vectors[2 * index + 1] = piece.body.withUnsafeReadableBytesWithStorageManagement { bytes, _ in
                        Self.vector(of: bytes)
                    }
                    start = piece.headersEnd
                }
                return body(vectors)
            }
        }
    }

    /// Returns a vector that is only read, although its type is mutable.
    private static func vector(of bytes: UnsafeRawBufferPointer) -> iovec {
        iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }

    /// Appends one message.
    ///
    /// The header is always a full one: with deltas, a decreasing timestamp would read as 49 days forward.
    ///
    /// - Parameters:
    ///   - channel: The chunk stream id, 2 to 63.
    ///   - timestamp: Absolute, in milliseconds.
    ///   - stream: The message stream id.
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
        // The only little-endian number in RTMP.
        appendBigEndian(UInt32(bitPattern: stream).byteSwapped, count: 4)
        if isExtended { appendBigEndian(timestamp, count: 4) }
        headers.append(contentsOf: prefix)
        var body = body
        var room = Self.chunkSize - prefix.count
        while let chunk = body.readSlice(length: min(room, body.readableBytes)) {
            pieces.append(Piece(headersEnd: headers.count, body: chunk))
            if body.readableBytes == 0 { break }
            // The remaining chunks have the shortest header, which repeats an extended timestamp.
            headers.append(0xC0 | channel)
            if isExtended { appendBigEndian(timestamp, count: 4) }
            room = Self.chunkSize
        }
        count += length + headers.count - before - prefix.count
    }

    /// Removes all messages and keeps the capacity.
    mutating func removeAll() {
        headers.removeAll(keepingCapacity: true)
        pieces.removeAll(keepingCapacity: true)
        count = 0
    }

    /// Appends the low `count` bytes of `value`, the most significant first.
    private mutating func appendBigEndian(_ value: UInt32, count: Int) {
        for place in (0..<count).reversed() { headers.append(UInt8(truncatingIfNeeded: value >> (8 * UInt32(place)))) }
    }
}

/// Writes a batch to a blocking socket, with as few calls as possible; returns false when the connection is broken.
func sendAll(_ batch: MessageBatch, on socket: Int32) -> Bool {
    batch.withVectors { vectors in
        var first = 0
        while first < vectors.count {
            var message = msghdr()
            message.msg_iov = vectors.baseAddress.map { $0 + first }
            // IOV_MAX of limits.h.
            message.msg_iovlen = min(vectors.count - first, 1024)
            let sent = sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            first = skip(sent, of: vectors, from: first)
        }
        return true
    }
}

/// Skips the sent bytes and empty vectors; returns the index of the first vector with unsent bytes.
private func skip(_ bytes: Int, of vectors: UnsafeMutableBufferPointer<iovec>, from first: Int) -> Int {
    var (bytes, index) = (bytes, first)
    while index < vectors.count, vectors[index].iov_len <= bytes {
        bytes -= vectors[index].iov_len
        index += 1
    }
    if bytes > 0 {
        vectors[index].iov_base = vectors[index].iov_base.map { $0 + bytes }
        vectors[index].iov_len -= bytes
    }
    return index
}
