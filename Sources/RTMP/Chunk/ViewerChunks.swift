public import Media
public import NIOCore

/// Serializes media messages into chunks that are identical for every viewer, so that one buffer serves all.
///
/// Every message has a full header with an absolute timestamp (modulo 2^32), the same chunk size and message stream,
/// and one chunk stream per media type, so that no chunk depends on data sent earlier.
public enum ViewerChunks {
    /// The chunk size in bytes, announced to every peer of the server.
    public static let chunkSize = 60_000
    /// The message stream of all media, and the result of every `createStream`.
    static let streamID: UInt32 = 1

    /// Appends a packet; its timestamp is written modulo 2^32.
    public static func write(_ packet: MediaPacket, to buffer: inout ByteBuffer) {
        let message = RTMPMessage(
            type: packet.messageType,
            streamID: streamID,
            timestamp: UInt32(truncatingIfNeeded: packet.timestamp),
            payload: packet.body
        )
        buffer.writeChunks(message, chunkStream: chunkStream(of: packet), chunkSize: chunkSize)
    }

    /// Returns the number of bytes that `write` appends for a packet.
    public static func size(of packet: MediaPacket) -> Int {
        ByteBuffer.chunksLength(
            payload: packet.body.readableBytes,
            isExtended: UInt32(truncatingIfNeeded: packet.timestamp) >= 0xFF_FFFF,
            chunkSize: chunkSize
        )
    }

    private static func chunkStream(of packet: MediaPacket) -> UInt8 {
        if packet.isVideo { return 6 }
        return packet.isAudio ? 4 : 5
    }
}

extension ByteBuffer {
    /// Appends the low 24 bits of a number.
    mutating func writeInteger24(_ value: UInt32) {
        writeInteger(UInt8(truncatingIfNeeded: value >> 16))
        writeInteger(UInt16(truncatingIfNeeded: value))
    }

    /// Appends a message as chunks: one type-0 header with the absolute timestamp, then type-3 headers.
    ///
    /// The extended timestamp is repeated after every chunk header, as FFmpeg's reader requires.
    ///
    /// - Parameters:
    ///   - message: The message; its timestamp is written unchanged.
    ///   - chunkStream: 2 to 63.
    ///   - chunkSize: The chunk size last announced to the peer.
    mutating func writeChunks(_ message: RTMPMessage, chunkStream: UInt8, chunkSize: Int) {
        let extended: UInt32? = message.timestamp >= 0xFF_FFFF ? message.timestamp : nil
        reserveCapacity(
            minimumWritableBytes: Self.chunksLength(
                payload: message.payload.readableBytes,
                isExtended: extended != nil,
                chunkSize: chunkSize
            )
        )
        writeInteger(chunkStream & 0x3F)
        writeInteger24(extended == nil ? message.timestamp : 0xFF_FFFF)
        writeInteger24(UInt32(clamping: message.payload.readableBytes))
        writeInteger(message.type)
        writeInteger(message.streamID, endianness: .little)
        if let extended { writeInteger(extended) }
        var rest = message.payload
        while true {
            if let part = rest.readSlice(length: min(chunkSize, rest.readableBytes)) { writeImmutableBuffer(part) }
            guard rest.readableBytes > 0 else { return }
            writeInteger(0xC0 | chunkStream & 0x3F)
            if let extended { writeInteger(extended) }
        }
    }

    /// The number of bytes that `writeChunks` appends for a payload of this length.
    static func chunksLength(payload: Int, isExtended: Bool, chunkSize: Int) -> Int {
        let continuations = payload > chunkSize ? (payload - 1) / chunkSize : 0
        return 12 + payload + continuations + (isExtended ? 4 * (continuations + 1) : 0)
    }
}
