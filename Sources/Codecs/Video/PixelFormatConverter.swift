import CFFmpeg

/// Turns what is not 8-bit 4:2:0 (4:2:2, 4:4:4, ten bits, planar RGB) into it, at the same size and in the same
/// colours.
struct PixelFormatConverter: ~Copyable {
    /// What a scaler was made for.
    private struct Shape: Equatable {
        let width: Int32
        let height: Int32
        let format: Int32
    }

    private var shape: Shape?
    private var scaler: ScalerOwner?
    private var pool: FramePool?

    init() {}

    /// Formats that a `VideoFrame` holds as they are.
    static func isNative(_ format: Int32) -> Bool {
        format == AV_PIX_FMT_YUV420P.rawValue || format == AV_PIX_FMT_YUVJ420P.rawValue
    }

    /// Replaces what `frame` refers to by its conversion; time, range and aspect stay.
    mutating func convert(_ frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) {
        let wanted = Shape(width: frame.pointee.width, height: frame.pointee.height, format: frame.pointee.format)
        if wanted != shape {
            scaler = try ScalerOwner(
                width: wanted.width,
                height: wanted.height,
                from: Self.withoutRange(AVPixelFormat(wanted.format)),
                to: AV_PIX_FMT_YUV420P
            )
            pool = try FramePool(width: wanted.width, height: wanted.height)
            shape = wanted
        }
        let converted = try FrameOwner()
        try pool?.fill(converted.pointer)
        try scaler?.scale(from: frame, to: converted.pointer)
        av_frame_copy_props(converted.pointer, frame)
        if Self.isRGB(wanted.format) {
            // The scaler made limited BT.709 of it.
            converted.pointer.pointee.colorspace = AVCOL_SPC_BT709
            converted.pointer.pointee.color_range = AVCOL_RANGE_MPEG
        } else if Self.withoutRange(AVPixelFormat(wanted.format)).rawValue != wanted.format {
            converted.pointer.pointee.color_range = AVCOL_RANGE_JPEG
        }
        av_frame_unref(frame)
        av_frame_move_ref(frame, converted.pointer)
    }

    private static func isRGB(_ format: Int32) -> Bool {
        guard let description = av_pix_fmt_desc_get(AVPixelFormat(format)) else { return false }
        return description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
    }

    /// The same layout without the hint of full range in its name, so that the range passes through unchanged.
    private static func withoutRange(_ format: AVPixelFormat) -> AVPixelFormat {
        switch format {
        case AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P
        case AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P
        case AV_PIX_FMT_YUVJ440P: AV_PIX_FMT_YUV440P
        default: format
        }
    }
}
