import CFFmpeg

/// A decoded picture, 8-bit 4:2:0 in three planes; never written again, shared by reference between threads.
public final class Picture: Sendable {
    /// Pixels, 1 to 4096; may be odd.
    public let width: Int
    /// Pixels, 1 to 4096; may be odd.
    public let height: Int
    /// Presentation time in milliseconds, on the clock of the packets that were decoded.
    public let presentationTimestamp: Int64
    /// Luma spans 0 to 255 rather than 16 to 235.
    public let isFullRange: Bool
    /// How its luma and chroma were made.
    public let matrix: ColourMatrix
    /// The shape of its samples.
    public let sampleAspectRatio: SampleAspectRatio

    // Filled before `init` and never written after it; the buffers behind it are counted atomically by libavutil.
    private nonisolated(unsafe) let frame: UnsafeMutablePointer<AVFrame>

    /// Takes over what `source` refers to and leaves it blank.
    ///
    /// - Parameter source: A frame in the format yuv420p or yuvj420p, its size within `PictureLimits`.
    init(moving source: UnsafeMutablePointer<AVFrame>, presentationTimestamp: Int64) throws(CodecError) {
        let frame = try FrameOwner.move(from: source)
        let fields = frame.pointee
        width = Int(fields.width)
        height = Int(fields.height)
        self.presentationTimestamp = presentationTimestamp
        isFullRange = fields.color_range == AVCOL_RANGE_JPEG || fields.format == AV_PIX_FMT_YUVJ420P.rawValue
        matrix = ColourMatrix(tagged: fields.colorspace, width: Int(fields.width), height: Int(fields.height))
        sampleAspectRatio = SampleAspectRatio(
            Int(fields.sample_aspect_ratio.num),
            Int(fields.sample_aspect_ratio.den)
        )
        if let memory = frame.pointee.opaque_ref?.pointee.data, !ReducedPicture.at(memory).pointee.isWhole(of: frame) {
            av_buffer_unref(&frame.pointee.opaque_ref)
        }
        self.frame = frame
    }

    deinit {
        var released: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&released)
    }

    /// Calls `body` with the planes of a copy in the size of `target`, made of `crop`; they are valid only until it
    /// returns.
    ///
    /// - Returns: Nil when there is no such copy.
    func withReducedPlanes<R>(_ crop: PictureFraming.Crop, _ target: PixelRectangle, _ body: (PicturePlanes) -> R) -> R?
    {
        guard let memory = frame.pointee.opaque_ref?.pointee.data else { return nil }
        let copy = ReducedPicture.at(memory).pointee
        guard copy.crop == crop, (copy.width, copy.height) == (target.width, target.height) else { return nil }
        return withExtendedLifetime(self) { body(copy.planes(memory)) }
    }

    /// Lets `other`, which is blank, refer to the picture as well; without what else the stream had to say of it.
    ///
    /// - Returns: Whether it does.
    func lend(to other: UnsafeMutablePointer<AVFrame>) -> Bool {
        guard av_frame_ref(other, frame) >= 0 else { return false }
        while other.pointee.nb_side_data > 0, let first = other.pointee.side_data[0] {
            av_frame_remove_side_data(other, first.pointee.type)
        }
        return true
    }

    /// Calls `body` with the three planes; they are valid only until it returns.
    func withPlanes<R>(_ body: (PicturePlanes) -> R) -> R {
        withExtendedLifetime(self) { body(PicturePlanes(frame)) }
    }
}
