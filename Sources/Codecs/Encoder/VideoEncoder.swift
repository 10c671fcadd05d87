import CFFmpeg
public import Media
public import NIOCore

/// An H.264 encoder (x264 through libavcodec), owned by one thread.
///
/// A key picture comes first, then wherever the picture counter is a multiple of the interval: an encoder that takes
/// over in mid-program keeps to the same grid as the one before it.
public struct VideoEncoder: ~Copyable, Sendable {
    /// An AVCDecoderConfigurationRecord with 4-byte lengths (ISO/IEC 14496-15, 5.3.3.1).
    public let configuration: ByteBuffer

    private let settings: VideoEncoderConfiguration
    private let context: CodecContext
    private let packet: PacketOwner
    private var splitter = AnnexB()
    private var times: PictureTimes
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
        times = PictureTimes(numerator: settings.frameRateNumerator, denominator: settings.frameRateDenominator)
        self.settings = settings
    }

    /// Codes one picture; calls `body` with each packet that is complete by it, which is one unless `options` hold
    /// pictures back.
    ///
    /// - Parameters:
    ///   - canvas: Of the configured size; the encoder does not keep it.
    ///   - index: The picture's number; larger than the last one.
    ///   - timestamp: The picture's time in milliseconds, which the packet carries unchanged.
    ///   - forceKey: Makes it a key picture, whatever its number.
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
                "a canvas of \(canvas.width)x\(canvas.height) for pictures of \(settings.width)x\(settings.height)"
            )
        }
        if let lastIndex, index <= lastIndex {
            throw CodecError(.outOfOrder, "picture \(index) after \(lastIndex)")
        }
        lastIndex = index
        times.remember(index, timestamp)
        let isKey = forceKey || index % Int64(settings.keyInterval) == 0
        let frame = canvas.shown
        frame.pointee.pts = index
        frame.pointee.pict_type = isKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        let status = avcodec_send_frame(context.pointer, frame)
        guard status >= 0 else { throw CodecError(status, doing: "coding a picture") }
        try receive(body)
        // x264 copies the picture, so this costs nothing; an encoder that kept it would find its own copy.
        try canvas.takeBack()
    }

    /// Calls `body` with the packets still held back; the encoder is at its end afterwards.
    public mutating func finish(_ body: (MediaPacket) -> Void) throws(CodecError) {
        let status = avcodec_send_frame(context.pointer, nil)
        guard status >= 0 else { throw CodecError(status, doing: "ending the pictures") }
        try receive(body)
    }

    private mutating func receive(_ body: (MediaPacket) -> Void) throws(CodecError) {
        while true {
            let status = avcodec_receive_packet(context.pointer, packet.pointer)
            if status == c_averror_eagain || status == c_averror_eof { return }
            guard status >= 0 else { throw CodecError(status, doing: "coding a picture") }
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
        let slices = units.filter { (1...AnnexB.Kind.lastSlice).contains(bytes[$0.lowerBound] & 0x1F) }
        return .h264Picture(
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
        case AnnexB.Kind.sequenceParameters, AnnexB.Kind.pictureParameters, AnnexB.Kind.delimiter: false
        case AnnexB.Kind.supplement: !(unit.count > 1 && bytes[unit.lowerBound + 1] == 5)
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
        // One second of buffer lets a key picture be larger than the others.
        context.pointee.rc_buffer_size = Int32(settings.bitrate)
        context.pointee.color_range = AVCOL_RANGE_MPEG
        context.pointee.colorspace = AVCOL_SPC_BT709
        context.pointee.color_primaries = AVCOL_PRI_BT709
        context.pointee.color_trc = AVCOL_TRC_BT709
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | Int32(bitPattern: AV_CODEC_FLAG_CLOSED_GOP)
    }
}
