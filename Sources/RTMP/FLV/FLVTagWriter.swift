public import Media
public import NIOCore

/// Writes the FLV file format (Adobe FLV specification 10.1, Annex E) for files and HTTP-FLV.
public struct FLVTagWriter: Sendable {
    private init() {}

    /// Returns the file header and the first back pointer, 13 bytes.
    public static func header(hasAudio: Bool, hasVideo: Bool) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeString("FLV")
        buffer.writeInteger(UInt8(1))
        buffer.writeInteger((hasAudio ? 4 : 0) | (hasVideo ? 1 : 0) as UInt8)
        buffer.writeInteger(UInt32(9))
        buffer.writeInteger(UInt32(0))
        return buffer
    }

    /// The number of bytes of a tag beside its body, including the back pointer.
    public static let overhead = 15

    /// Appends a packet as one tag with its back pointer.
    ///
    /// - Parameters:
    ///   - packet: The packet; a body of 2^24 bytes or more is not written.
    ///   - timestamp: The tag's timestamp in milliseconds, written modulo 2^32.
    ///   - buffer: The buffer to append to.
    public static func write(_ packet: MediaPacket, timestamp: Int64, to buffer: inout ByteBuffer) {
        let length = packet.body.readableBytes
        guard length < 1 << 24 else { return }
        let time = UInt32(truncatingIfNeeded: timestamp)
        buffer.reserveCapacity(minimumWritableBytes: length + overhead)
        buffer.writeInteger(packet.messageType)
        buffer.writeInteger24(UInt32(length))
        buffer.writeInteger24(time & 0xFF_FFFF)
        buffer.writeInteger(UInt8(truncatingIfNeeded: time >> 24))
        buffer.writeInteger24(0)
        buffer.writeImmutableBuffer(packet.body)
        buffer.writeInteger(UInt32(length + 11))
    }
}
