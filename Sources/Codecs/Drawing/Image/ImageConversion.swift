import CFFmpeg

/// How a decoded image becomes red, green and blue.
struct ImageConversion {
    private let width: Int32
    private let height: Int32
    private let format: AVPixelFormat
    private let isFullRange: Bool
    private let table: Int32

    init(of frame: UnsafeMutablePointer<AVFrame>) {
        width = frame.pointee.width
        height = frame.pointee.height
        // The formats that carry their range in their name are an older way to say the same.
        let tagged = AVPixelFormat(rawValue: frame.pointee.format)
        let modern = [
            AV_PIX_FMT_YUVJ420P.rawValue: AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ422P.rawValue: AV_PIX_FMT_YUV422P,
            AV_PIX_FMT_YUVJ444P.rawValue: AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ440P.rawValue: AV_PIX_FMT_YUV440P,
        ]
        format = modern[tagged.rawValue] ?? tagged
        isFullRange = format != tagged || frame.pointee.color_range == AVCOL_RANGE_JPEG
        // JFIF and WebP are BT.601 whatever their size, unless they say otherwise.
        table = frame.pointee.colorspace == AVCOL_SPC_BT709 ? SWS_CS_ITU709 : SWS_CS_ITU601
    }

    /// A converter to four bytes per pixel, for the caller to free.
    func context() throws(CodecError) -> OpaquePointer {
        let flags = SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP
        guard
            let context = sws_getContext(width, height, format, width, height, AV_PIX_FMT_BGRA, flags, nil, nil, nil)
        else {
            throw CodecError(.unavailable, "no conversion from pixel format \(format.rawValue)")
        }
        let coefficients = sws_getCoefficients(table)
        sws_setColorspaceDetails(context, coefficients, isFullRange ? 1 : 0, coefficients, 1, 0, 1 << 16, 1 << 16)
        return context
    }
}
