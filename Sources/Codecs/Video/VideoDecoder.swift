import CFFmpeg
public import Media
import NIOCore

/// An H.264 decoder, owned by one thread.
///
/// Times in and out are milliseconds: each frame comes out with exactly the presentation time its packet had, in
/// presentation order. It comes as late as the stream's reordering asks for and no later.
public struct VideoDecoder: ~Copyable, Sendable {
    /// What a decoder leaves out to save time.
    public enum Economy: Sendable {
        /// Nothing.
        case none
        /// The deblocking of frames that no other frame refers to; not visible once a frame is made smaller.
        case skipDeblockingDisposable
        /// The deblocking of all but keyframes; what is off by that is carried on to the next of these, and not
        /// visible in a frame made as small as a third.
        case skipDeblockingNonKey
        /// Frames that no other frame refers to.
        case skipDisposable
        /// Everything but keyframes; for a host that is not shown.
        case keyframesOnly
    }

    /// Outlives the context, which calls it.
    private let reducer: FrameDownscaler
    private let context: CodecContext
    private var packet: PacketOwner
    private let frame: FrameOwner
    private var converter: PixelFormatConverter

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
        let reducer = FrameDownscaler()
        let context = try CodecContext(decoder: "h264") { (context) throws(CodecError) in
            reducer.serve(context)
            try CodecContext.setExtradata(record, of: context)
            context.pointee.max_pixels = Int64(FrameLimits.pixels)
            context.pointee.pkt_timebase = AVRational(num: 1, den: 1000)
        }
        // Nothing throws from here on: the compiler cannot undo half an owner.
        self.packet = packet
        self.frame = frame
        self.context = context
        self.reducer = reducer
        converter = PixelFormatConverter()
    }

    /// What to leave out from the next packet on.
    public var economy: Economy = .none {
        didSet {
            let context = context.pointer
            switch economy {
            case .none: context.pointee.skip_loop_filter = AVDISCARD_DEFAULT
            case .skipDeblockingNonKey: context.pointee.skip_loop_filter = AVDISCARD_NONKEY
            case .skipDeblockingDisposable, .skipDisposable, .keyframesOnly:
                context.pointee.skip_loop_filter = AVDISCARD_NONREF
            }
            switch economy {
            case .none, .skipDeblockingDisposable, .skipDeblockingNonKey: context.pointee.skip_frame = AVDISCARD_DEFAULT
            case .skipDisposable: context.pointee.skip_frame = AVDISCARD_NONREF
            case .keyframesOnly: context.pointee.skip_frame = AVDISCARD_NONKEY
            }
        }
    }

    /// The smaller size in which frames will be shown, from the next one on; they look the same with it and without.
    public var reduction: DownscaleTarget? {
        get { reducer.reduction }
        set { reducer.reduction = newValue }
    }

    /// Seconds spent so far on making frames in the size of `reduction`, while they were decoded.
    public var downscaleSeconds: Double { reducer.seconds }

    /// Decodes one packet; calls `body` for each frame that is complete by it, which may be none or several.
    ///
    /// The frame size may change from one keyframe to the next.
    ///
    /// - Throws: `.badData` when the packet is damaged, `.tooLarge` for frames beyond `FrameLimits`; the decoder
    ///   takes further packets after either.
    public mutating func decode(_ packet: MediaPacket, _ body: (VideoFrame) -> Void) throws(CodecError) {
        guard case .video(.h264, _, _) = packet.content else {
            throw CodecError(.wrongPacket, "not an H.264 frame: \(packet.content)")
        }
        try self.packet.fill(
            packet.payload,
            presentation: packet.presentationTimestamp,
            decode: packet.timestamp
        )
        var status = avcodec_send_packet(context.pointer, self.packet.pointer)
        if status == c_averror_eagain {
            // A call before this one failed with frames still waiting.
            try receive(body)
            status = avcodec_send_packet(context.pointer, self.packet.pointer)
        }
        guard status >= 0 else { throw CodecError(status, decoding: "a frame") }
        try receive(body)
    }

    /// Calls `body` for the frames still held back for reordering; the decoder can be used again afterwards.
    public mutating func flush(_ body: (VideoFrame) -> Void) {
        guard avcodec_send_packet(context.pointer, nil) >= 0 else { return }
        do throws(CodecError) {
            try receive(body)
        } catch {
            // A damaged frame at the very end is only missing.
            av_frame_unref(frame.pointer)
        }
        avcodec_flush_buffers(context.pointer)
    }

    private mutating func receive(_ body: (VideoFrame) -> Void) throws(CodecError) {
        while true {
            let status = avcodec_receive_frame(context.pointer, frame.pointer)
            if status == c_averror_eagain || status == c_averror_eof { return }
            guard status >= 0 else { throw CodecError(status, decoding: "a frame") }
            body(try receiveFrame())
        }
    }

    private mutating func receiveFrame() throws(CodecError) -> VideoFrame {
        let frame = frame.pointer
        defer { av_frame_unref(frame) }
        let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
        guard width > 0, height > 0, max(width, height) <= FrameLimits.side, width * height <= FrameLimits.pixels
        else {
            throw CodecError(.tooLarge, "a frame of \(width)x\(height)")
        }
        let time = frame.pointee.pts == c_av_nopts_value ? frame.pointee.best_effort_timestamp : frame.pointee.pts
        if !PixelFormatConverter.isNative(frame.pointee.format) {
            try converter.convert(frame)
        }
        return try VideoFrame(moving: frame, presentationTimestamp: time)
    }
}
