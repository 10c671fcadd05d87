public import Media
public import NIOCore

/// Reads the FLV file format as its bytes come.
public struct FLVReader: Sendable {
    private var input = ByteBuffer()
    private var hasHeader = false
    private var clock = TimestampUnwrapper()
    private let largestTag = RTMPLimits().mediaMessageBytes

    /// A reader before the first byte of a file.
    public init() {}

    /// Takes bytes.
    public mutating func append(_ bytes: ByteBuffer) {
        guard input.readableBytes > 0 else {
            input = bytes
            return
        }
        // Packets may share the old storage, so what is left of it moves.
        var joined = ByteBufferAllocator().buffer(capacity: input.readableBytes + bytes.readableBytes)
        joined.writeImmutableBuffer(input)
        joined.writeImmutableBuffer(bytes)
        input = joined
    }

    /// The next packet, its timestamp unwrapped to 64 bits; nil when more bytes are needed.
    ///
    /// Tags that carry no media are skipped.
    public mutating func next() throws(FLVError) -> MediaPacket? {
        if !hasHeader {
            guard try readHeader() else { return nil }
        }
        while let message = try readTag() {
            if let packet = clock.packet(message) { return packet }
        }
        return nil
    }

    private mutating func readHeader() throws(FLVError) -> Bool {
        let start = input.readerIndex
        guard let signature = input.getString(at: start, length: 3) else { return false }
        guard signature == "FLV" else { throw .notFLV }
        guard let length = input.getInteger(at: start + 5, as: UInt32.self) else { return false }
        guard (9...1024).contains(length) else { throw .notFLV }
        guard input.readableBytes >= Int(length) + 4 else { return false }
        input.moveReaderIndex(forwardBy: Int(length) + 4)
        hasHeader = true
        return true
    }

    private mutating func readTag() throws(FLVError) -> RTMPMessage? {
        var rest = input
        guard let type = rest.readInteger(as: UInt8.self) else { return nil }
        guard type == MessageType.audio || type == MessageType.video || type == MessageType.data else {
            throw .unknownTag(type)
        }
        guard let length = rest.readInteger24() else { return nil }
        guard length <= largestTag else { throw .tooLarge(length) }
        guard let low = rest.readInteger24(), let high = rest.readInteger(as: UInt8.self), rest.readInteger24() != nil,
            let payload = rest.readSlice(length: length), rest.readInteger(as: UInt32.self) != nil
        else { return nil }
        input = rest
        return RTMPMessage(type: type, streamID: 0, timestamp: UInt32(high) << 24 | UInt32(low), payload: payload)
    }
}
