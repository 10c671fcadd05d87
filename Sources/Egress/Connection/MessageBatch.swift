import NIOCore

/// RTMP messages laid out one behind the other as chunks (Adobe RTMP specification 1.0, 5.3), ready for one write.
///
/// librtmp writes each message with a call of its own; for a target that may wait, one call for many is much cheaper.
struct MessageBatch: Sendable {
    /// Bytes of a message in one chunk.
    static let chunkSize = 64 << 10

    /// The chunks laid so far.
    private(set) var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(Self.chunkSize)
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
        bytes.append(channel)
        appendBigEndian(isExtended ? 0xFF_FFFF : timestamp, count: 3)
        appendBigEndian(UInt32(truncatingIfNeeded: length), count: 3)
        bytes.append(type)
        // The one number in RTMP that is little-endian.
        appendBigEndian(UInt32(bitPattern: stream).byteSwapped, count: 4)
        if isExtended { appendBigEndian(timestamp, count: 4) }
        bytes.append(contentsOf: prefix)
        body.withUnsafeReadableBytes { body in
            var start = 0
            var room = Self.chunkSize - prefix.count
            while true {
                let end = min(start + room, body.count)
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: body[start..<end]))
                if end == body.count { return }
                // The rest follows in chunks with the shortest header, which repeats an extended timestamp.
                bytes.append(0xC0 | channel)
                if isExtended { appendBigEndian(timestamp, count: 4) }
                start = end
                room = Self.chunkSize
            }
        }
    }

    /// Forgets what was laid, and keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// The low `count` bytes of `value`, the highest of them first.
    private mutating func appendBigEndian(_ value: UInt32, count: Int) {
        for place in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt32(place)))) }
    }
}
