import CYUV

/// Scales 4:2:0 pictures straight into the planes of a canvas.
///
/// What keeps its size is copied. Half the size and a third are made with the detail kept. libyuv has hand-written rows
/// for exactly 3:4 and 1:4, and enlarges. What else is smaller goes through our own scaler by area, which reaches down to
/// a third; anything smaller than that is halved into scratch memory first.
struct PictureScaler: ~Copyable {
    /// Below this many pixels a side the plain box filter is cheap enough, and halving would round too much away.
    private static let smallestHalved = 128

    private var scratch = ScratchPicture()
    private var area = AreaScaler()
    private let fine = FineScaler()

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
        while ScalingWay(width, targetWidth, height, targetHeight) == nil, width > 2 * targetWidth,
            height > 2 * targetHeight,
            min(width, height) >= Self.smallestHalved
        {
            // Multiples of four, so that chroma halves exactly too.
            let (halfWidth, halfHeight) = ((width & ~3) / 2, (height & ~3) / 2)
            let smaller = try scratch.planes(step: step, width: halfWidth, height: halfHeight)
            try scaleRows(
                0..<halfHeight,
                by: .exact(source: 2, target: 1),
                from: source,
                width: halfWidth * 2,
                height: halfHeight * 2,
                to: smaller,
                targetWidth: halfWidth,
                targetHeight: halfHeight
            )
            (source, width, height) = (smaller, halfWidth, halfHeight)
            step += 1
        }
        if let way = ScalingWay(width, targetWidth, height, targetHeight) {
            return try scaleRows(
                0..<targetHeight,
                by: way,
                from: source,
                width: width,
                height: height,
                to: target,
                targetWidth: targetWidth,
                targetHeight: targetHeight
            )
        }
        let isSmaller = width > 2 * targetWidth || height > 2 * targetHeight
        let filter = isSmaller ? kFilterBox : kFilterBilinear
        try Self.run(source, width, height, target, targetWidth, targetHeight, filter: filter)
    }

    /// Makes the rows `rows` of the target.
    ///
    /// - Parameters:
    ///   - rows: From where the last call ended, or from 0, to what the way's `reach` says.
    ///   - way: The one from one of these sizes to the other.
    ///   - isNear: The source lies in the processor's caches; else it is asked for ahead of its use, since a decoder's
    ///     pictures have left them by the time they are shown.
    mutating func scaleRows(
        _ rows: Range<Int>,
        by way: ScalingWay,
        from source: PicturePlanes,
        width: Int,
        height: Int,
        to target: PicturePlanes,
        targetWidth: Int,
        targetHeight: Int,
        isNear: Bool = false
    ) throws(CodecError) {
        switch way {
        case .fine(let divisor):
            fine.scale(source, width, height, by: divisor, to: target, rows: rows, isNear: isNear)
        case .area:
            area.scale(source, width, height, to: target, targetWidth, targetHeight, rows: rows, isNear: isNear)
        case .exact(source: 1, target: 1):
            let (source, target) = (source.moved(x: 0, y: rows.lowerBound), target.moved(x: 0, y: rows.lowerBound))
            source.copy(to: target, width: width, height: rows.count)
        case .exact(let from, let to):
            let end = rows.upperBound == targetHeight ? height : rows.upperBound * from / to
            var row = rows.lowerBound * from / to
            while row < end {
                let count = min(ScalingWay.band, end - row)
                if !isNear {
                    let next = min(ScalingWay.band, height - row - count)
                    source.moved(x: 0, y: row + count).prefetch(width: width, height: next)
                }
                try Self.run(
                    source.moved(x: 0, y: row),
                    width,
                    count,
                    target.moved(x: 0, y: row * targetHeight / height),
                    targetWidth,
                    count * targetHeight / height,
                    filter: kFilterBox
                )
                row += count
            }
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
