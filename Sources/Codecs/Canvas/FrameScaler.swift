import CYUV

/// Scales 4:2:0 frames straight into the planes of a canvas.
///
/// What keeps its size is copied. Half the size and a third are made with the detail kept. libyuv has hand-written rows
/// for exactly 3:4 and 1:4, and enlarges. What else is smaller goes through our own scaler by area, which reaches down
/// to a third; anything smaller than that is halved into scratch memory first.
struct FrameScaler: ~Copyable {
    /// Below this many pixels a side the plain box filter is cheap enough, and halving would round too much away.
    private static let smallestHalved = 128

    private var scratch = ScalerScratchBuffer()
    private var area = AreaScaler()
    private let fine = FineScaler()

    init() {}

    /// Scales `width` x `height` samples at `source` to `targetWidth` x `targetHeight` at `target`.
    mutating func scale(
        from source: FramePlanes,
        width: Int,
        height: Int,
        to target: FramePlanes,
        targetWidth: Int,
        targetHeight: Int
    ) throws(CodecError) {
        var (source, width, height) = (source, width, height)
        var step = 0
        while ScalingMethod(width, targetWidth, height, targetHeight) == nil, width > 2 * targetWidth,
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
        if let way = ScalingMethod(width, targetWidth, height, targetHeight) {
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
    ///     frames have left them by the time they are shown.
    mutating func scaleRows(
        _ rows: Range<Int>,
        by way: ScalingMethod,
        from source: FramePlanes,
        width: Int,
        height: Int,
        to target: FramePlanes,
        targetWidth: Int,
        targetHeight: Int,
        isInCache: Bool = false
    ) throws(CodecError) {
        switch way {
        case .fine(let divisor):
            fine.scale(source, width, height, by: divisor, to: target, rows: rows, isInCache: isInCache)
        case .area:
            area.scale(source, width, height, to: target, targetWidth, targetHeight, rows: rows, isInCache: isInCache)
        case .exact(source: 1, target: 1):
            let (source, target) = (source.moved(x: 0, y: rows.lowerBound), target.moved(x: 0, y: rows.lowerBound))
            source.copy(to: target, width: width, height: rows.count)
        case .exact(let from, let to):
            let end = rows.upperBound == targetHeight ? height : rows.upperBound * from / to
            var row = rows.lowerBound * from / to
            while row < end {
                let count = min(ScalingMethod.band, end - row)
                if !isInCache {
                    let next = min(ScalingMethod.band, height - row - count)
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
        _ source: FramePlanes,
        _ width: Int,
        _ height: Int,
        _ target: FramePlanes,
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

/// A way to scale a frame that goes from its top down, so that it can be gone while the frame is being decoded.
///
/// However many rows are made at a time, what comes out is the same to the bit.
enum ScalingMethod: Sendable, Equatable {
    /// By hand-written rows for exactly this ratio, `source` to `target`.
    case exact(source: Int, target: Int)
    /// To exactly half or a third of the size, with the detail kept.
    case fine(FineScaler.Divisor)
    /// By the area that each sample covers.
    case area

    /// Rows that are asked for ahead of their use.
    static let ahead = 16
    /// Source rows that the hand-written loops are given at a time; a multiple of 8, for chroma at 3:4.
    static let band = 16
    /// Ratios that there are hand-written rows for.
    private static let exactRatios = [(1, 1), (4, 3), (2, 1), (4, 1)]

    /// The way from one size to another; nil where there is none from the top down.
    init?(_ width: Int, _ targetWidth: Int, _ height: Int, _ targetHeight: Int) {
        if let divisor = FineScaler.divisor(width, targetWidth, height, targetHeight) {
            self = .fine(divisor)
            return
        }
        let ratio = Self.exactRatios.first { source, target in
            width * target == targetWidth * source && height * target == targetHeight * source
        }
        if let ratio {
            self = .exact(source: ratio.0, target: ratio.1)
        } else if AreaScaler.takes(width, targetWidth, height, targetHeight) {
            self = .area
        } else {
            return nil
        }
    }

    /// How many rows of the target can be made when `rows` of the source's are there, from the top on.
    ///
    /// An even number, and one that making can be continued from.
    func reach(of rows: Int, height: Int, targetHeight: Int) -> Int {
        guard rows < height else { return targetHeight }
        switch self {
        case .exact(let source, let target): return rows / Self.band * Self.band * target / source
        case .fine(let divisor): return FineScaler.reach(of: rows, divisor)
        case .area: return AreaScaler.reach(of: rows, height: height, targetHeight: targetHeight)
        }
    }
}

/// Memory for the halved frames on the way to a small tile; kept from frame to frame.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct ScalerScratchBuffer: ~Copyable, @unchecked Sendable {
    /// 4096 halves five times before it is below the smallest size that is halved.
    private static let steps = 6

    private let areas: UnsafeMutablePointer<UnsafeMutableBufferPointer<UInt8>>

    init() {
        areas = .allocate(capacity: Self.steps)
        areas.initialize(repeating: UnsafeMutableBufferPointer(start: nil, count: 0), count: Self.steps)
    }

    deinit {
        for step in 0..<Self.steps { areas[step].deallocate() }
        areas.deallocate()
    }

    /// Planes for a frame of even `width` and `height`; each step has its own memory.
    mutating func planes(step: Int, width: Int, height: Int) throws(CodecError) -> FramePlanes {
        guard step < Self.steps else { throw CodecError(.failed, "a frame that does not become smaller") }
        let stride = (width + 63) & ~63
        let lumaSize = stride * height
        let chromaSize = stride / 2 * (height / 2)
        let size = lumaSize + 2 * chromaSize
        if areas[step].count < size {
            areas[step].deallocate()
            // Vector loads of the scaler may read a little past the end of a row.
            areas[step] = .allocate(capacity: size + 64)
        }
        guard let start = areas[step].baseAddress else { throw CodecError(.outOfMemory, "a scaled frame") }
        return FramePlanes(
            y: .init(start: start, stride: stride),
            u: .init(start: start + lumaSize, stride: stride / 2),
            v: .init(start: start + lumaSize + chromaSize, stride: stride / 2)
        )
    }
}
