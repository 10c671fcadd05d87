import CFFmpeg
import CYUV
public import NIOCore

/// The frame being composed: 8-bit 4:2:0, limited BT.709, black at first.
///
/// `@unchecked Sendable`: the planes are written without a lock. A canvas belongs to one thread at a time; the mixer's
/// thread fills it and hands it over to the encoder's through a queue, which orders the accesses.
public final class Canvas: @unchecked Sendable {
    /// Pixels, even.
    public let width: Int
    /// Pixels, even.
    public let height: Int

    /// The canvas's own memory.
    private let frame: UnsafeMutablePointer<AVFrame>
    /// What is shown in its stead; see `show`.
    private var borrowed: UnsafeMutablePointer<AVFrame>?
    var scaler = FrameScaler()

    /// - Parameters:
    ///   - width: Pixels, even, 16 to 4096.
    ///   - height: Pixels, even, 16 to 4096.
    public init(width: Int, height: Int) throws(CodecError) {
        guard (16...FrameLimits.side).contains(width), (16...FrameLimits.side).contains(height),
            width % 2 == 0, height % 2 == 0
        else {
            throw CodecError(.badConfiguration, "a canvas of \(width)x\(height)")
        }
        guard let frame = av_frame_alloc() else { throw CodecError(.outOfMemory, "a canvas") }
        frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
        frame.pointee.width = Int32(width)
        frame.pointee.height = Int32(height)
        frame.pointee.color_range = AVCOL_RANGE_MPEG
        frame.pointee.colorspace = AVCOL_SPC_BT709
        frame.pointee.color_primaries = AVCOL_PRI_BT709
        frame.pointee.color_trc = AVCOL_TRC_BT709
        let status = av_frame_get_buffer(frame, 64)
        guard status >= 0 else {
            var released: UnsafeMutablePointer<AVFrame>? = frame
            av_frame_free(&released)
            throw CodecError(status, doing: "a canvas of \(width)x\(height)")
        }
        self.width = width
        self.height = height
        self.frame = frame
        fill(bounds, .black)
    }

