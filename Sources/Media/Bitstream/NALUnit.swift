public import NIOCore

/// One network abstraction layer unit of an H.264 stream, without length prefix or start code.
public struct NALUnit: Sendable, Equatable {
    /// What a unit holds (ITU-T H.264 table 7-1); values not listed keep their number.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// nal_unit_type, 0 to 31.
        public let rawValue: UInt8

        /// The kind with that nal_unit_type.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// A slice of a picture that other pictures may be needed for.
        public static let slice = Kind(rawValue: 1)
        /// A slice of an instantaneous decoding refresh: decoding can begin here.
        public static let keySlice = Kind(rawValue: 5)
        /// Supplemental enhancement information.
        public static let supplement = Kind(rawValue: 6)
        /// A sequence parameter set.
        public static let sequenceParameters = Kind(rawValue: 7)
        /// A picture parameter set.
        public static let pictureParameters = Kind(rawValue: 8)
        /// An access unit delimiter.
        public static let delimiter = Kind(rawValue: 9)
        /// Padding.
        public static let filler = Kind(rawValue: 12)

        /// A slice or slice data partition of a primary picture, or a slice of a key picture.
        public var isSlice: Bool { (1...5).contains(rawValue) }
    }

    /// What the unit holds.
    public let kind: Kind
    /// nal_ref_idc, 0 to 3; 0 when nothing refers to the unit.
    public let referenceIDC: UInt8
    /// The unit with its header byte, a slice that shares storage with the payload.
    public let bytes: ByteBuffer

    /// The unit in `bytes`; nil without a header byte, or when the forbidden bit is set.
    public init?(_ bytes: ByteBuffer) {
        guard let header: UInt8 = bytes.getInteger(at: bytes.readerIndex), header & 0x80 == 0 else { return nil }
        kind = Kind(rawValue: header & 0x1F)
        referenceIDC = (header >> 5) & 3
        self.bytes = bytes
    }
}
