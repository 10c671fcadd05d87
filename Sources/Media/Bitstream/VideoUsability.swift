/// Video usability information: how pictures are meant to be shown (ITU-T H.264 annex E).
public struct VideoUsability: Sendable, Equatable {
    /// Width and height of a pixel, in the smallest whole numbers the encoder wrote.
    public struct AspectRatio: Sendable, Equatable {
        /// At least 1.
        public let width: Int
        /// At least 1.
        public let height: Int
    }

    /// The unit in which the encoder counts time; a tick is a field, so two of them make a frame.
    public struct Tick: Sendable, Equatable {
        /// num_units_in_tick, at least 1.
        public let units: UInt32
        /// time_scale: units in a second, at least 1.
        public let scale: UInt32
    }

    /// How sample values are to be read as colours (code points of ITU-T H.273).
    public struct Colour: Sendable, Equatable {
        /// 1 BT.709, 5 and 6 BT.601, 9 BT.2020, 2 not said.
        public let primaries: UInt8
        /// 1 BT.709, 6 BT.601, 13 sRGB, 16 PQ, 18 HLG, 2 not said.
        public let transfer: UInt8
        /// 1 BT.709, 5 and 6 BT.601, 9 BT.2020, 2 not said.
        public let matrix: UInt8
    }

    /// Nil when not said.
    public internal(set) var sampleAspectRatio: AspectRatio?
    /// Samples use all values rather than 16 to 235; nil when not said.
    public internal(set) var isFullRange: Bool?
    /// Nil when not said.
    public internal(set) var colour: Colour?
    /// Nil when not said.
    public internal(set) var tick: Tick?
    /// The encoder promises that pictures are evenly spaced.
    public internal(set) var hasFixedFrameRate = false
    /// How many pictures may come earlier in decoding than in showing, 0 to 16; nil when not said.
    public internal(set) var reorderedFrames: Int?

    /// Pictures per second: time_scale over twice num_units_in_tick; nil when not said or beyond 1000.
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
        // What follows is of little use, and some encoders cut it short: keep what is already known.
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
