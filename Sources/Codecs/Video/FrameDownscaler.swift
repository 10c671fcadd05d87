import CFFmpeg
import Media

/// Makes a decoder's frames in the size in which they will be shown, while their rows are in the processor's cache.
///
/// The decoder calls it for the memory of each frame, and then for each strip of rows that is finished.
/// `@unchecked Sendable`: owned by the decoder it serves, and called by that alone.
final class FrameDownscaler: @unchecked Sendable {
    /// Rows that are scaled at a time: more than a strip, so that little is begun and ended, and few enough for the
    /// cache.
    private static let lot = 64

    /// What is wanted; frames that are begun keep what was wanted then.
    var reduction: DownscaleTarget?
    /// Seconds spent so far.
    private(set) var seconds = 0.0
    private var scaler = FrameScaler()
    private var pool: OpaquePointer?
    private var poolSize = 0

    deinit { av_buffer_pool_uninit(&pool) }

    /// Lets `context`, not opened yet, call this; it must outlive it.
    func serve(_ context: CodecContext.Pointer) {
        context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        context.pointee.get_buffer2 = { context, frame, flags in
            let status = avcodec_default_get_buffer2(context, frame, flags)
            guard status >= 0, let context, let frame else { return status }
            FrameDownscaler.of(context)?.begin(frame, context)
            return status
        }
        context.pointee.draw_horiz_band = { context, frame, _, row, structure, count in
            guard let context, let frame else { return }
            FrameDownscaler.of(context)?.processRows(Int(row)..<Int(row + count), isFrame: structure == 3, of: frame)
        }
    }

