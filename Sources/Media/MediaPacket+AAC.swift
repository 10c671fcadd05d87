public import NIOCore

// The FLV audio header for AAC (Adobe FLV specification 10.1, E.4.2): always 0xAF whatever the rate and channels really
// are, which the AudioSpecificConfig says; then the packet type.

extension MediaPacket {
    static let aacHeaderLength = 2

    /// A packet with the AudioSpecificConfig of an AAC stream.
    public static func aacConfiguration(_ configuration: ByteBuffer, timestamp: Int64) -> MediaPacket {
        aac(.audioConfiguration(.aac), packetType: 0, timestamp: timestamp, capacity: configuration.readableBytes) {
            $0.writeImmutableBuffer(configuration)
        }
    }

    /// A packet with one raw AAC frame (no ADTS header).
    ///
    /// - Parameters:
    ///   - timestamp: Time of the frame's first sample in milliseconds.
    ///   - capacity: An estimate of the frame's size in bytes, to allocate once.
    ///   - writeFrame: Appends the frame's bytes to the buffer behind the header.
    public static func aacFrame(
        timestamp: Int64,
        capacity: Int,
        writeFrame: (inout ByteBuffer) -> Void
    ) -> MediaPacket {
        aac(.sound(.aac), packetType: 1, timestamp: timestamp, capacity: capacity, write: writeFrame)
    }

    private static func aac(
        _ content: Content,
        packetType: UInt8,
        timestamp: Int64,
        capacity: Int,
        write: (inout ByteBuffer) -> Void
    ) -> MediaPacket {
        var body = ByteBuffer()
        body.reserveCapacity(aacHeaderLength + capacity)
        body.writeInteger(UInt8(0xAF))
        body.writeInteger(packetType)
        write(&body)
        return MediaPacket(content: content, timestamp: timestamp, body: body, headerLength: aacHeaderLength)
    }
}
