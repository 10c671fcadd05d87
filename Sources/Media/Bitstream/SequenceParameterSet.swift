public import NIOCore

/// What an H.264 sequence parameter set says about the pictures that follow (ITU-T H.264 7.3.2.1.1 and annex E).
public struct SequenceParameterSet: Sendable, Equatable {
    /// profile_idc: 66 Baseline, 77 Main, 100 High, ...
    public internal(set) var profile: UInt8 = 0
    /// The eight bits of constraint flags behind the profile.
    public internal(set) var constraints: UInt8 = 0
    /// level_idc: ten times the level, so 31 is level 3.1.
    public internal(set) var level: UInt8 = 0
    /// chroma_format_idc: 0 grey, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public internal(set) var chromaFormat = 1
    /// Bits of a luma sample, 8 to 14.
    public internal(set) var lumaBitDepth = 8
    /// Bits of a chroma sample, 8 to 14.
    public internal(set) var chromaBitDepth = 8
    /// Width of a coded picture in pixels, a multiple of 16.
    public internal(set) var codedWidth = 0
    /// Height of a coded picture in pixels, a multiple of 16.
    public internal(set) var codedHeight = 0
    /// Width of what is shown: the coded width less the cropping.
    public internal(set) var width = 0
    /// Height of what is shown: the coded height less the cropping.
    public internal(set) var height = 0
    /// Pictures may be coded as two fields.
    public internal(set) var isInterlaced = false
    /// How many pictures a decoder must keep for reference, 0 to 16.
    public internal(set) var referenceFrames = 0
    /// What is said beyond the pictures' size; nil when the set says nothing.
    public internal(set) var usability: VideoUsability?

    /// Reads a sequence parameter set.
    ///
    /// Damaged usability information is left out rather than refused: decoders do without it.
    ///
    /// - Parameter unit: The NAL unit with its header byte, and without length prefix or start code.
    public init(_ unit: ByteBuffer) throws(BitstreamError) {
        guard let header = NALUnit(unit) else { throw .truncated }
        guard header.kind == .sequenceParameters else { throw .invalid(field: "nal_unit_type") }
        var reader = BitReader(unit, skipsEmulationPrevention: true)
        try reader.skip(8)
        profile = UInt8(try reader.bits(8))
        constraints = UInt8(try reader.bits(8))
        level = UInt8(try reader.bits(8))
        guard try reader.unsignedGolomb() < 32 else { throw .invalid(field: "seq_parameter_set_id") }
        if Self.profilesWithChroma.contains(profile) { try readChroma(&reader) }
        try readReferences(&reader)
        try readSize(&reader)
        if (try? reader.flag()) == true { usability = try? VideoUsability(&reader) }
    }

    /// Pictures per second if the set says; it is a hint, and live encoders often get it wrong.
    public var frameRate: Double? { usability?.frameRate }

    /// Width of a pixel over its height; (1, 1) when the set does not say.
    public var sampleAspectRatio: (width: Int, height: Int) {
        usability?.sampleAspectRatio.map { ($0.width, $0.height) } ?? (1, 1)
    }
}
