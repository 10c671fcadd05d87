import CFFmpeg
import CYUV

/// A decoded frame, 8-bit 4:2:0 in three planes; never written again, shared by reference between threads.
public final class VideoFrame: Sendable {
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
    /// - Parameter source: A frame in the format yuv420p or yuvj420p, its size within `FrameLimits`.
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
        if let memory = frame.pointee.opaque_ref?.pointee.data, !DownscaledFrame.at(memory).pointee.isWhole(of: frame) {
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
    func withReducedPlanes<R>(_ crop: FramePlacement.Crop, _ target: PixelRectangle, _ body: (FramePlanes) -> R) -> R? {
        guard let memory = frame.pointee.opaque_ref?.pointee.data else { return nil }
        let copy = DownscaledFrame.at(memory).pointee
        guard copy.crop == crop, (copy.width, copy.height) == (target.width, target.height) else { return nil }
        return withExtendedLifetime(self) { body(copy.planes(memory)) }
    }

    /// Lets `other`, which is blank, refer to the frame as well; without what else the stream had to say of it.
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
    func withPlanes<R>(_ body: (FramePlanes) -> R) -> R {
        withExtendedLifetime(self) { body(FramePlanes(frame)) }
    }
}

/// The largest frames a decoder accepts from a host.
public enum FrameLimits {
    /// Longest side in pixels.
    public static let side = 4096
    /// Pixels in all; a peer that asks for more memory is refused before it is allocated.
    public static let pixels = 4096 * 2304
}

/// Where the three planes of a 4:2:0 frame lie, and how many bytes there are from one row to the next.
struct FramePlanes {
    /// One plane of 8-bit samples.
    struct Plane {
        let start: UnsafeMutablePointer<UInt8>
        let stride: Int

        func at(x: Int, y: Int) -> UnsafeMutablePointer<UInt8> { start + y * stride + x }

        /// Asks for rows that will be read soon.
        func prefetch(width: Int, height: Int) {
            c_prefetch_rows(start, stride, Int32(width), Int32(height))
        }

        func moved(x: Int, y: Int) -> Plane { Plane(start: at(x: x, y: y), stride: stride) }

        func copy(to target: Plane, width: Int, height: Int) {
            c_copy_rows(start, stride, target.start, target.stride, Int32(width), Int32(height))
        }
    }

    let y: Plane
    let u: Plane
    let v: Plane

    init(y: Plane, u: Plane, v: Plane) {
        self.y = y
        self.u = u
        self.v = v
    }

    /// - Parameter frame: Has three planes with data.
    init(_ frame: UnsafeMutablePointer<AVFrame>) {
        let (data, strides) = (frame.pointee.data, frame.pointee.linesize)
        // Frames come here only after their format was checked or set, so the planes are there.
        guard let y = data.0, let u = data.1, let v = data.2 else { preconditionFailure("a frame without planes") }
        self.y = Plane(start: y, stride: Int(strides.0))
        self.u = Plane(start: u, stride: Int(strides.1))
        self.v = Plane(start: v, stride: Int(strides.2))
    }

    /// Asks for the first rows, which will be read soon.
    func prefetch(width: Int, height: Int) {
        y.prefetch(width: width, height: height)
        u.prefetch(width: width / 2, height: height / 2)
        v.prefetch(width: width / 2, height: height / 2)
    }

    /// The planes of the part that begins at the even position (`x`, `y`).
    func moved(x: Int, y: Int) -> FramePlanes {
        FramePlanes(
            y: self.y.moved(x: x, y: y),
            u: u.moved(x: x / 2, y: y / 2),
            v: v.moved(x: x / 2, y: y / 2)
        )
    }

    /// Copies `width` x `height` pixels, both even, to where `target` begins.
    func copy(to target: FramePlanes, width: Int, height: Int) {
        y.copy(to: target.y, width: width, height: height)
        u.copy(to: target.u, width: width / 2, height: height / 2)
        v.copy(to: target.v, width: width / 2, height: height / 2)
    }
}

/// How luma and chroma were made from red, green and blue (ITU-T H.273, MatrixCoefficients).
public enum ColourMatrix: Sendable, Equatable {
    case bt601
    case bt709
    case bt2020
    case smpte240

    /// The weight of red in luma.
    var red: Double {
        switch self {
        case .bt601: 0.299
        case .bt709: 0.2126
        case .bt2020: 0.2627
        case .smpte240: 0.212
        }
    }

    /// The weight of blue in luma.
    var blue: Double {
        switch self {
        case .bt601: 0.114
        case .bt709: 0.0722
        case .bt2020: 0.0593
        case .smpte240: 0.087
        }
    }

    /// The matrix a frame is tagged with; an untagged one is BT.601 at the sizes of standard definition, as players
    /// take it.
    init(tagged colourSpace: AVColorSpace, width: Int, height: Int) {
        switch colourSpace {
        case AVCOL_SPC_BT709: self = .bt709
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: self = .bt601
        case AVCOL_SPC_SMPTE240M: self = .smpte240
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: self = .bt2020
        default: self = min(width, height) > 576 || max(width, height) >= 1280 ? .bt709 : .bt601
        }
    }
}

/// The shape of one sample: how much wider than high it is shown.
public struct SampleAspectRatio: Sendable, Equatable {
    /// Width of a sample, in parts of `vertical`.
    public let horizontal: Int
    /// Height of a sample, in parts of `horizontal`.
    public let vertical: Int

    /// Samples as wide as high.
    public static let square = SampleAspectRatio(1, 1)

    /// Nonsense (zero, negative, or thinner than 1:8) becomes square.
    public init(_ horizontal: Int, _ vertical: Int) {
        guard horizontal > 0, vertical > 0, horizontal <= 8 * vertical, vertical <= 8 * horizontal else {
            self.horizontal = 1
            self.vertical = 1
            return
        }
        self.horizontal = horizontal
        self.vertical = vertical
    }
}
