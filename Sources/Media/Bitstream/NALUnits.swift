public import NIOCore

/// The NAL units of a coded picture, each with a length prefix (ISO/IEC 14496-15 5.3.2): the form FLV and MP4 use.
///
/// Iteration is tolerant: it ends where a length makes no sense, and passes over units whose header is damaged.
public struct NALUnits: Sequence, IteratorProtocol, Sendable {
    private let payload: ByteBuffer
    private let lengthSize: Int
    private var index: Int

    /// The units in the readable bytes of `payload`.
    ///
    /// - Parameter lengthSize: Bytes of each length prefix, 1 to 4, as the configuration record says.
    public init(in payload: ByteBuffer, lengthSize: Int = 4) {
        self.payload = payload
        self.lengthSize = lengthSize
        index = payload.readerIndex
    }

    /// The next unit; nil after the last.
    public mutating func next() -> NALUnit? {
        while let length = Self.length(at: index, in: payload, size: lengthSize),
            let bytes = payload.getSlice(at: index + lengthSize, length: length)
        {
            index += lengthSize + length
            if let unit = NALUnit(bytes) { return unit }
        }
        return nil
    }

    /// Whether the prefixes lead exactly from the first byte of `payload` to its last, and no unit is empty.
    public static func areWellFormed(in payload: ByteBuffer, lengthSize: Int = 4) -> Bool {
        var index = payload.readerIndex
        guard index < payload.writerIndex else { return false }
        while index < payload.writerIndex {
            guard let length = length(at: index, in: payload, size: lengthSize), length > 0,
                length <= payload.writerIndex - index - lengthSize
            else { return false }
            index += lengthSize + length
        }
        return true
    }

    /// Whether nothing refers to the picture: it has slices, and nal_ref_idc is 0 in all of them.
    public static func isDisposable(_ payload: ByteBuffer, lengthSize: Int = 4) -> Bool {
        var hasSlice = false
        for unit in NALUnits(in: payload, lengthSize: lengthSize) where unit.kind.isSlice {
            if unit.referenceIDC > 0 { return false }
            hasSlice = true
        }
        return hasSlice
    }

    /// Whether the picture holds a slice of an instantaneous decoding refresh.
    public static func isKeyPicture(_ payload: ByteBuffer, lengthSize: Int = 4) -> Bool {
        NALUnits(in: payload, lengthSize: lengthSize).contains { $0.kind == .keySlice }
    }

    private static func length(at index: Int, in payload: ByteBuffer, size: Int) -> Int? {
        guard (1...4).contains(size), index + size <= payload.writerIndex else { return nil }
        var length = 0
        for offset in 0..<size {
            guard let byte: UInt8 = payload.getInteger(at: index + offset) else { return nil }
            length = length << 8 | Int(byte)
        }
        return length
    }
}
