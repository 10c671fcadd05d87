public import NIOCore

// The legacy FLV video header (Adobe FLV specification 10.1, E.4.3): frame type and codec id, packet type, composition
// time in 24 bits. Ours is always the legacy form: large platforms misread enhanced tags for H.264.

extension MediaPacket {
    static let avcHeaderLength = 5

    /// A packet with the AVCDecoderConfigurationRecord of an H.264 stream.
    public static func h264Configuration(_ record: ByteBuffer, timestamp: Int64) -> MediaPacket {
        var body = ByteBuffer()
        body.reserveCapacity(avcHeaderLength + record.readableBytes)
        body.writeInteger(UInt8(0x17))
        body.writeRepeatingByte(0, count: 4)
        body.writeImmutableBuffer(record)
        return MediaPacket(
            content: .videoConfiguration(.h264),
            timestamp: timestamp,
            body: body,
            headerLength: avcHeaderLength
        )
    }

    /// A packet with one H.264 picture, NAL units prefixed by 4-byte lengths.
    ///
    /// - Parameters:
    ///   - isDisposable: No other picture refers to this one (nal_ref_idc is 0 in all of its slices).
    ///   - timestamp: Decode time in milliseconds.
    ///   - compositionOffset: Presentation minus decode time in milliseconds.
    ///   - capacity: An estimate of the picture's size in bytes, to allocate once.
    ///   - writePicture: Appends the picture's bytes to the buffer behind the header.
    public static func h264Picture(
        isKey: Bool,
        isDisposable: Bool,
        timestamp: Int64,
        compositionOffset: Int32 = 0,
        capacity: Int,
        writePicture: (inout ByteBuffer) -> Void
    ) -> MediaPacket {
        var body = ByteBuffer()
        body.reserveCapacity(avcHeaderLength + capacity)
        body.writeInteger(UInt8(isKey ? 0x17 : isDisposable ? 0x37 : 0x27))
        let composition = UInt32(bitPattern: compositionOffset) & 0xFF_FFFF
        body.writeInteger(UInt32(1) << 24 | composition)
        writePicture(&body)
        return MediaPacket(
            content: .picture(.h264, isKey: isKey, isDisposable: isDisposable),
            timestamp: timestamp,
            compositionOffset: compositionOffset,
            body: body,
            headerLength: avcHeaderLength
        )
    }
}
