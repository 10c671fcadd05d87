import CYUV

/// Makes planes smaller, down to a third, each sample the mean of the area that it covers.
///
/// Rows first, into a row of its own, and then columns: one pass over the source at any ratio. libyuv needs several
/// times as long where it has no loop of its own.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct AreaScaler: ~Copyable, @unchecked Sendable {
    /// Pairs of lengths remembered: four for each of twelve tiles of different sizes.
    private static let maximumCachedTaps = 48
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
        row = .allocate(capacity: FrameLimits.side + Self.margin)
        row.initialize(repeating: 0, count: FrameLimits.side + Self.margin)
    }

    deinit { row.deallocate() }

    /// Whether it can scale frames of one size to another.
    static func takes(_ width: Int, _ targetWidth: Int, _ height: Int, _ targetHeight: Int) -> Bool {
        (targetWidth...3 * targetWidth).contains(width) && (targetHeight...3 * targetHeight).contains(height)
            && (leastWidth...FrameLimits.side).contains(width)
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
        _ source: FramePlanes,
        _ width: Int,
        _ height: Int,
        to target: FramePlanes,
        _ targetWidth: Int,
        _ targetHeight: Int,
        rows: Range<Int>? = nil,
        isInCache: Bool = false
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
                isInCache: isInCache
            )
        }
    }

    private mutating func scale(
        _ source: FramePlanes.Plane,
        width: Int,
        height: Int,
        to target: FramePlanes.Plane,
        targetWidth: Int,
        targetHeight: Int,
        rows made: Range<Int>,
        isInCache: Bool
    ) {
        let columns = width == targetWidth ? nil : recall(width, targetWidth)
        let rows = height == targetHeight ? nil : recall(height, targetHeight)
        let (row, isPlain) = (row, isPlain)
        withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: AreaTaps.most) { window in
            var asked = made.lowerBound * height / targetHeight
            for y in made {
                if !isInCache {
                    let wanted = min((y + 1) * height / targetHeight + ScalingMethod.ahead, height)
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
        // While tiles move, sizes change with every frame.
        if taps.count == Self.maximumCachedTaps { taps.removeAll(keepingCapacity: true) }
        let made = AreaTaps(source: source, target: target)
        taps.append(made)
        return made
    }
}

/// How a line of samples becomes a shorter one: each the mean of the stretch that it covers.
///
/// Up to four samples make one, which is enough down to a third. Weights are 128ths that add up to 128, none above 127.
/// The memory is written by `init` alone.
final class AreaTaps {
    /// Samples at most that make one.
    static let most = 4
    /// Samples of a group, whose sources lie within 16.
    private static let groupLength = 4

    let source: Int
    let target: Int
    /// For each sample the first of those that make it.
    let firsts: UnsafeMutablePointer<Int>
    /// For each sample the weights of four.
    let weights: UnsafeMutablePointer<Int8>
    /// For each group of four samples the first of those that make them; an even number.
    let starts: UnsafeMutablePointer<Int32>
    /// For each weight where its sample is, counted from the group's start; 128 where there is no weight.
    let places: UnsafeMutablePointer<UInt8>

    /// - Parameters:
    ///   - source: Samples.
    ///   - target: Fewer samples, at least a third.
    init(source: Int, target: Int) {
        self.source = source
        self.target = target
        // A whole number of pairs of groups; those past the end have no weight.
        let pair = 2 * Self.groupLength
        let padded = (target + pair - 1) / pair * pair
        firsts = .allocate(capacity: padded)
        weights = .allocate(capacity: padded * Self.most)
        starts = .allocate(capacity: padded / Self.groupLength)
        places = .allocate(capacity: padded * Self.most)
        firsts.initialize(repeating: 0, count: padded)
        weights.initialize(repeating: 0, count: padded * Self.most)
        starts.initialize(repeating: 0, count: padded / Self.groupLength)
        places.initialize(repeating: 128, count: padded * Self.most)
        for index in 0..<target { fill(index) }
    }

    deinit {
        firsts.deallocate()
        weights.deallocate()
        starts.deallocate()
        places.deallocate()
    }

    private func fill(_ index: Int) {
        // In units in which a source sample is `target` long and one of ours `source`.
        let (begin, end) = (index * source, (index + 1) * source)
        let first = begin / target
        firsts[index] = first
        let group = index / Self.groupLength
        if index % Self.groupLength == 0 { starts[group] = Int32(first) }
        var given = 0
        for tap in 0..<Self.most {
            let covered = min(max((first + tap + 1) * target, begin), end) - begin
            // The sums are rounded and not their parts, so that nothing is lost.
            let sum = (covered * 256 / source + 1) / 2
            guard sum > given else { continue }
            weights[index * Self.most + tap] = Int8(min(sum - given, 127))
            places[index * Self.most + tap] = UInt8(first + tap - Int(starts[group]))
            given = sum
        }
        limit(index)
    }

    /// A weight of 128 is one too many: a neighbour gets 1.
    private func limit(_ index: Int) {
        let own = index * Self.most..<(index + 1) * Self.most
        guard own.reduce(0, { $0 + Int(weights[$1]) }) < 128, let whole = own.first(where: { weights[$0] == 127 })
        else { return }
        let other = whole == own.lowerBound ? whole + 1 : whole - 1
        weights[other] = 1
        // As far from it as its tap is; a line ends with all of a sample only if it begins with all of one too.
        places[other] = other > whole ? min(places[whole] + 1, 15) : places[whole] - 1
    }
}
