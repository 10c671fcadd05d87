import CYUV

/// Makes planes smaller, down to a third, each sample the mean of the area that it covers.
///
/// Rows first, into a row of its own, and then columns: one pass over the source at any ratio. libyuv needs several
/// times as long where it has no loop of its own.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct AreaScaler: ~Copyable, @unchecked Sendable {
    /// Pairs of lengths remembered: four for each of twelve tiles of different sizes.
    private static let mostTaps = 48
    /// What is read past the end of a row, and left alone.
    private static let margin = 16
    /// Of chroma, half as wide, the loops take sixteen samples at a time.
    private static let leastWidth = 32

    private let row: UnsafeMutablePointer<UInt8>
    private var taps: [AreaTaps] = []
    private let isPlain: Bool

    /// - Parameter isPlain: Does without the processor's vector instructions; the result is the same.
    init(isPlain: Bool = false) {
        self.isPlain = isPlain
        row = .allocate(capacity: PictureLimits.side + Self.margin)
        row.initialize(repeating: 0, count: PictureLimits.side + Self.margin)
    }

    deinit { row.deallocate() }

    /// Whether it can scale pictures of one size to another.
    static func takes(_ width: Int, _ targetWidth: Int, _ height: Int, _ targetHeight: Int) -> Bool {
        (targetWidth...3 * targetWidth).contains(width) && (targetHeight...3 * targetHeight).contains(height)
            && (leastWidth...PictureLimits.side).contains(width)
    }

    /// How many rows can be made, an even number, when so many of the source's are there.
    static func reach(of rows: Int, height: Int, targetHeight: Int) -> Int {
        // Of chroma, which is there to half as many rows; one weight may be of the row below those that are covered.
        max(rows / 2 - 2, 0) * (targetHeight / 2) / ((height + 1) / 2) * 2
    }

    /// Scales `width` x `height` pixels to `targetWidth` x `targetHeight`, both even, as `takes` allows.
    ///
    /// - Parameters:
    ///   - rows: Those to be made, an even range; nil for all.
    ///   - isNear: The source lies in the processor's caches.
    mutating func scale(
        _ source: PicturePlanes,
        _ width: Int,
        _ height: Int,
        to target: PicturePlanes,
        _ targetWidth: Int,
        _ targetHeight: Int,
        rows: Range<Int>? = nil,
        isNear: Bool = false
    ) {
        let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
        let rows = rows ?? 0..<targetHeight
        let half = rows.lowerBound / 2..<rows.upperBound / 2
        for (source, target, width, height, targetWidth, targetHeight, rows) in [
            (source.y, target.y, width, height, targetWidth, targetHeight, rows),
            (source.u, target.u, halfWidth, halfHeight, targetWidth / 2, targetHeight / 2, half),
            (source.v, target.v, halfWidth, halfHeight, targetWidth / 2, targetHeight / 2, half),
        ] {
            scale(
                source,
                width: width,
                height: height,
                to: target,
                targetWidth: targetWidth,
                targetHeight: targetHeight,
                rows: rows,
                isNear: isNear
            )
        }
    }

    private mutating func scale(
        _ source: PicturePlanes.Plane,
        width: Int,
        height: Int,
        to target: PicturePlanes.Plane,
        targetWidth: Int,
        targetHeight: Int,
        rows made: Range<Int>,
        isNear: Bool
    ) {
        let columns = width == targetWidth ? nil : recall(width, targetWidth)
        let rows = height == targetHeight ? nil : recall(height, targetHeight)
        let (row, isPlain) = (row, isPlain)
        withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: AreaTaps.most) { window in
            var asked = made.lowerBound * height / targetHeight
            for y in made {
                if !isNear {
                    let wanted = min((y + 1) * height / targetHeight + ScalingWay.ahead, height)
                    source.moved(x: 0, y: asked).prefetch(width: width, height: wanted - asked)
                    asked = wanted
                }
                let line = target.at(x: 0, y: y)
                // Without columns to mix there is nothing to do after the rows.
                let mixed = columns == nil ? line : row
                if let rows {
                    for tap in 0..<AreaTaps.most {
                        // The last row stands in for those below it, which have no weight.
                        let place = min(rows.firsts[y] + tap, height - 1)
                        window.initializeElement(at: tap, to: source.at(x: 0, y: place))
                    }
                    let weights = rows.weights + AreaTaps.most * y
                    c_area_rows(window.baseAddress, weights, mixed, Int32(width), isPlain)
                } else {
                    mixed.update(from: source.at(x: 0, y: y), count: width)
                }
                guard let columns else { continue }
                let (starts, places, weights) = (columns.starts, columns.places, columns.weights)
                c_area_columns(row, starts, places, weights, line, Int32(targetWidth), isPlain)
            }
        }
    }

    private mutating func recall(_ source: Int, _ target: Int) -> AreaTaps {
        if let known = taps.first(where: { $0.source == source && $0.target == target }) { return known }
        // While tiles move, sizes change with every picture.
        if taps.count == Self.mostTaps { taps.removeAll(keepingCapacity: true) }
        let made = AreaTaps(source: source, target: target)
        taps.append(made)
        return made
    }
}