    private static func of(_ context: CodecContext.Pointer) -> FrameDownscaler? {
        context.pointee.opaque.map { Unmanaged<FrameDownscaler>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Gives a frame that is begun room for its copy, if there is to be one.
    private func begin(_ frame: UnsafeMutablePointer<AVFrame>, _ context: CodecContext.Pointer) {
        let (width, height) = (Int(context.pointee.width), Int(context.pointee.height))
        let ratio = context.pointee.sample_aspect_ratio
        let aspect = SampleAspectRatio(Int(ratio.num), Int(ratio.den))
        guard PixelFormatConverter.isNative(frame.pointee.format), let source = frame.pointee.data.0,
            let framing = reduction?.framing(width: width, height: height, aspect: aspect),
            let way = ScalingMethod(
                framing.crop.width,
                framing.target.width,
                framing.crop.height,
                framing.target.height
            ),
            let buffer = memory(for: framing.target)
        else { return }
        let copy = DownscaledFrame(
            crop: framing.crop,
            width: framing.target.width,
            height: framing.target.height,
            way: way,
            frameWidth: width,
            frameHeight: height,
            source: source
        )
        DownscaledFrame.at(buffer.pointee.data).initialize(to: copy)
        av_buffer_unref(&frame.pointee.opaque_ref)
        frame.pointee.opaque_ref = buffer
    }

    private func memory(for target: PixelRectangle) -> UnsafeMutablePointer<AVBufferRef>? {
        let size = DownscaledFrame.size(width: target.width, height: target.height)
        if size != poolSize {
            // Those that are still in use go back to where they came from.
            av_buffer_pool_uninit(&pool)
            pool = av_buffer_pool_init(size, nil)
            poolSize = size
        }
        return pool.flatMap { av_buffer_pool_get($0) }
    }

    /// Takes in that rows of a frame are finished, and goes on with its copy.
    private func processRows(_ rows: Range<Int>, isFrame: Bool, of frame: UnsafePointer<AVFrame>) {
        guard let memory = frame.pointee.opaque_ref?.pointee.data else { return }
        let copy = DownscaledFrame.at(memory)
        guard isFrame, rows.lowerBound == copy.pointee.sourceRows, !copy.pointee.isBroken else {
            copy.pointee.isBroken = true
            return
        }
        copy.pointee.sourceRows = rows.upperBound
        let crop = copy.pointee.crop
        let there = min(max(rows.upperBound - crop.y, 0), crop.height)
        let (made, height) = (copy.pointee.rows, copy.pointee.height)
        let reached = copy.pointee.way.reach(of: there, height: crop.height, targetHeight: height)
        let isLot = (reached - made) * crop.height >= Self.lot * height
        guard reached > made, isLot || there == crop.height else { return }
        let began = MonotonicTime.now()
        do throws(CodecError) {
            try scaler.scaleRows(
                made..<reached,
                by: copy.pointee.way,
                from: FramePlanes(UnsafeMutablePointer(mutating: frame)).moved(x: crop.x, y: crop.y),
                width: crop.width,
                height: crop.height,
                to: copy.pointee.planes(memory),
                targetWidth: copy.pointee.width,
                targetHeight: height,
                isInCache: true
            )
            copy.pointee.rows = reached
        } catch {
            // It is shown by way of the whole frame.
            copy.pointee.isBroken = true
        }
        seconds += MonotonicTime.now().seconds(since: began)
    }
}

/// The smaller size in which the frames of a stream are going to be shown.
///
/// A decoder that knows it makes each frame in that size too, row by row as it is decoded: then the rows still lie in
/// the processor's cache, while a whole frame has left it before its turn comes.
public struct DownscaleTarget: Sendable, Equatable {
    /// Pixels of the tile, even.
    public var width: Int
    /// Pixels of the tile, even.
    public var height: Int
    /// How a frame gets into a tile of another shape.
    public var fit: FrameFit

    /// Makes one from its parts.
    public init(width: Int, height: Int, fit: FrameFit) {
        self.width = width
        self.height = height
        self.fit = fit
    }

    /// Which part of a frame is scaled to which size; nil when nothing is gained.
    func framing(width: Int, height: Int, aspect: SampleAspectRatio) -> FramePlacement? {
        let rectangle = PixelRectangle(x: 0, y: 0, width: self.width, height: self.height)
        guard !rectangle.isEmpty, width > 0, height > 0 else { return nil }
        let framing = FramePlacement(width: width, height: height, aspect: aspect, rectangle: rectangle, fit: fit)
        let (crop, target) = (framing.crop, framing.target)
        // A copy that is hardly smaller than the frame is no quicker to be fetched.
        guard 3 * crop.width * crop.height >= 4 * target.width * target.height else { return nil }
        return framing
    }
}

/// A frame's copy in a smaller size, on its way or whole.
///
/// It lies in memory that the frame it belongs to refers to, so that it lives as long as that; first this, then the
/// planes.
struct DownscaledFrame {
    /// From the beginning of the memory to the planes.
    private static let head = 256
    private static let alignment = 64

    /// The part of the frame that is in it.
    let crop: FramePlacement.Crop
    /// Pixels, even.
    let width: Int
    /// Pixels, even.
    let height: Int
    let way: ScalingMethod
    /// Of the frame as it will come out of the decoder.
    let frameWidth: Int
    /// Of the frame as it will come out of the decoder.
    let frameHeight: Int
    /// Where the frame's luma begins.
    let source: UnsafeMutablePointer<UInt8>
    /// Rows of the frame that have come, from the top on.
    var sourceRows = 0
    /// Rows that are made.
    var rows = 0
    /// Rows came in another order, or not as those of whole frames.
    var isBroken = false

    /// Bytes for one of so many pixels.
    static func size(width: Int, height: Int) -> Int {
        // Vector loads may read a little past the end of a row.
        head + stride(width) * height + stride(width / 2) * height + alignment
    }

    private static func stride(_ width: Int) -> Int { (width + alignment - 1) & ~(alignment - 1) }

    /// Where it lies.
    static func at(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<DownscaledFrame> {
        memory.assumingMemoryBound(to: DownscaledFrame.self)
    }

    /// Its planes, when it lies at `memory`.
    func planes(_ memory: UnsafeMutableRawPointer) -> FramePlanes {
        let start = memory.advanced(by: Self.head).assumingMemoryBound(to: UInt8.self)
        let (luma, chroma) = (Self.stride(width), Self.stride(width / 2))
        let u = start + luma * height
        return FramePlanes(
            y: .init(start: start, stride: luma),
            u: .init(start: u, stride: chroma),
            v: .init(start: u + chroma * (height / 2), stride: chroma)
        )
    }

    /// Whether it is the copy of all that is seen of `frame`, which a decoder gave out.
    func isWhole(of frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        // What was damaged may have been mended after its rows had come.
        !isBroken && rows == height && frame.pointee.data.0 == source && frame.pointee.decode_error_flags == 0
            && frame.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0
            && (frameWidth, frameHeight) == (Int(frame.pointee.width), Int(frame.pointee.height))
    }
}
