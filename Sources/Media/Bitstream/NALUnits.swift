public import NIOCore

/// A sequence of the length-prefixed NAL units of an access unit (ISO/IEC 14496-15 5.3.2), the form FLV and MP4 use.
///
/// Iteration is tolerant: it ends at an invalid length and skips units whose header is damaged.
public struct NALUnits: Sequence, IteratorProtocol, Sendable {
    private let payload: ByteBuffer
    private let lengthSize: Int
    private var index: Int

    /// Makes a sequence of the units in the readable bytes of `payload`.
    ///
    /// - Parameter lengthSize: Bytes of each length prefix, 1 to 4, as the configuration record says.
    public init(in payload: ByteBuffer, lengthSize: Int = 4) {
        self.payload = payload
        self.lengthSize = lengthSize
        index = payload.readerIndex
    }

    /// Returns the next unit; nil after the last.
    public mutating func next() -> NALUnit? {
        while let length = Self.length(at: index, in: payload, size: lengthSize),
            let bytes = payload.getSlice(at: index + lengthSize, length: length)
        {
            index += lengthSize + length
            if let unit = NALUnit(bytes) { return unit }
        }
        return nil
    }

    /// Whether the length prefixes cover `payload` exactly, and no unit is empty.
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

    /// Whether the frame is disposable: it has slices, and nal_ref_idc is 0 in all of them.
    public static func isDisposable(_ payload: ByteBuffer, lengthSize: Int = 4) -> Bool {
        var hasSlice = false
        for unit in NALUnits(in: payload, lengthSize: lengthSize) where unit.kind.isSlice {
            if unit.referenceIDC > 0 { return false }
            hasSlice = true
        }
        return hasSlice
    }

    /// Whether the frame holds a slice of an IDR picture.
    public static func isKeyframe(_ payload: ByteBuffer, lengthSize: Int = 4) -> Bool {
        NALUnits(in: payload, lengthSize: lengthSize).contains { $0.kind == .idrSlice }
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

/// One network abstraction layer unit of an H.264 stream, without length prefix or start code.
public struct NALUnit: Sendable, Equatable {
    /// The type of a unit (ITU-T H.264 table 7-1); other values keep their number.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// nal_unit_type, 0 to 31.
        public let rawValue: UInt8

        /// Makes the kind with that nal_unit_type.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// A non-IDR slice.
        public static let slice = Kind(rawValue: 1)
        /// An IDR slice: decoding can begin here.
        public static let idrSlice = Kind(rawValue: 5)
        /// Supplemental enhancement information.
        public static let supplement = Kind(rawValue: 6)
        /// A sequence parameter set.
        public static let sequenceParameters = Kind(rawValue: 7)
        /// A picture parameter set.
        public static let pictureParameters = Kind(rawValue: 8)
        /// An access unit delimiter.
        public static let delimiter = Kind(rawValue: 9)

        /// Whether the unit is a slice, a slice data partition or an IDR slice.
        public var isSlice: Bool { (1...5).contains(rawValue) }
    }

    /// The type of the unit.
    public let kind: Kind
    /// nal_ref_idc, 0 to 3; 0 when nothing refers to the unit.
    public let referenceIDC: UInt8
    /// The unit with its header byte, a slice that shares storage with the payload.
    public let bytes: ByteBuffer

    /// Parses the unit in `bytes`; nil without a header byte, or when the forbidden bit is set.
    public init?(_ bytes: ByteBuffer) {
        guard let header: UInt8 = bytes.getInteger(at: bytes.readerIndex), header & 0x80 == 0 else { return nil }
        kind = Kind(rawValue: header & 0x1F)
        referenceIDC = (header >> 5) & 3
        self.bytes = bytes
    }
}

// ITU-T H.264 annex B: units follow start codes `00 00 01`, with any number of zero bytes before and after. Some
// encoders send this form where FLV requires length prefixes.

extension NALUnits {
    /// Whether `payload` is a byte stream with start codes rather than length-prefixed units.
    ///
    /// The first bytes alone do not decide: `00 00 01 2C` is also the length 300. A payload that begins like a start
    /// code but is also a well-formed sequence of lengths counts as length-prefixed.
    public static func isAnnexB(_ payload: ByteBuffer, lengthSize: Int = 4) -> Bool {
        guard let prefix = payload.getBytes(at: payload.readerIndex, length: Swift.min(4, payload.readableBytes)) else {
            return false
        }
        guard prefix.starts(with: [0, 0, 1]) || prefix == [0, 0, 0, 1] else { return false }
        return !areWellFormed(in: payload, lengthSize: lengthSize)
    }

    /// Returns the units of a byte stream with start codes, each a slice of `stream` without the zero bytes around it.
    public static func units(inAnnexB stream: ByteBuffer) -> [NALUnit] {
        var units: [NALUnit] = []
        let view = stream.readableBytesView
        var start: Int?
        var index = view.startIndex
        var zeros = 0

        func finish(before end: Int) {
            guard let start else { return }
            var last = end
            while last > start, view[last - 1] == 0 { last -= 1 }
            if last > start, let bytes = stream.getSlice(at: start, length: last - start), let unit = NALUnit(bytes) {
                units.append(unit)
            }
        }

        while index < view.endIndex {
            let byte = view[index]
            index += 1
            if byte == 1, zeros >= 2 {
                finish(before: index - 3)
                start = index
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        finish(before: view.endIndex)
        return units
    }

    /// Returns the same units with 4-byte length prefixes; empty when `stream` has no start code.
    ///
    /// - Parameter keepsParameterSets: False removes parameter sets and delimiters, which FLV carries separately.
    public static func lengthPrefixed(fromAnnexB stream: ByteBuffer, keepsParameterSets: Bool = true) -> ByteBuffer {
        var output = ByteBuffer()
        output.reserveCapacity(stream.readableBytes + 16)
        for unit in units(inAnnexB: stream) {
            switch unit.kind {
            case .sequenceParameters, .pictureParameters, .delimiter:
                guard keepsParameterSets else { continue }
            default: break
            }
            output.writeInteger(UInt32(unit.bytes.readableBytes))
            output.writeImmutableBuffer(unit.bytes)
        }
        return output
    }
}
