import CFFmpeg
import Media

/// Makes a decoder's pictures in the size in which they will be shown, while their rows are in the processor's cache.
///
/// The decoder calls it for the memory of each picture, and then for each strip of rows that is finished.
/// `@unchecked Sendable`: owned by the decoder it serves, and called by that alone.
final class PictureReducer: @unchecked Sendable {
    /// Rows that are scaled at a time: more than a strip, so that little is begun and ended, and few enough for the cache.
    private static let lot = 64

    /// What is wanted; pictures that are begun keep what was wanted then.
    var reduction: PictureReduction?
    /// Seconds spent so far.
    private(set) var seconds = 0.0
    private var scaler = PictureScaler()
    private var pool: OpaquePointer?
    private var poolSize = 0

    deinit { av_buffer_pool_uninit(&pool) }

    /// Lets `context`, not opened yet, call this; it must outlive it.
    func serve(_ context: CodecContext.Pointer) {
        context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        context.pointee.get_buffer2 = { context, frame, flags in
            let status = avcodec_default_get_buffer2(context, frame, flags)
            guard status >= 0, let context, let frame else { return status }
            PictureReducer.of(context)?.begin(frame, context)
            return status
        }
        context.pointee.draw_horiz_band = { context, frame, _, row, structure, count in
            guard let context, let frame else { return }
            PictureReducer.of(context)?.take(Int(row)..<Int(row + count), isFrame: structure == 3, of: frame)
        }
    }

    private static func of(_ context: CodecContext.Pointer) -> PictureReducer? {
        context.pointee.opaque.map { Unmanaged<PictureReducer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Gives a picture that is begun room for its copy, if there is to be one.
    private func begin(_ frame: UnsafeMutablePointer<AVFrame>, _ context: CodecContext.Pointer) {
        let (width, height) = (Int(context.pointee.width), Int(context.pointee.height))
        let ratio = context.pointee.sample_aspect_ratio
        let aspect = SampleAspectRatio(Int(ratio.num), Int(ratio.den))
        guard PictureConverter.isNative(frame.pointee.format), let source = frame.pointee.data.0,
            let framing = reduction?.framing(width: width, height: height, aspect: aspect),
            let way = ScalingWay(
                framing.crop.width,
                framing.target.width,
                framing.crop.height,
                framing.target.height
            ),
            let buffer = memory(for: framing.target)
        else { return }
        let copy = ReducedPicture(
            crop: framing.crop,
            width: framing.target.width,
            height: framing.target.height,
            way: way,
            pictureWidth: width,
            pictureHeight: height,
            source: source
        )
        ReducedPicture.at(buffer.pointee.data).initialize(to: copy)
        av_buffer_unref(&frame.pointee.opaque_ref)
        frame.pointee.opaque_ref = buffer
    }

    private func memory(for target: PixelRectangle) -> UnsafeMutablePointer<AVBufferRef>? {
        let size = ReducedPicture.size(width: target.width, height: target.height)
        if size != poolSize {
            // Those that are still in use go back to where they came from.
            av_buffer_pool_uninit(&pool)
            pool = av_buffer_pool_init(size, nil)
            poolSize = size
        }
        return pool.flatMap { av_buffer_pool_get($0) }
    }

    /// Takes in that rows of a picture are finished, and goes on with its copy.
    private func take(_ rows: Range<Int>, isFrame: Bool, of frame: UnsafePointer<AVFrame>) {
        guard let memory = frame.pointee.opaque_ref?.pointee.data else { return }
        let copy = ReducedPicture.at(memory)
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
                from: PicturePlanes(UnsafeMutablePointer(mutating: frame)).moved(x: crop.x, y: crop.y),
                width: crop.width,
                height: crop.height,
                to: copy.pointee.planes(memory),
                targetWidth: copy.pointee.width,
                targetHeight: height,
                isNear: true
            )
            copy.pointee.rows = reached
        } catch {
            // It is shown by way of the whole picture.
            copy.pointee.isBroken = true
        }
        seconds += MonotonicTime.now().seconds(since: began)
    }
}
