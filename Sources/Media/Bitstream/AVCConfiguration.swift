public import NIOCore

/// The decoder configuration record of an H.264 stream (ISO/IEC 14496-15 5.3.3.1): its parameter sets and the size of
/// the NAL units' length prefix.
public struct AVCConfiguration: Sendable, Equatable {
    /// AVCProfileIndication: 66 Baseline, 77 Main, 100 High, ...
    public let profile: UInt8
    /// profile_compatibility: the constraint flags.
    public let constraints: UInt8
    /// AVCLevelIndication: ten times the level.
    public let level: UInt8
    /// Bytes of the length prefix of each NAL unit, 1 to 4.
    public let nalLengthSize: Int
    /// Sequence parameter sets, each a NAL unit with its header byte; at least one.
    public let sequenceParameterSets: [ByteBuffer]
    /// Picture parameter sets, each a NAL unit with its header byte; at least one.
    public let pictureParameterSets: [ByteBuffer]
    /// The first sequence parameter set, parsed.
    public let sps: SequenceParameterSet
    /// The whole record, as an `avcC` box holds it.
    public let record: ByteBuffer

    /// Parses a record; converts parameter sets with start codes, which some encoders send instead, to a record.
    ///
    /// - Parameter record: The readable bytes, without the FLV header in front.
    public init(_ record: ByteBuffer) throws(BitstreamError) {
        guard record.getInteger(at: record.readerIndex) == UInt8(0), NALUnits.isAnnexB(record) else {
            try self.init(reading: record)
            return
        }
        let units = NALUnits.units(inAnnexB: record)
        try self.init(
            sequenceParameterSets: units.filter { $0.kind == .sequenceParameters }.map(\.bytes),
            pictureParameterSets: units.filter { $0.kind == .pictureParameters }.map(\.bytes)
        )
    }

    private init(reading record: ByteBuffer) throws(BitstreamError) {
        var input = record
        guard let version: UInt8 = input.readInteger(), let profile: UInt8 = input.readInteger(),
            let constraints: UInt8 = input.readInteger(), let level: UInt8 = input.readInteger(),
            let lengthSize: UInt8 = input.readInteger(), let sequenceCount: UInt8 = input.readInteger()
        else { throw .truncated }
        guard version == 1 else { throw .invalid(field: "configurationVersion") }
        self.profile = profile
        self.constraints = constraints
        self.level = level
        nalLengthSize = Int(lengthSize & 3) + 1
        sequenceParameterSets = try Self.readUnits(&input, count: Int(sequenceCount & 0x1F))
        guard let parameterSetCount: UInt8 = input.readInteger() else { throw .truncated }
        pictureParameterSets = try Self.readUnits(&input, count: Int(parameterSetCount))
        guard let first = sequenceParameterSets.first else { throw .invalid(field: "numOfSequenceParameterSets") }
        guard !pictureParameterSets.isEmpty else { throw .invalid(field: "numOfPictureParameterSets") }
        sps = try SequenceParameterSet(first)
        self.record = record
    }

    /// Builds a record with 4-byte lengths from parameter sets; at most 31 of the first kind and 255 of the second.
    public init(
        sequenceParameterSets: [ByteBuffer],
        pictureParameterSets: [ByteBuffer]
    ) throws(BitstreamError) {
        guard let first = sequenceParameterSets.first, sequenceParameterSets.count <= 31 else {
            throw .invalid(field: "numOfSequenceParameterSets")
        }
        guard (1...255).contains(pictureParameterSets.count) else {
            throw .invalid(field: "numOfPictureParameterSets")
        }
        guard (sequenceParameterSets + pictureParameterSets).allSatisfy({ $0.readableBytes <= 0xFFFF }) else {
            throw .invalid(field: "parameter set length")
        }
        let sps = try SequenceParameterSet(first)
        var record = ByteBuffer(bytes: [1, sps.profile, sps.constraints, sps.level, 0xFF])
        record.writeInteger(0xE0 | UInt8(sequenceParameterSets.count))
        Self.write(sequenceParameterSets, to: &record)
        record.writeInteger(UInt8(pictureParameterSets.count))
        Self.write(pictureParameterSets, to: &record)
        if Self.profilesWithExtension.contains(sps.profile) {
            record.writeInteger(0xFC | UInt8(sps.chromaFormat))
            record.writeInteger(0xF8 | UInt8(sps.lumaBitDepth - 8))
            record.writeInteger(0xF8 | UInt8(sps.chromaBitDepth - 8))
            record.writeInteger(UInt8(0))
        }
        profile = sps.profile
        constraints = sps.constraints
        level = sps.level
        nalLengthSize = 4
        self.sequenceParameterSets = sequenceParameterSets
        self.pictureParameterSets = pictureParameterSets
        self.sps = sps
        self.record = record
    }

    /// The codec as playlists and browsers name it (RFC 6381), such as `avc1.4D401F`.
    public var codecString: String {
        "avc1." + [profile, constraints, level].map(Self.hexadecimal).joined()
    }

    /// Two configurations are equal when their bytes are.
    public static func == (left: AVCConfiguration, right: AVCConfiguration) -> Bool {
        left.record == right.record
    }

    private static let profilesWithExtension: Set<UInt8> = [100, 110, 122, 144, 244]

    private static func readUnits(_ input: inout ByteBuffer, count: Int) throws(BitstreamError) -> [ByteBuffer] {
        var units: [ByteBuffer] = []
        for _ in 0..<count {
            guard let length: UInt16 = input.readInteger(), let unit = input.readSlice(length: Int(length)) else {
                throw .truncated
            }
            units.append(unit)
        }
        return units
    }

    private static func write(_ units: [ByteBuffer], to record: inout ByteBuffer) {
        for unit in units {
            record.writeInteger(UInt16(unit.readableBytes))
            record.writeImmutableBuffer(unit)
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
    }
}
