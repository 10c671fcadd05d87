import CFFmpeg

/// Owns one context of libswscale that changes the pixel format and leaves the size.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct ScalerOwner: ~Copyable, @unchecked Sendable {
    private let pointer: OpaquePointer
    private let height: Int32

    /// RGB on either side is paired with limited BT.709 on the other.
    init(width: Int32, height: Int32, from source: AVPixelFormat, to target: AVPixelFormat) throws(CodecError) {
        let flags = SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP
        guard
            let context = sws_getContext(width, height, source, width, height, target, flags, nil, nil, nil)
        else {
            throw CodecError(.unavailable, "no conversion from pixel format \(source.rawValue) to \(target.rawValue)")
        }
        let isRGB = [source, target].contains { format in
            av_pix_fmt_desc_get(format).map { $0.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0 } ?? false
        }
        if isRGB {
            let table = sws_getCoefficients(SWS_CS_ITU709)
            let sourceIsRGB = av_pix_fmt_desc_get(source).map { $0.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0 }
            let full: (Int32, Int32) = sourceIsRGB == true ? (1, 0) : (0, 1)
            sws_setColorspaceDetails(context, table, full.0, table, full.1, 0, 1 << 16, 1 << 16)
        }
        pointer = context
        self.height = height
    }

    deinit { sws_freeContext(pointer) }

    /// Converts all rows; both frames have their formats' planes.
    func scale(from source: UnsafeMutablePointer<AVFrame>, to target: UnsafeMutablePointer<AVFrame>) throws(CodecError)
    {
        let status = sws_scale_frame(pointer, target, source)
        guard status >= 0 else { throw CodecError(status, doing: "converting a frame") }
    }
}
