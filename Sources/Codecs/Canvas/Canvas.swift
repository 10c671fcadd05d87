import CFFmpeg
import CYUV

/// The picture being composed: 8-bit 4:2:0, limited BT.709, black at first.
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
    var scaler = PictureScaler()

    /// - Parameters:
    ///   - width: Pixels, even, 16 to 4096.
    ///   - height: Pixels, even, 16 to 4096.
    public init(width: Int, height: Int) throws(CodecError) {
        guard (16...PictureLimits.side).contains(width), (16...PictureLimits.side).contains(height),
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
    var planes: PicturePlanes { PicturePlanes(shown) }

    /// The canvas's own memory, to be painted on; a picture that was only shown is gone.
    var ownPlanes: PicturePlanes {
        if borrowed != nil { av_frame_free(&borrowed) }
        return PicturePlanes(frame)
    }

    /// Shows `picture` itself, without painting it, until something is painted; then all has to be painted anew.
    ///
    /// - Returns: Whether it is of the canvas's size and colours. If not, nothing has changed.
    public func show(_ picture: Picture) -> Bool {
        guard (picture.width, picture.height) == (width, height), picture.sampleAspectRatio == .square,
            ColourTransform(from: picture.matrix, isFullRange: picture.isFullRange) == nil
        else { return false }
        guard let other = av_frame_alloc() else { return false }
        guard picture.lend(to: other) else {
            var released: UnsafeMutablePointer<AVFrame>? = other
            av_frame_free(&released)
            return false
        }
        av_frame_free(&borrowed)
        borrowed = other
        return true
    }

    /// Lets nothing of the canvas's own memory be in anybody's hands but its own.
    func takeBack() throws(CodecError) {
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

    /// Scales `picture` into `rectangle` and brings it to the program's colours.
    ///
    /// Any picture size, sample shape, range and matrix works. The usual case, a picture in BT.709, is one pass from
    /// the decoder's memory into the canvas.
    ///
    /// - Parameters:
    ///   - rectangle: Not empty, and wholly on the canvas.
    ///   - mode: `.fill` crops, `.fit` leaves bars.
    ///   - background: The colour of the bars.
    /// - Throws: `.badRectangle` when `rectangle` is empty or leaves the canvas.
    public func draw(
        _ picture: Picture,
        in rectangle: PixelRectangle,
        mode: PictureFit = .fill,
        background: YUVColour = .black
    ) throws(CodecError) {
        guard !rectangle.isEmpty, bounds.contains(rectangle) else {
            throw CodecError(.badRectangle, "\(rectangle) on a canvas of \(width)x\(height)")
        }
        let framing = PictureFraming(
            width: picture.width,
            height: picture.height,
            aspect: picture.sampleAspectRatio,
            rectangle: rectangle,
            fit: mode
        )
        fillBars(of: rectangle, around: framing.target, background)
        let target = ownPlanes.moved(x: framing.target.x, y: framing.target.y)
        let crop = framing.crop
        let (width, height) = (framing.target.width, framing.target.height)
        let isCopied: Void? = picture.withReducedPlanes(crop, framing.target) { source in
            source.copy(to: target, width: width, height: height)
        }
        if isCopied == nil { try scale(picture, crop, to: target, width: width, height: height) }
        if let transform = ColourTransform(from: picture.matrix, isFullRange: picture.isFullRange) {
            transform.apply(to: target, width: width, height: height)
        }
    }

    private func scale(
        _ picture: Picture,
        _ crop: PictureFraming.Crop,
        to target: PicturePlanes,
        width: Int,
        height: Int
    ) throws(CodecError) {
        let result = picture.withPlanes { (source) -> Result<Void, CodecError> in
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
