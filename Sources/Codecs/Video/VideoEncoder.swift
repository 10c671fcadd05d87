import CFFmpeg
public import Media
public import NIOCore

/// An H.264 encoder (x264 through libavcodec), owned by one thread.
///
/// A keyframe comes first, then wherever the frame counter is a multiple of the interval: an encoder that takes
/// over in mid-program keeps to the same grid as the one before it.
public struct VideoEncoder: ~Copyable, Sendable {
    /// An AVCDecoderConfigurationRecord with 4-byte lengths (ISO/IEC 14496-15, 5.3.3.1).
    public let configuration: ByteBuffer

    private let settings: VideoEncoderConfiguration
    private let context: CodecContext
    private let packet: PacketOwner
    private var splitter = AnnexBSplitter()
    private var times: FrameTimestamps
    private var lastIndex: Int64?

    /// - Throws: `.badConfiguration` or `.unavailable` for settings that x264 does not take.
    public init(_ settings: VideoEncoderConfiguration) throws(CodecError) {
        try settings.validate()
        let context = try CodecContext(encoder: "libx264", options: settings.codecOptions) {
            (context) throws(CodecError) in
            Self.apply(settings, to: context)
        }
        let configuration = try Self.record(of: context.extradata)
        let packet = try PacketOwner()
        // Nothing throws from here on: the compiler cannot undo half an owner.
        self.configuration = configuration
        self.context = context
        self.packet = packet
        times = FrameTimestamps(numerator: settings.frameRateNumerator, denominator: settings.frameRateDenominator)
        self.settings = settings
    }

    /// Codes one frame; calls `body` with each packet that is complete by it, which is one unless `options` hold
    /// frames back.
    ///
    /// - Parameters:
    ///   - canvas: Of the configured size; the encoder does not keep it.
    ///   - index: The frame's number; larger than the last one.
    ///   - timestamp: The frame's time in milliseconds, which the packet carries unchanged.
    ///   - forceKey: Makes it a keyframe, whatever its number.
    /// - Throws: `.outOfOrder` when `index` does not rise, `.badConfiguration` for a canvas of another size.
    public mutating func encode(
        _ canvas: Canvas,
        index: Int64,
        timestamp: Int64,
        forceKey: Bool,
        _ body: (MediaPacket) -> Void
    ) throws(CodecError) {
        guard canvas.width == settings.width, canvas.height == settings.height else {
            throw CodecError(
                .badConfiguration,
                "a canvas of \(canvas.width)x\(canvas.height) for frames of \(settings.width)x\(settings.height)"
            )
        }
        if let lastIndex, index <= lastIndex {
            throw CodecError(.outOfOrder, "frame \(index) after \(lastIndex)")
        }
        lastIndex = index
        times.remember(index, timestamp)
        let isKey = forceKey || index % Int64(settings.keyInterval) == 0
        let frame = canvas.shown
        frame.pointee.pts = index
        frame.pointee.pict_type = isKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        let status = avcodec_send_frame(context.pointer, frame)
        guard status >= 0 else { throw CodecError(status, doing: "encoding a frame") }
        try receive(body)
        // x264 copies the frame, so this costs nothing; an encoder that kept it would find its own copy.
        try canvas.makeWritable()
    }

    /// Calls `body` with the packets still held back; the encoder is at its end afterwards.
    public mutating func finish(_ body: (MediaPacket) -> Void) throws(CodecError) {
        let status = avcodec_send_frame(context.pointer, nil)
        guard status >= 0 else { throw CodecError(status, doing: "ending the frames") }
        try receive(body)
    }

    private mutating func receive(_ body: (MediaPacket) -> Void) throws(CodecError) {
        while true {
            let status = avcodec_receive_packet(context.pointer, packet.pointer)
            if status == c_averror_eagain || status == c_averror_eof { return }
            guard status >= 0 else { throw CodecError(status, doing: "encoding a frame") }
            let made = makePacket()
            av_packet_unref(packet.pointer)
            body(made)
        }
    }

