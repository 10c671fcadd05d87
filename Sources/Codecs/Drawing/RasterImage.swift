import CFFmpeg
import CYUV
public import NIOCore

/// An image at the size it will be drawn in, what is seen through it kept.
///
/// `@unchecked Sendable`: written only while it is made, by one thread; afterwards it is shared and only read.
public final class RasterImage: @unchecked Sendable {
    /// Pixels.
    public let width: Int
    /// Pixels.
    public let height: Int

    // Blue, green, red and alpha, premultiplied: what cairo takes.
    private let memory: UnsafeMutablePointer<UInt8>
    private let stride: Int

    init(width: Int, height: Int) throws(CodecError) {
        guard (1...FrameLimits.side).contains(width), (1...FrameLimits.side).contains(height) else {
            throw CodecError(.badConfiguration, "an image of \(width)x\(height)")
        }
        self.width = width
        self.height = height
        stride = width * 4
        // Vector loads of a scaler may read a little past the end of a row.
        memory = .allocate(capacity: stride * height + 64)
        memory.initialize(repeating: 0, count: stride * height + 64)
    }

    deinit {
        memory.deallocate()
    }

    /// Calls `body` with the first pixel, and the bytes from one row to the next; valid only until it returns.
    func withPixels(_ body: (UnsafePointer<UInt8>, Int) -> Void) {
        withExtendedLifetime(self) { body(memory, stride) }
    }

    /// As `withPixels`, for who makes the frame.
    func withMutablePixels<R>(_ body: (UnsafeMutablePointer<UInt8>, Int) -> R) -> R {
        withExtendedLifetime(self) { body(memory, stride) }
    }
}

extension RasterImage {
    /// Reads the image in `file` at its own size and the right way up; of a moving one the first frame.
    ///
    /// PNG, JPEG, WebP, GIF and BMP are known by their content. Takes up to a second for the largest.
    ///
    /// - Throws: `.unavailable` for other kinds of files, `.tooLarge` beyond `ImageLimits`, `.badData` for a damaged
    ///   one.
    public static func read(_ file: ByteBuffer) throws(CodecError) -> RasterImage {
        guard file.readableBytes <= ImageLimits.bytes else {
            throw CodecError(.tooLarge, "an image file of \(file.readableBytes) bytes")
        }
        guard let format = ImageFormat(sniffing: file) else {
            throw CodecError(.unavailable, "not an image of a known kind")
        }
        let content = try ImageFile.essence(of: file, format)
        let frame = try decode(content, by: format.decoder)
        let image = try unpacked(frame.pointer)
        if ImageOrientation.hasAlpha(frame.pointer) {
            image.withMutablePixels { pixels, stride in
                let (width, height) = (Int32(image.width), Int32(image.height))
                _ = ARGBAttenuate(pixels, Int32(stride), pixels, Int32(stride), width, height)
            }
        }
        guard let orientation = ImageOrientation(of: frame.pointer) else { return image }
        return try orientation.applied(to: image)
    }

    private static func decode(_ content: ByteBuffer, by decoder: String) throws(CodecError) -> FrameOwner {
        let context = try CodecContext(decoder: decoder) { context in
            context.pointee.max_pixels = Int64(ImageLimits.side * ImageLimits.side)
        }
        var packet = try PacketOwner()
        try packet.fill(content, presentation: 0, decode: 0)
        let frame = try FrameOwner()
        var status = avcodec_send_packet(context.pointer, packet.pointer)
        guard status >= 0 else { throw CodecError(status, decoding: "an image") }
        status = avcodec_receive_frame(context.pointer, frame.pointer)
        if status == c_averror_eagain {
            // It waits for more: there is no more.
            _ = avcodec_send_packet(context.pointer, nil)
            status = avcodec_receive_frame(context.pointer, frame.pointer)
        }
        guard status >= 0 else { throw CodecError(status, decoding: "an image") }
        let (width, height) = (Int(frame.pointer.pointee.width), Int(frame.pointer.pointee.height))
        guard (1...ImageLimits.side).contains(width), (1...ImageLimits.side).contains(height) else {
            throw CodecError(.tooLarge, "an image of \(width)x\(height)")
        }
        return frame
    }

