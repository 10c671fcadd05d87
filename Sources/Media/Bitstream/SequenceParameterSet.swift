public import NIOCore

/// A parsed H.264 sequence parameter set (ITU-T H.264 7.3.2.1.1 and annex E).
public struct SequenceParameterSet: Sendable, Equatable {
    /// profile_idc: 66 Baseline, 77 Main, 100 High, ...
    public internal(set) var profile: UInt8 = 0
    /// The eight bits of constraint flags after the profile.
    public internal(set) var constraints: UInt8 = 0
    /// level_idc: ten times the level, so 31 is level 3.1.
    public internal(set) var level: UInt8 = 0
    /// chroma_format_idc: 0 grey, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public internal(set) var chromaFormat = 1
    /// Bits of a luma sample, 8 to 14.
    public internal(set) var lumaBitDepth = 8
    /// Bits of a chroma sample, 8 to 14.
    public internal(set) var chromaBitDepth = 8
    /// Width of a coded frame in pixels, a multiple of 16.
    public internal(set) var codedWidth = 0
    /// Height of a coded frame in pixels, a multiple of 16.
    public internal(set) var codedHeight = 0
    /// Width of the displayed frame: the coded width less the cropping.
    public internal(set) var width = 0
    /// Height of the displayed frame: the coded height less the cropping.
    public internal(set) var height = 0
    /// Whether frames may be coded as two fields.
    public internal(set) var isInterlaced = false
    /// The number of reference frames a decoder must keep, 0 to 16.
    public internal(set) var referenceFrames = 0
    /// The video usability information; nil when absent.
    public internal(set) var usability: VideoUsability?

    /// Parses a sequence parameter set.
    ///
    /// Damaged usability information is ignored rather than refused, because decoders do not need it.
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

    /// Frames per second, if present; live encoders often get it wrong.
    public var frameRate: Double? { usability?.frameRate }

    /// Width of a pixel over its height; (1, 1) when absent.
    public var sampleAspectRatio: (width: Int, height: Int) {
        usability?.sampleAspectRatio.map { ($0.width, $0.height) } ?? (1, 1)
    }
}

extension SequenceParameterSet {
    /// The profiles whose parameter sets carry the chroma format and bit depth (H.264 7.3.2.1.1).
    static let profilesWithChroma: Set<UInt8> = [44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244]

    /// The largest side in pixels that a level of H.264 allows; larger values mean damaged data.
    static let maximumSide = 16_384

    mutating func readChroma(_ reader: inout BitReader) throws(BitstreamError) {
        chromaFormat = Int(try reader.unsignedGolomb())
        guard chromaFormat <= 3 else { throw .invalid(field: "chroma_format_idc") }
        if chromaFormat == 3 { try reader.skip(1) }
        let luma = try reader.unsignedGolomb()
        let chroma = try reader.unsignedGolomb()
        guard luma <= 6, chroma <= 6 else { throw .invalid(field: "bit_depth") }
        lumaBitDepth = 8 + Int(luma)
        chromaBitDepth = 8 + Int(chroma)
        try reader.skip(1)
        guard try reader.flag() else { return }
        for list in 0..<(chromaFormat == 3 ? 12 : 8) where try reader.flag() {
            try skipScalingList(&reader, size: list < 6 ? 16 : 64)
        }
    }

    private func skipScalingList(_ reader: inout BitReader, size: Int) throws(BitstreamError) {
        var last: Int64 = 8
        for _ in 0..<size {
            let next = (last + (try reader.signedGolomb()) + 256) % 256
            if next == 0 { return }
            last = next
        }
    }

    mutating func readReferences(_ reader: inout BitReader) throws(BitstreamError) {
        guard try reader.unsignedGolomb() <= 12 else { throw .invalid(field: "log2_max_frame_num") }
        switch try reader.unsignedGolomb() {
        case 0:
            guard try reader.unsignedGolomb() <= 12 else { throw .invalid(field: "log2_max_pic_order_cnt_lsb") }
        case 1:
            try reader.skip(1)
            _ = try reader.signedGolomb()
            _ = try reader.signedGolomb()
            let cycle = try reader.unsignedGolomb()
            guard cycle <= 255 else { throw .invalid(field: "num_ref_frames_in_pic_order_cnt_cycle") }
            for _ in 0..<cycle { _ = try reader.signedGolomb() }
        case 2: break
        default: throw .invalid(field: "pic_order_cnt_type")
        }
        let references = try reader.unsignedGolomb()
        guard references <= 16 else { throw .invalid(field: "max_num_ref_frames") }
        referenceFrames = Int(references)
        try reader.skip(1)
    }

    mutating func readSize(_ reader: inout BitReader) throws(BitstreamError) {
        let columns = Int(try reader.unsignedGolomb()) + 1
        let rows = Int(try reader.unsignedGolomb()) + 1
        isInterlaced = !(try reader.flag())
        if isInterlaced { try reader.skip(1) }
        try reader.skip(1)
        let fields = isInterlaced ? 2 : 1
        guard columns <= Self.maximumSide / 16, rows <= Self.maximumSide / 16 / fields else {
            throw .invalid(field: "picture size")
        }
        codedWidth = columns * 16
        codedHeight = rows * 16 * fields
        width = codedWidth
        height = codedHeight
        guard try reader.flag() else { return }
        let unitWidth = chromaFormat == 1 || chromaFormat == 2 ? 2 : 1
        let unitHeight = (chromaFormat == 1 ? 2 : 1) * fields
        let left = Int(try reader.unsignedGolomb())
        let right = Int(try reader.unsignedGolomb())
        let top = Int(try reader.unsignedGolomb())
        let bottom = Int(try reader.unsignedGolomb())
        width -= (left + right) * unitWidth
        height -= (top + bottom) * unitHeight
        guard width > 0, height > 0 else { throw .invalid(field: "frame cropping") }
    }
}

