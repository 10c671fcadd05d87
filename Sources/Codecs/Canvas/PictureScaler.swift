import CYUV

/// Scales 4:2:0 pictures straight into the planes of a canvas.
///
/// libyuv has hand-written rows for exactly 1:1, 3:4, 1:2 and 1:4, and enlarges. What else is smaller goes through our
/// own scaler by area, which reaches down to a third; anything smaller than that is halved into scratch memory first.
struct PictureScaler: ~Copyable {
    /// Rows scaled at a time, while the next are on their way from memory; a multiple of 8, for chroma at 3:4.
    private static let band = 16
    /// Below this many pixels a side the plain box filter is cheap enough, and halving would round too much away.
    private static let smallestHalved = 128

    private var scratch = ScratchPicture()
    private var area = AreaScaler()

    init() {}

    /// Scales `width` x `height` samples at `source` to `targetWidth` x `targetHeight` at `target`.
    mutating func scale(
        from source: PicturePlanes,
        width: Int,
        height: Int,
        to target: PicturePlanes,
        targetWidth: Int,
        targetHeight: Int
    ) throws(CodecError) {
        var (source, width, height) = (source, width, height)
        var step = 0
        while !Self.isFast(width, targetWidth, height, targetHeight),
            !AreaScaler.takes(width, targetWidth, height, targetHeight), width > 2 * targetWidth,
            height > 2 * targetHeight,
            min(width, height) >= Self.smallestHalved
        {
            // Multiples of four, so that chroma halves exactly too.
            let (halfWidth, halfHeight) = ((width & ~3) / 2, (height & ~3) / 2)
            let half = try scratch.planes(step: step, width: halfWidth, height: halfHeight)
            try Self.runInBands(source, halfWidth * 2, halfHeight * 2, half, halfWidth, halfHeight)
            (source, width, height) = (half, halfWidth, halfHeight)
            step += 1
        }
        let isFast = Self.isFast(width, targetWidth, height, targetHeight)
        if !isFast, AreaScaler.takes(width, targetWidth, height, targetHeight) {
            area.scale(source, width, height, to: target, targetWidth, targetHeight)
            return
        }
        if isFast { return try Self.runInBands(source, width, height, target, targetWidth, targetHeight) }
        let isSmaller = width > 2 * targetWidth || height > 2 * targetHeight
        let filter = isSmaller ? kFilterBox : kFilterBilinear
        try Self.run(source, width, height, target, targetWidth, targetHeight, filter: filter)
    }

    private static func isFast(_ width: Int, _ targetWidth: Int, _ height: Int, _ targetHeight: Int) -> Bool {
        [(1, 1), (4, 3), (2, 1), (4, 1)].contains { source, target in
            width * target == targetWidth * source && height * target == targetHeight * source
        }
    }

    /// Scales by an exact ratio, asking ahead for what comes next.
    ///
    /// A decoder's pictures have left the processor's caches by the time they are scaled.
    private static func runInBands(
        _ source: PicturePlanes,
        _ width: Int,
        _ height: Int,
        _ target: PicturePlanes,
        _ targetWidth: Int,
        _ targetHeight: Int
    ) throws(CodecError) {
        var row = 0
        while row < height {
            let rows = min(band, height - row)
            let next = min(band, height - row - rows)
            source.moved(x: 0, y: row + rows).prefetch(width: width, height: next)
            try run(
                source.moved(x: 0, y: row),
                width,
                rows,
                target.moved(x: 0, y: row * targetHeight / height),
                targetWidth,
                rows * targetHeight / height,
                filter: kFilterBox
            )
            row += rows
        }
    }

    private static func run(
        _ source: PicturePlanes,
        _ width: Int,
        _ height: Int,
        _ target: PicturePlanes,
        _ targetWidth: Int,
        _ targetHeight: Int,
        filter: FilterMode
    ) throws(CodecError) {
        let status = I420Scale(
            source.y.start,
            Int32(source.y.stride),
            source.u.start,
            Int32(source.u.stride),
            source.v.start,
            Int32(source.v.stride),
            Int32(width),
            Int32(height),
            target.y.start,
            Int32(target.y.stride),
            target.u.start,
            Int32(target.u.stride),
            target.v.start,
            Int32(target.v.stride),
            Int32(targetWidth),
            Int32(targetHeight),
            filter
        )
        guard status == 0 else {
            throw CodecError(.failed, "scaling \(width)x\(height) to \(targetWidth)x\(targetHeight)")
        }
    }
}