    private mutating func makePacket() -> MediaPacket {
        let bytes = packet.bytes
        splitter.split(bytes)
        let fields = packet.pointer.pointee
        let decodeTime = times.milliseconds(of: fields.dts)
        let units = splitter.units.filter { Self.isWanted(bytes, $0) }
        let slices = units.filter { (1...AnnexBSplitter.Kind.lastSlice).contains(bytes[$0.lowerBound] & 0x1F) }
        return .h264Frame(
            isKey: fields.flags & AV_PKT_FLAG_KEY != 0,
            isDisposable: !slices.isEmpty && slices.allSatisfy { bytes[$0.lowerBound] & 0x60 == 0 },
            timestamp: decodeTime,
            compositionOffset: Int32(truncatingIfNeeded: times.milliseconds(of: fields.pts) - decodeTime),
            capacity: bytes.count + 4 * units.count
        ) { body in
            for unit in units {
                body.writeInteger(UInt32(unit.count))
                body.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[unit]))
            }
        }
    }

    /// Parameter sets travel in the configuration, delimiters have no place beside lengths, and the encoder's note on
    /// its own settings (user data, ITU-T H.264 D.1.7) is nobody's business.
    private static func isWanted(_ bytes: UnsafeRawBufferPointer, _ unit: Range<Int>) -> Bool {
        switch bytes[unit.lowerBound] & 0x1F {
        case AnnexBSplitter.Kind.sequenceParameters, AnnexBSplitter.Kind.pictureParameters,
            AnnexBSplitter.Kind.delimiter:
            false
        case AnnexBSplitter.Kind.supplement: !(unit.count > 1 && bytes[unit.lowerBound + 1] == 5)
        default: true
        }
    }

    /// - Parameter header: Sequence and picture parameter sets with start codes.
    private static func record(of header: UnsafeRawBufferPointer) throws(CodecError) -> ByteBuffer {
        do {
            return try AVCConfiguration(ByteBuffer(bytes: header)).record
        } catch {
            throw CodecError(.failed, "the encoder's parameter sets cannot be read: \(error)")
        }
    }

    private static func apply(_ settings: VideoEncoderConfiguration, to context: CodecContext.Pointer) {
        let (numerator, denominator) = (Int32(settings.frameRateNumerator), Int32(settings.frameRateDenominator))
        context.pointee.width = Int32(settings.width)
        context.pointee.height = Int32(settings.height)
        context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
        context.pointee.time_base = AVRational(num: denominator, den: numerator)
        context.pointee.framerate = AVRational(num: numerator, den: denominator)
        context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        context.pointee.gop_size = Int32(settings.keyInterval)
        context.pointee.max_b_frames = 0
        context.pointee.bit_rate = Int64(settings.bitrate)
        context.pointee.rc_max_rate = Int64(settings.bitrate)
        // One second of buffer lets a keyframe be larger than the others.
        context.pointee.rc_buffer_size = Int32(settings.bitrate)
        context.pointee.color_range = AVCOL_RANGE_MPEG
        context.pointee.colorspace = AVCOL_SPC_BT709
        context.pointee.color_primaries = AVCOL_PRI_BT709
        context.pointee.color_trc = AVCOL_TRC_BT709
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | Int32(bitPattern: AV_CODEC_FLAG_CLOSED_GOP)
    }
}

/// NAL units in a byte stream with start codes (ITU-T H.264, Annex B), found where they lie: the encoder's output is
/// split thirty times a second, so nothing is copied or allocated.
struct AnnexBSplitter {
    /// The kinds of NAL unit that matter here (ITU-T H.264, table 7-1).
    enum Kind {
        static let lastSlice: UInt8 = 5
        static let supplement: UInt8 = 6
        static let sequenceParameters: UInt8 = 7
        static let pictureParameters: UInt8 = 8
        static let delimiter: UInt8 = 9
    }

    /// Where the units lie in the bytes, start codes left out; used again from frame to frame.
    private(set) var units: [Range<Int>] = []

    /// Finds the units in `bytes`.
    mutating func split(_ bytes: UnsafeRawBufferPointer) {
        units.removeAll(keepingCapacity: true)
        var start: Int?
        var index = 2
        while index < bytes.count {
            // The third byte of a start code is 1; a larger one rules out the next three positions at once.
            if bytes[index] > 1 {
                index += 3
            } else if bytes[index] == 1, bytes[index - 1] == 0, bytes[index - 2] == 0 {
                if let start { append(start..<index - 2, of: bytes) }
                start = index + 1
                index += 3
            } else {
                index += 1
            }
        }
        if let start { append(start..<bytes.count, of: bytes) }
    }

    private mutating func append(_ range: Range<Int>, of bytes: UnsafeRawBufferPointer) {
        var end = range.upperBound
        // A unit never ends in zero; what is there belongs to a longer start code.
        while end > range.lowerBound, bytes[end - 1] == 0 { end -= 1 }
        if end > range.lowerBound { units.append(range.lowerBound..<end) }
    }
}

/// Remembers which time each frame number had, for packets that come out later or in another order.
struct FrameTimestamps {
    private static let capacity = 256

    private let numerator: Int64
    private let denominator: Int64
    private var entries: [(index: Int64, milliseconds: Int64)?] = Array(repeating: nil, count: capacity)
    private var latest: (index: Int64, milliseconds: Int64) = (0, 0)

    /// - Parameters:
    ///   - numerator: Frames in `denominator` seconds.
    ///   - denominator: Above zero.
    init(numerator: Int, denominator: Int) {
        self.numerator = Int64(numerator)
        self.denominator = Int64(denominator)
    }

    mutating func remember(_ index: Int64, _ milliseconds: Int64) {
        latest = (index, milliseconds)
        entries[Self.slot(index)] = latest
    }

    /// The time given for `index`; for a number that never came (the decode time of the first reordered frames lies
    /// before them) counted from the latest one.
    func milliseconds(of index: Int64) -> Int64 {
        if let entry = entries[Self.slot(index)], entry.index == index { return entry.milliseconds }
        return latest.milliseconds + (index - latest.index) * 1000 * denominator / numerator
    }

    private static func slot(_ index: Int64) -> Int {
        Int(truncatingIfNeeded: index & Int64(capacity - 1))
    }
}
