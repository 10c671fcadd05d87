import CYUV

/// Scales 4:2:0 pictures straight into the planes of a canvas.
///
/// libyuv has hand-written rows for exactly 1:1, 3:4, 1:2 and 1:4. Anything smaller than half is halved through these
/// into scratch memory first and then brought to size by bilinear filtering, which then never skips a sample. That
/// costs a third of a filter as wide as the ratio asks for, and lets through a little of the finest patterns.
struct PictureScaler: ~Copyable {
    /// Below this many pixels a side the plain box filter is cheap enough, and halving would round too much away.
    private static let smallestHalved = 128

    private var scratch = ScratchPicture()

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
        while !Self.isFast(width, targetWidth, height, targetHeight), width > 2 * targetWidth,
            height > 2 * targetHeight,
            min(width, height) >= Self.smallestHalved
        {
            // Multiples of four, so that chroma halves exactly too.
            let (halfWidth, halfHeight) = ((width & ~3) / 2, (height & ~3) / 2)
            let half = try scratch.planes(step: step, width: halfWidth, height: halfHeight)
            try Self.run(
                source,
                halfWidth * 2,
                halfHeight * 2,
                half,
                halfWidth,
                halfHeight,
                filter: kFilterBox
            )
            (source, width, height) = (half, halfWidth, halfHeight)
            step += 1
        }
        let isSmaller = width > 2 * targetWidth || height > 2 * targetHeight
        let filter = isSmaller || Self.isFast(width, targetWidth, height, targetHeight) ? kFilterBox : kFilterBilinear
        try Self.run(source, width, height, target, targetWidth, targetHeight, filter: filter)
    }

    private static func isFast(_ width: Int, _ targetWidth: Int, _ height: Int, _ targetHeight: Int) -> Bool {
        [(1, 1), (4, 3), (2, 1), (4, 1)].contains { source, target in
            width * target == targetWidth * source && height * target == targetHeight * source
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
