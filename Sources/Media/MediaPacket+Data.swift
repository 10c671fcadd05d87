import NIOCore

// For encoders that hand over plain bytes.

extension MediaPacket {
    /// A packet with the AVCDecoderConfigurationRecord of an H.264 stream, from bytes.
    public static func h264Configuration(data: some Sequence<UInt8>, timestamp: Int64) -> MediaPacket {
        h264Configuration(ByteBuffer(bytes: data), timestamp: timestamp)
    }

    /// A packet with one H.264 picture, from bytes: NAL units prefixed by 4-byte lengths.
    ///
    /// - Parameters:
    ///   - isDisposable: No other picture refers to this one (nal_ref_idc is 0 in all of its slices).
    ///   - timestamp: Decode time in milliseconds.
    ///   - compositionOffset: Presentation minus decode time in milliseconds.
    public static func h264Picture(
        data: some Collection<UInt8>,
        isKey: Bool,
        isDisposable: Bool = false,
        timestamp: Int64,
        compositionOffset: Int32 = 0
    ) -> MediaPacket {
        h264Picture(
            isKey: isKey,
            isDisposable: isDisposable,
            timestamp: timestamp,
            compositionOffset: compositionOffset,
            capacity: data.count
        ) { $0.writeBytes(data) }
    }

    /// A packet with the AudioSpecificConfig of an AAC stream, from bytes.
    public static func aacConfiguration(data: some Sequence<UInt8>, timestamp: Int64) -> MediaPacket {
        aacConfiguration(ByteBuffer(bytes: data), timestamp: timestamp)
    }

    /// A packet with one raw AAC frame (no ADTS header), from bytes.
    ///
    /// - Parameter timestamp: Time of the frame's first sample in milliseconds.
    public static func aacFrame(data: some Collection<UInt8>, timestamp: Int64) -> MediaPacket {
        aacFrame(timestamp: timestamp, capacity: data.count) { $0.writeBytes(data) }
    }
}
