import NIOCore

extension ByteBuffer {
    /// Appends the low 24 bits of a number.
    mutating func writeInteger24(_ value: UInt32) {
        writeInteger(UInt8(truncatingIfNeeded: value >> 16))
        writeInteger(UInt16(truncatingIfNeeded: value))
    }

    /// Appends a message as chunks: a full header with the absolute time, then headers without fields.
    ///
    /// The extended timestamp is repeated behind every header, as FFmpeg's reader demands.
    ///
    /// - Parameters:
    ///   - message: The message; its timestamp is written as it is.
    ///   - chunkStream: 2 to 63.
    ///   - chunkSize: The size last announced to the peer.
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

    /// Bytes that `writeChunks` appends for a payload of that length.
    static func chunksLength(payload: Int, isExtended: Bool, chunkSize: Int) -> Int {
        let continuations = payload > chunkSize ? (payload - 1) / chunkSize : 0
        return 12 + payload + continuations + (isExtended ? 4 * (continuations + 1) : 0)
    }
}