/// Video usability information: how frames are meant to be displayed (ITU-T H.264 annex E).
public struct VideoUsability: Sendable, Equatable {
    /// Width and height of a pixel, in the smallest whole numbers the encoder wrote.
    public struct AspectRatio: Sendable, Equatable {
        /// At least 1.
        public let width: Int
        /// At least 1.
        public let height: Int
    }

    /// The encoder's unit of time; a tick is a field, so two ticks make a frame.
    public struct Tick: Sendable, Equatable {
        /// num_units_in_tick, at least 1.
        public let units: UInt32
        /// time_scale: units in a second, at least 1.
        public let scale: UInt32
    }

    /// How sample values map to colours (code points of ITU-T H.273).
    public struct Colour: Sendable, Equatable {
        /// 1 BT.709, 5 and 6 BT.601, 9 BT.2020, 2 unspecified.
        public let primaries: UInt8
        /// 1 BT.709, 6 BT.601, 13 sRGB, 16 PQ, 18 HLG, 2 unspecified.
        public let transfer: UInt8
        /// 1 BT.709, 5 and 6 BT.601, 9 BT.2020, 2 unspecified.
        public let matrix: UInt8
    }

    /// The shape of a pixel; nil when unspecified.
    public internal(set) var sampleAspectRatio: AspectRatio?
    /// Whether samples use the full range rather than 16 to 235; nil when unspecified.
    public internal(set) var isFullRange: Bool?
    /// The colour description; nil when unspecified.
    public internal(set) var colour: Colour?
    /// The timing information; nil when absent.
    public internal(set) var tick: Tick?
    /// Whether the encoder promises a constant frame rate.
    public internal(set) var hasFixedFrameRate = false
    /// max_num_reorder_frames, 0 to 16; nil when absent.
    public internal(set) var reorderedFrames: Int?

    /// Frames per second: time_scale over twice num_units_in_tick; nil when absent or beyond 1000.
    public var frameRate: Double? {
        guard let tick else { return nil }
        let rate = Double(tick.scale) / (2 * Double(tick.units))
        return rate <= 1000 ? rate : nil
    }

    init(_ reader: inout BitReader) throws(BitstreamError) {
        try readAspectRatio(&reader)
        if try reader.flag() { try reader.skip(1) }
        try readSignal(&reader)
        if try reader.flag() {
            _ = try reader.unsignedGolomb()
            _ = try reader.unsignedGolomb()
        }
        if try reader.flag() {
            let units = try reader.bits(32)
            let scale = try reader.bits(32)
            hasFixedFrameRate = try reader.flag()
            if units > 0, scale > 0 { tick = Tick(units: units, scale: scale) }
        }
        // The remaining fields matter little, and some encoders truncate them: keep what was parsed so far.
        reorderedFrames = try? Self.readReorderedFrames(&reader)
    }

    /// Table E-1: aspect_ratio_idc 1 to 16.
    private static let aspectRatios: [(Int, Int)] = [
        (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11),
        (80, 33), (18, 11), (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]

    private mutating func readAspectRatio(_ reader: inout BitReader) throws(BitstreamError) {
        guard try reader.flag() else { return }
        let index = Int(try reader.bits(8))
        if index == 255 {
            let width = Int(try reader.bits(16))
            let height = Int(try reader.bits(16))
            if width > 0, height > 0 { sampleAspectRatio = AspectRatio(width: width, height: height) }
        } else if (1...Self.aspectRatios.count).contains(index) {
            let (width, height) = Self.aspectRatios[index - 1]
            sampleAspectRatio = AspectRatio(width: width, height: height)
        }
    }

    private mutating func readSignal(_ reader: inout BitReader) throws(BitstreamError) {
        guard try reader.flag() else { return }
        try reader.skip(3)
        isFullRange = try reader.flag()
        guard try reader.flag() else { return }
        colour = Colour(
            primaries: UInt8(try reader.bits(8)),
            transfer: UInt8(try reader.bits(8)),
            matrix: UInt8(try reader.bits(8))
        )
    }

    private static func readReorderedFrames(_ reader: inout BitReader) throws(BitstreamError) -> Int? {
        let hasNetwork = try reader.flag()
        if hasNetwork { try skipDecoderModel(&reader) }
        let hasVideo = try reader.flag()
        if hasVideo { try skipDecoderModel(&reader) }
        if hasNetwork || hasVideo { try reader.skip(1) }
        try reader.skip(1)
        guard try reader.flag() else { return nil }
        try reader.skip(1)
        for _ in 0..<4 { _ = try reader.unsignedGolomb() }
        let reordered = try reader.unsignedGolomb()
        return reordered <= 16 ? Int(reordered) : nil
    }

    private static func skipDecoderModel(_ reader: inout BitReader) throws(BitstreamError) {
        let count = Int(try reader.unsignedGolomb()) + 1
        guard count <= 32 else { throw .invalid(field: "cpb_cnt") }
        try reader.skip(8)
        for _ in 0..<count {
            _ = try reader.unsignedGolomb()
            _ = try reader.unsignedGolomb()
            try reader.skip(1)
        }
        try reader.skip(20)
    }
}