    deinit {
        var released: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&released)
        av_frame_free(&borrowed)
    }

    /// The whole canvas.
    public var bounds: PixelRectangle { PixelRectangle(x: 0, y: 0, width: width, height: height) }

    /// What the canvas shows, for an encoder; it takes a reference for as long as it reads.
    var shown: UnsafeMutablePointer<AVFrame> { borrowed ?? frame }

    /// What the canvas shows, to be read.
    var planes: FramePlanes { FramePlanes(shown) }

    /// The canvas's own memory, to be painted on; a frame that was only shown is gone.
    var ownPlanes: FramePlanes {
        if borrowed != nil { av_frame_free(&borrowed) }
        return FramePlanes(frame)
    }

    /// Shows `frame` itself, without painting it, until something is painted; then all has to be painted anew.
    ///
    /// - Returns: Whether it is of the canvas's size and colours. If not, nothing has changed.
    public func show(_ frame: VideoFrame) -> Bool {
        guard (frame.width, frame.height) == (width, height), frame.sampleAspectRatio == .square,
            ColourTransform(from: frame.matrix, isFullRange: frame.isFullRange) == nil
        else { return false }
        guard let other = av_frame_alloc() else { return false }
        guard frame.lend(to: other) else {
            var released: UnsafeMutablePointer<AVFrame>? = other
            av_frame_free(&released)
            return false
        }
        av_frame_free(&borrowed)
        borrowed = other
        return true
    }

    /// Lets nothing of the canvas's own memory be in anybody's hands but its own.
    func makeWritable() throws(CodecError) {
        guard borrowed == nil else { return }
        let status = av_frame_make_writable(frame)
        guard status >= 0 else { throw CodecError(status, doing: "taking a canvas back") }
    }

    /// Paints the part of `rectangle` that lies on the canvas.
    public func fill(_ rectangle: PixelRectangle, _ colour: YUVColour) {
        let part = clipped(rectangle)
        guard !part.isEmpty else { return }
        let at = ownPlanes.moved(x: part.x, y: part.y)
        let (width, height) = (Int32(part.width), Int32(part.height))
        SetPlane(at.y.start, Int32(at.y.stride), width, height, UInt32(colour.y))
        SetPlane(at.u.start, Int32(at.u.stride), width / 2, height / 2, UInt32(colour.u))
        SetPlane(at.v.start, Int32(at.v.stride), width / 2, height / 2, UInt32(colour.v))
    }

    /// Copies the part of `rectangle` that lies on both canvases, to the same place.
    public func copy(_ rectangle: PixelRectangle, from other: Canvas) {
        guard other !== self else { return }
        let part = other.clipped(clipped(rectangle))
        guard !part.isEmpty else { return }
        let target = ownPlanes.moved(x: part.x, y: part.y)
        let source = other.planes.moved(x: part.x, y: part.y)
        source.copy(to: target, width: part.width, height: part.height)
    }

    /// Scales `frame` into `rectangle` and brings it to the program's colours.
    ///
    /// Any frame size, sample shape, range and matrix works. The usual case, a frame in BT.709, is one pass from
    /// the decoder's memory into the canvas.
    ///
    /// - Parameters:
    ///   - rectangle: Not empty, and wholly on the canvas.
    ///   - mode: `.fill` crops, `.fit` leaves bars.
    ///   - background: The colour of the bars.
    /// - Throws: `.badRectangle` when `rectangle` is empty or leaves the canvas.
    public func draw(
        _ frame: VideoFrame,
        in rectangle: PixelRectangle,
        mode: FrameFit = .fill,
        background: YUVColour = .black
    ) throws(CodecError) {
        guard !rectangle.isEmpty, bounds.contains(rectangle) else {
            throw CodecError(.badRectangle, "\(rectangle) on a canvas of \(width)x\(height)")
        }
        let framing = FramePlacement(
            width: frame.width,
            height: frame.height,
            aspect: frame.sampleAspectRatio,
            rectangle: rectangle,
            fit: mode
        )
        fillBars(of: rectangle, around: framing.target, background)
        let target = ownPlanes.moved(x: framing.target.x, y: framing.target.y)
        let crop = framing.crop
        let (width, height) = (framing.target.width, framing.target.height)
        let isCopied: Void? = frame.withReducedPlanes(crop, framing.target) { source in
            source.copy(to: target, width: width, height: height)
        }
        if isCopied == nil { try scale(frame, crop, to: target, width: width, height: height) }
        if let transform = ColourTransform(from: frame.matrix, isFullRange: frame.isFullRange) {
            transform.apply(to: target, width: width, height: height)
        }
    }

    private func scale(
        _ frame: VideoFrame,
        _ crop: FramePlacement.Crop,
        to target: FramePlanes,
        width: Int,
        height: Int
    ) throws(CodecError) {
        let result = frame.withPlanes { (source) -> Result<Void, CodecError> in
            do throws(CodecError) {
                try scaler.scale(
                    from: source.moved(x: crop.x, y: crop.y),
                    width: crop.width,
                    height: crop.height,
                    to: target,
                    targetWidth: width,
                    targetHeight: height
                )
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    private func fillBars(of rectangle: PixelRectangle, around inner: PixelRectangle, _ colour: YUVColour) {
        let above = inner.y - rectangle.y
        let below = rectangle.bottom - inner.bottom
        let left = inner.x - rectangle.x
        let right = rectangle.right - inner.right
        fill(PixelRectangle(x: rectangle.x, y: rectangle.y, width: rectangle.width, height: above), colour)
        fill(PixelRectangle(x: rectangle.x, y: inner.bottom, width: rectangle.width, height: below), colour)
        fill(PixelRectangle(x: rectangle.x, y: inner.y, width: left, height: inner.height), colour)
        fill(PixelRectangle(x: inner.right, y: inner.y, width: right, height: inner.height), colour)
    }

    func clipped(_ rectangle: PixelRectangle) -> PixelRectangle {
        let (x, y) = (max(rectangle.x, 0), max(rectangle.y, 0))
        return PixelRectangle(
            x: x,
            y: y,
            width: max(min(rectangle.right, width) - x, 0),
            height: max(min(rectangle.bottom, height) - y, 0)
        )
    }
}

extension Canvas {
    /// Paints `other` over all of this canvas, in this canvas's size.
    ///
    /// Nothing is cropped: canvases of one program have one shape, give or take the pixel that makes a size even.
    public func scale(from other: Canvas) throws(CodecError) {
        guard other !== self else { return }
        guard other.width != width || other.height != height else { return copy(bounds, from: other) }
        try scaler.scale(
            from: other.planes,
            width: other.width,
            height: other.height,
            to: ownPlanes,
            targetWidth: width,
            targetHeight: height
        )
    }
}

extension Canvas {
    /// Lays `overlay` over the canvas with its upper left corner at (`x`, `y`).
    ///
    /// Only pixels where something of the overlay is seen are touched; where nothing is seen through it they are
    /// copied. Luma stays within 16 to 235 and chroma within 16 to 240.
    ///
    /// - Parameters:
    ///   - x: May be anywhere, also outside; an odd column moves to the even one before it.
    ///   - y: As `x`, for rows.
    ///   - opacity: 0, which does nothing, to 1.
    ///   - window: The only part of the canvas that is touched; nil for all of it.
    public func blend(
        _ overlay: OverlayImage,
        x: Int,
        y: Int,
        opacity: Double = 1,
        within window: PixelRectangle? = nil
    ) {
        let strength = UInt16(min(max(opacity.isNaN ? 0 : opacity, 0), 1) * 256 + 0.5)
        let visible = clipped(window ?? bounds)
        // Far outside there is nothing to see, and no sum may run over.
        let near = -(1 << 30)...1 << 30
        guard strength > 0, !visible.isEmpty, near.contains(x), near.contains(y) else { return }
        let (x, y) = (x & ~1, y & ~1)
        let rows = max(visible.y - y, 0)..<max(min(visible.bottom - y, overlay.height), max(visible.y - y, 0))
        let columns = max(visible.x - x, 0)..<max(min(visible.right - x, overlay.width), max(visible.x - x, 0))
        for pair in rows.lowerBound / 2..<rows.upperBound / 2 {
            for run in overlay.runs[pair] where run.start < columns.upperBound && run.end > columns.lowerBound {
                let start = max(run.start, columns.lowerBound)
                let part = Part(
                    start: start,
                    count: min(run.end, columns.upperBound) - start,
                    pair: pair,
                    isOpaque: run.isOpaque && strength == 256
                )
                blend(part, of: overlay, x: x, y: y, strength: strength)
            }
        }
    }

    /// Columns of one pair of an overlay's rows.
    private struct Part {
        let start: Int
        let count: Int
        let pair: Int
        let isOpaque: Bool
    }

    private func blend(_ part: Part, of overlay: OverlayImage, x: Int, y: Int, strength: UInt16) {
        let (column, row) = (part.start, 2 * part.pair)
        let source = overlay.planes.moved(x: column, y: row)
        let alpha = overlay.alpha.moved(x: column, y: row)
        let chromaAlpha = overlay.chromaAlpha.moved(x: column / 2, y: row / 2).start
        let target = ownPlanes.moved(x: x + column, y: y + row)
        if part.isOpaque {
            target.y.start.update(from: source.y.start, count: part.count)
            target.y.at(x: 0, y: 1).update(from: source.y.at(x: 0, y: 1), count: part.count)
            target.u.start.update(from: source.u.start, count: part.count / 2)
            target.v.start.update(from: source.v.start, count: part.count / 2)
            return
        }
        let luma = BlendKernel(strength: strength, upperBound: 235)
        let chroma = BlendKernel(strength: strength, upperBound: 240)
        luma.run(source.y.start, alpha.start, over: target.y.start, count: part.count)
        luma.run(source.y.at(x: 0, y: 1), alpha.at(x: 0, y: 1), over: target.y.at(x: 0, y: 1), count: part.count)
        chroma.run(source.u.start, chromaAlpha, over: target.u.start, count: part.count / 2)
        chroma.run(source.v.start, chromaAlpha, over: target.v.start, count: part.count / 2)
    }
}

extension Canvas {
    /// Mixes the part of `rectangle` that lies on both canvases with the same place of `other`.
    ///
    /// - Parameter amount: How much of `other` is seen afterwards: 0 changes nothing, 1 copies.
    public func fade(_ rectangle: PixelRectangle, from other: Canvas, amount: Double) {
        let weight = Self.weight(amount)
        guard weight < 256 else { return copy(rectangle, from: other) }
        guard weight > 0, other !== self else { return }
        let part = other.clipped(clipped(rectangle))
        guard !part.isEmpty else { return }
        let target = ownPlanes.moved(x: part.x, y: part.y)
        let source = other.planes.moved(x: part.x, y: part.y)
        Self.mix(target.y, source.y, part.width, part.height, weight)
        Self.mix(target.u, source.u, part.width / 2, part.height / 2, weight)
        Self.mix(target.v, source.v, part.width / 2, part.height / 2, weight)
    }

    /// Mixes the part of `rectangle` that lies on the canvas with one colour.
    ///
    /// - Parameter amount: How much of the colour is seen afterwards: 0 changes nothing, 1 fills.
    public func fade(_ rectangle: PixelRectangle, to colour: YUVColour, amount: Double) {
        let weight = Self.weight(amount)
        guard weight < 256 else { return fill(rectangle, colour) }
        let part = clipped(rectangle)
        guard weight > 0, !part.isEmpty else { return }
        let target = ownPlanes.moved(x: part.x, y: part.y)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: part.width) { row in
            guard let start = row.baseAddress else { return }
            for (plane, value, width, height) in [
                (target.y, colour.y, part.width, part.height),
                (target.u, colour.u, part.width / 2, part.height / 2),
                (target.v, colour.v, part.width / 2, part.height / 2),
            ] {
                row.initialize(repeating: value)
                // The same row again and again.
                Self.mix(plane, FramePlanes.Plane(start: start, stride: 0), width, height, weight)
            }
        }
    }

    /// Takes light and colour from the part of `rectangle` that lies on the canvas.
    ///
    /// - Parameter amount: 0 changes nothing, 1 leaves black.
    public func dim(_ rectangle: PixelRectangle, amount: Double) {
        fade(rectangle, to: .black, amount: amount)
    }

    private static func weight(_ amount: Double) -> Int32 {
        Int32(min(max(amount.isNaN ? 0 : amount, 0), 1) * 256 + 0.5)
    }

    private static func mix(
        _ target: FramePlanes.Plane,
        _ other: FramePlanes.Plane,
        _ width: Int,
        _ height: Int,
        _ weight: Int32
    ) {
        let (start, stride) = (target.start, Int32(target.stride))
        InterpolatePlane(
            start,
            stride,
            other.start,
            Int32(other.stride),
            start,
            stride,
            Int32(width),
            Int32(height),
            weight
        )
    }
}

extension Canvas {
    /// The luma of one pixel, 16 (black) to 235 (white); coordinates outside are moved to the nearest edge.
    public func luma(x: Int, y: Int) -> UInt8 {
        planes.y.at(x: min(max(x, 0), width - 1), y: min(max(y, 0), height - 1)).pointee
    }

    /// The colour of one pixel; coordinates outside are moved to the nearest edge.
    public func colour(x: Int, y: Int) -> YUVColour {
        let (x, y) = (min(max(x, 0), width - 1), min(max(y, 0), height - 1))
        let planes = planes
        return YUVColour(
            y: planes.y.at(x: x, y: y).pointee,
            u: planes.u.at(x: x / 2, y: y / 2).pointee,
            v: planes.v.at(x: x / 2, y: y / 2).pointee
        )
    }

    /// The mean colour of the part of `rectangle` that lies on the canvas; black when none does.
    public func averageColour(of rectangle: PixelRectangle) -> YUVColour {
        let part = clipped(rectangle)
        guard !part.isEmpty else { return .black }
        let at = planes.moved(x: part.x, y: part.y)
        return YUVColour(
            y: Self.mean(at.y, part.width, part.height),
            u: Self.mean(at.u, part.width / 2, part.height / 2),
            v: Self.mean(at.v, part.width / 2, part.height / 2)
        )
    }

    private static func mean(_ plane: FramePlanes.Plane, _ width: Int, _ height: Int) -> UInt8 {
        var sum = 0
        for row in 0..<height {
            let start = plane.at(x: 0, y: row)
            for column in 0..<width { sum += Int(start[column]) }
        }
        let count = width * height
        return UInt8((sum + count / 2) / count)
    }
}

extension Canvas {
    /// A number that is the same for canvases whose every pixel is.
    ///
    /// For comparing one run of a program with another; it keeps nobody out who wants two canvases to look alike to it.
    public var fingerprint: UInt64 {
        var value: UInt64 = 0xCBF2_9CE4_8422_2325
        for (plane, width, height) in [
            (planes.y, width, height), (planes.u, width / 2, height / 2), (planes.v, width / 2, height / 2),
        ] {
            for row in 0..<height {
                let start = UnsafeRawPointer(plane.start + row * plane.stride)
                var column = 0
                while column + 8 <= width {
                    value = Self.mix(value, (start + column).loadUnaligned(as: UInt64.self))
                    column += 8
                }
                while column < width {
                    value = Self.mix(value, UInt64((start + column).load(as: UInt8.self)))
                    column += 1
                }
            }
        }
        return value
    }

    private static func mix(_ value: UInt64, _ word: UInt64) -> UInt64 {
        // FNV's step over words instead of bytes, and a turn so that the high bits reach the low ones.
        let product = (value ^ word) &* 0x0000_0100_0000_01B3
        return product << 23 | product >> 41
    }
}

extension Canvas {
    /// The canvas as a JPEG file (JFIF: BT.601, full range).
    ///
    /// - Parameter quality: 2 is the best, 31 the smallest.
    public func jpeg(quality: Int = 4) throws(CodecError) -> ByteBuffer {
        let (width, height) = (Int32(width), Int32(height))
        let scale = Int32(min(max(quality, 2), 31)) * FF_QP2LAMBDA
        let encoder = try CodecContext(encoder: "mjpeg") { (context) throws(CodecError) in
            context.pointee.width = width
            context.pointee.height = height
            context.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
            context.pointee.color_range = AVCOL_RANGE_JPEG
            context.pointee.time_base = AVRational(num: 1, den: 1)
            context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            context.pointee.global_quality = scale
        }
        // By way of RGB, for the program's matrix is another one than that of a JPEG.
        let colours = try FrameOwner()
        try colours.allocate(width: width, height: height, format: AV_PIX_FMT_RGB24)
        let converter = try ScalerOwner(width: width, height: height, from: AV_PIX_FMT_YUV420P, to: AV_PIX_FMT_RGB24)
        try converter.scale(from: shown, to: colours.pointer)
        let image = try FrameOwner()
        try image.allocate(width: width, height: height, format: AV_PIX_FMT_YUVJ420P)
        try Self.convert(colours.pointer, to: image.pointer, width: width, height: height)
        image.pointer.pointee.color_range = AVCOL_RANGE_JPEG
        image.pointer.pointee.quality = scale
        let packet = try PacketOwner()
        var status = avcodec_send_frame(encoder.pointer, image.pointer)
        guard status >= 0 else { throw CodecError(status, doing: "writing a JPEG") }
        status = avcodec_receive_packet(encoder.pointer, packet.pointer)
        guard status >= 0 else { throw CodecError(status, doing: "writing a JPEG") }
        return ByteBuffer(bytes: packet.bytes)
    }

    /// From RGB to what the format means by itself: BT.601 in full range.
    private static func convert(
        _ source: UnsafeMutablePointer<AVFrame>,
        to target: UnsafeMutablePointer<AVFrame>,
        width: Int32,
        height: Int32
    ) throws(CodecError) {
        let (from, to) = (AV_PIX_FMT_RGB24, AV_PIX_FMT_YUVJ420P)
        guard
            let context = sws_getContext(
                width,
                height,
                from,
                width,
                height,
                to,
                SWS_BILINEAR | SWS_ACCURATE_RND,
                nil,
                nil,
                nil
            )
        else { throw CodecError(.unavailable, "no conversion to a JPEG's colours") }
        defer { sws_freeContext(context) }
        let table = sws_getCoefficients(SWS_CS_ITU601)
        sws_setColorspaceDetails(context, table, 1, table, 1, 0, 1 << 16, 1 << 16)
        let status = sws_scale_frame(context, target, source)
        guard status >= 0 else { throw CodecError(status, doing: "converting a frame") }
    }
}

extension FrameOwner {
    /// Gives the frame memory for its samples.
    fileprivate func allocate(width: Int32, height: Int32, format: AVPixelFormat) throws(CodecError) {
        pointer.pointee.width = width
        pointer.pointee.height = height
        pointer.pointee.format = format.rawValue
        let status = av_frame_get_buffer(pointer, 0)
        guard status >= 0 else { throw CodecError(status, doing: "an image") }
    }
}

extension Canvas {
    /// The canvas as a PNG file, for people to look at.
    public func png() throws(CodecError) -> ByteBuffer {
        let (width, height) = (Int32(width), Int32(height))
        let encoder = try CodecContext(encoder: "png") { (context) throws(CodecError) in
            context.pointee.width = width
            context.pointee.height = height
            context.pointee.pix_fmt = AV_PIX_FMT_RGB24
            context.pointee.time_base = AVRational(num: 1, den: 1)
        }
        let image = try FrameOwner()
        image.pointer.pointee.width = width
        image.pointer.pointee.height = height
        image.pointer.pointee.format = AV_PIX_FMT_RGB24.rawValue
        var status = av_frame_get_buffer(image.pointer, 0)
        guard status >= 0 else { throw CodecError(status, doing: "an image") }
        let converter = try ScalerOwner(width: width, height: height, from: AV_PIX_FMT_YUV420P, to: AV_PIX_FMT_RGB24)
        try converter.scale(from: shown, to: image.pointer)
        let packet = try PacketOwner()
        status = avcodec_send_frame(encoder.pointer, image.pointer)
        guard status >= 0 else { throw CodecError(status, doing: "writing a PNG") }
        status = avcodec_receive_packet(encoder.pointer, packet.pointer)
        guard status >= 0 else { throw CodecError(status, doing: "writing a PNG") }
        return ByteBuffer(bytes: packet.bytes)
    }
}
