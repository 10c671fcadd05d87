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
        self.frame = frame
    }

    deinit {
        var released: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&released)
    }

    /// Calls `body` with the three planes; they are valid only until it returns.
    func withPlanes<R>(_ body: (PicturePlanes) -> R) -> R {
        withExtendedLifetime(self) { body(PicturePlanes(frame)) }
    }
}