    /// The frame's pixels as blue, green, red and alpha, not yet premultiplied.
    private static func unpacked(_ frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) -> RasterImage {
        let image = try RasterImage(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
        let source = ImageConversion(of: frame)
        let converter = try source.context()
        defer { sws_freeContext(converter) }
        let status = image.withMutablePixels { pixels, stride in
            var target: [UnsafeMutablePointer<UInt8>?] = [pixels, nil, nil, nil]
            var strides = [Int32(stride), 0, 0, 0]
            let (data, lines) = (frame.pointee.data, frame.pointee.linesize)
            let planes = [data.0, data.1, data.2, data.3].map { plane in plane.map { UnsafePointer($0) } }
            return sws_scale(
                converter,
                planes,
                [lines.0, lines.1, lines.2, lines.3],
                0,
                frame.pointee.height,
                &target,
                &strides
            )
        }
        guard status > 0 else { throw CodecError(.badData, "an image of an unusual pixel format") }
        return image
    }
}

extension RasterImage {
    /// The image in another size, its shape ignored.
    public func scaled(width: Int, height: Int) throws(CodecError) -> RasterImage {
        try scaled(PixelArea(x: 0, y: 0, width: self.width, height: self.height), width: width, height: height)
    }

    /// The middle of the image, as much of it as fills `width` x `height` pixels.
    public func covering(width: Int, height: Int) throws(CodecError) -> RasterImage {
        var area = PixelArea(x: 0, y: 0, width: self.width, height: self.height)
        guard width > 0, height > 0 else { throw CodecError(.badConfiguration, "an image of \(width)x\(height)") }
        if self.width * height > width * self.height {
            area.width = max(width * self.height / height, 1)
            area.x = (self.width - area.width) / 2
        } else {
            area.height = max(height * self.width / width, 1)
            area.y = (self.height - area.height) / 2
        }
        return try scaled(area, width: width, height: height)
    }

    /// The whole image as large as it goes into `width` x `height` pixels in its own shape.
    public func contained(width: Int, height: Int) throws(CodecError) -> RasterImage {
        guard width > 0, height > 0 else { throw CodecError(.badConfiguration, "an image of \(width)x\(height)") }
        if self.width * height > width * self.height {
            return try scaled(width: width, height: max((self.height * width + self.width / 2) / self.width, 1))
        }
        return try scaled(width: max((self.width * height + self.height / 2) / self.height, 1), height: height)
    }

    /// A part of the image; need not be even.
    private struct PixelArea {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }

    private func scaled(_ area: PixelArea, width: Int, height: Int) throws(CodecError) -> RasterImage {
        let result = try RasterImage(width: width, height: height)
        var status: Int32 = 0
        withPixels { pixels, stride in
            status = result.withMutablePixels { target, targetStride in
                ARGBScale(
                    pixels + area.y * stride + area.x * 4,
                    Int32(stride),
                    Int32(area.width),
                    Int32(area.height),
                    target,
                    Int32(targetStride),
                    Int32(width),
                    Int32(height),
                    // Averages what becomes one pixel, and is bilinear where none does.
                    kFilterBox
                )
            }
        }
        guard status == 0 else { throw CodecError(.failed, "scaling an image to \(width)x\(height)") }
        return result
    }
}

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

    /// `image` the right way up.
    func applied(to image: RasterImage) throws(CodecError) -> RasterImage {
        let (width, height) = isTransposed ? (image.height, image.width) : (image.width, image.height)
        let result = try RasterImage(width: width, height: height)
        image.withPixels { pixels, stride in
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
