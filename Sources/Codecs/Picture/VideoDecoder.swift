import CFFmpeg
public import Media
import NIOCore

/// An H.264 decoder, owned by one thread.
///
/// Times in and out are milliseconds: each picture comes out with exactly the presentation time its packet had, in
/// presentation order. It comes as late as the stream's reordering asks for and no later.
public struct VideoDecoder: ~Copyable, Sendable {
    /// What a decoder leaves out to save time.
    public enum Economy: Sendable {
        /// Nothing.
        case none
        /// The deblocking of pictures that no other picture refers to; not visible once a picture is made smaller.
        case roughDisposable
        /// The deblocking of all but key pictures; what is off by that is carried on to the next of these, and not
        /// visible in a picture made as small as a third.
        case roughAll
        /// Pictures that no other picture refers to.
        case skipDisposable
        /// Everything but key pictures; for a host that is not shown.
        case onlyKeys
    }

    /// Outlives the context, which calls it.
    private let reducer: PictureReducer
    private let context: CodecContext
    private var packet: PacketOwner
    private let frame: FrameOwner
    private var converter: PictureConverter

    /// Opens a decoder for the stream that `configuration` describes.
    ///
    /// - Parameter configuration: A packet with an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1).
    /// - Throws: `.wrongPacket` for any other packet, `.badConfiguration` for a record that cannot be read.
    public init(configuration: MediaPacket) throws(CodecError) {
        guard configuration.content == .videoConfiguration(.h264) else {
            throw CodecError(.wrongPacket, "not an H.264 configuration: \(configuration.content)")
        }
        let record = configuration.payload
        // Version 1, or the first zero of a start code: some encoders send bare parameter sets.
        guard record.readableBytes >= 7, record.getInteger(at: record.readerIndex).map({ $0 <= UInt8(1) }) == true
        else {
            throw CodecError(.badConfiguration, "the AVC configuration record is cut short or of another version")
        }
        let packet = try PacketOwner()
        let frame = try FrameOwner()
        let reducer = PictureReducer()
        let context = try CodecContext(decoder: "h264") { (context) throws(CodecError) in
            reducer.serve(context)
            try CodecContext.setExtradata(record, of: context)
            context.pointee.max_pixels = Int64(PictureLimits.pixels)
            context.pointee.pkt_timebase = AVRational(num: 1, den: 1000)
        }
        // Nothing throws from here on: the compiler cannot undo half an owner.
        self.packet = packet
        self.frame = frame
        self.context = context
        self.reducer = reducer
        converter = PictureConverter()
    }

    /// What to leave out from the next packet on.
    public var economy: Economy = .none {
        didSet {
            let context = context.pointer
            switch economy {
            case .none: context.pointee.skip_loop_filter = AVDISCARD_DEFAULT
            case .roughAll: context.pointee.skip_loop_filter = AVDISCARD_NONKEY
            case .roughDisposable, .skipDisposable, .onlyKeys: context.pointee.skip_loop_filter = AVDISCARD_NONREF
            }
            switch economy {
            case .none, .roughDisposable, .roughAll: context.pointee.skip_frame = AVDISCARD_DEFAULT
            case .skipDisposable: context.pointee.skip_frame = AVDISCARD_NONREF
            case .onlyKeys: context.pointee.skip_frame = AVDISCARD_NONKEY
            }
        }
    }

    /// The smaller size in which pictures will be shown, from the next one on; they look the same with it and without.
    public var reduction: PictureReduction? {
        get { reducer.reduction }
        set { reducer.reduction = newValue }
    }

    /// Seconds spent so far on making pictures in the size of `reduction`, while they were decoded.
    public var reducingSeconds: Double { reducer.seconds }

    /// Decodes one packet; calls `body` for each picture that is complete by it, which may be none or several.
    ///
    /// The picture size may change from one key picture to the next.
    ///
    /// - Throws: `.badData` when the packet is damaged, `.tooLarge` for pictures beyond `PictureLimits`; the decoder
    ///   takes further packets after either.
    public mutating func decode(_ packet: MediaPacket, _ body: (Picture) -> Void) throws(CodecError) {
        guard case .picture(.h264, _, _) = packet.content else {
            throw CodecError(.wrongPacket, "not an H.264 picture: \(packet.content)")
        }
        try self.packet.fill(
            packet.payload,
            presentation: packet.presentationTimestamp,
            decode: packet.timestamp
        )
        var status = avcodec_send_packet(context.pointer, self.packet.pointer)
        if status == c_averror_eagain {
            // A call before this one failed with pictures still waiting.
            try receive(body)
            status = avcodec_send_packet(context.pointer, self.packet.pointer)
        }
        guard status >= 0 else { throw CodecError(status, decoding: "a picture") }
        try receive(body)
    }

    /// Calls `body` for the pictures still held back for reordering; the decoder can be used again afterwards.
    public mutating func flush(_ body: (Picture) -> Void) {
        guard avcodec_send_packet(context.pointer, nil) >= 0 else { return }
        do throws(CodecError) {
            try receive(body)
        } catch {
            // A damaged picture at the very end is only missing.
            av_frame_unref(frame.pointer)
        }
        avcodec_flush_buffers(context.pointer)
    }

    private mutating func receive(_ body: (Picture) -> Void) throws(CodecError) {
        while true {
            let status = avcodec_receive_frame(context.pointer, frame.pointer)
            if status == c_averror_eagain || status == c_averror_eof { return }
            guard status >= 0 else { throw CodecError(status, decoding: "a picture") }
            body(try takePicture())
        }
    }

    private mutating func takePicture() throws(CodecError) -> Picture {
        let frame = frame.pointer
        defer { av_frame_unref(frame) }
        let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
        guard width > 0, height > 0, max(width, height) <= PictureLimits.side, width * height <= PictureLimits.pixels
        else {
            throw CodecError(.tooLarge, "a picture of \(width)x\(height)")
        }
        let time = frame.pointee.pts == c_av_nopts_value ? frame.pointee.best_effort_timestamp : frame.pointee.pts
        if !PictureConverter.isNative(frame.pointee.format) {
            try converter.convert(frame)
        }
        return try Picture(moving: frame, presentationTimestamp: time)
    }
}
