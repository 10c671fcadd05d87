import CFFmpeg

/// How a camera was held: the turns and reflections that bring an image the right way up.
struct ImageOrientation: Equatable {
    /// Rows become columns.
    private let isTransposed: Bool
    private let isMirrored: Bool
    private let isUpsideDown: Bool

    /// What `frame` is tagged with; nil when it is the right way up.
    init?(of frame: UnsafeMutablePointer<AVFrame>) {
        guard let data = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX),
            data.pointee.size >= 9 * MemoryLayout<Int32>.size, let bytes = data.pointee.data
        else {
            return nil
        }
        // A 3x3 matrix in row-major order; x becomes a * x + c * y, and y becomes b * x + d * y.
        let matrix = UnsafeRawPointer(bytes)
        let (a, b, c, d) = (
            matrix.loadUnaligned(fromByteOffset: 0, as: Int32.self),
            matrix.loadUnaligned(fromByteOffset: 4, as: Int32.self),
            matrix.loadUnaligned(fromByteOffset: 12, as: Int32.self),
            matrix.loadUnaligned(fromByteOffset: 16, as: Int32.self)
        )
        isTransposed = a == 0 && d == 0
        isMirrored = (isTransposed ? c : a) < 0
        isUpsideDown = (isTransposed ? b : d) < 0
        guard isTransposed || isMirrored || isUpsideDown else { return nil }
    }

    /// Whether a pixel of `frame` can be seen through.
    static func hasAlpha(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        let format = AVPixelFormat(rawValue: frame.pointee.format)
        guard format != AV_PIX_FMT_PAL8 else { return true }
        return av_pix_fmt_desc_get(format).map { $0.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0 } ?? false
    }

    /// `picture` the right way up.
    func applied(to picture: StillPicture) throws(CodecError) -> StillPicture {
        let (width, height) = isTransposed ? (picture.height, picture.width) : (picture.width, picture.height)
        let result = try StillPicture(width: width, height: height)
        picture.withPixels { pixels, stride in
            result.withMutablePixels { target, targetStride in
                for y in 0..<height {
                    let row = UnsafeMutableRawPointer(target + y * targetStride)
                    let across = isUpsideDown ? height - 1 - y : y
                    for x in 0..<width {
                        let along = isMirrored ? width - 1 - x : x
                        let (column, line) = isTransposed ? (across, along) : (along, across)
                        let pixel = UnsafeRawPointer(pixels + line * stride + column * 4)
                            .loadUnaligned(as: UInt32.self)
                        row.storeBytes(of: pixel, toByteOffset: x * 4, as: UInt32.self)
                    }
                }
            }
        }
        return result
    }
}
