public import Media
public import NIOCore

/// Parses the FLV file format incrementally.
public struct FLVReader: Sendable {
    private var input = ByteBuffer()
    private var hasHeader = false
    private var clock = TimestampUnwrapper()
    private let largestTag = RTMPLimits().mediaMessageBytes

    /// Creates a reader at the beginning of a file.
    public init() {}

    /// Appends bytes.
    public mutating func append(_ bytes: ByteBuffer) {
        guard input.readableBytes > 0 else {
            input = bytes
            return
        }
        // Returned packets may share the old storage, so the remainder is copied to a new buffer.
        var joined = ByteBufferAllocator().buffer(capacity: input.readableBytes + bytes.readableBytes)
        joined.writeImmutableBuffer(input)
        joined.writeImmutableBuffer(bytes)
        input = joined
    }

    /// Returns the next packet with its timestamp unwrapped to 64 bits, or nil if more bytes are needed.
    ///
    /// Tags without media are skipped.
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

extension FLVReader {
    /// Appends bytes read from a file.
    public mutating func append(data: some Sequence<UInt8>) {
        append(ByteBuffer(bytes: data))
    }
}

/// The reasons for which FLV data is rejected.
public enum FLVError: Error, Sendable, Equatable {
    /// The file does not begin with `FLV`.
    case notFLV
    /// The tag type is unknown or encrypted.
    case unknownTag(UInt8)
    /// The tag announces more bytes than the media limit.
    case tooLarge(Int)
}
