import CYUV

/// Makes planes exactly half or a third as wide and high, each sample made of six or seven each way.
///
/// It keeps nearly as much detail as a long filter, at a fraction of its price; the mean of what a sample covers, which
/// is cheaper still, shows as a loss in a program of several tiles. Rows first, into rows of its own, and then columns.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct FineScaler: ~Copyable, @unchecked Sendable {
    /// What a size is divided by.
    enum Divisor: Int, Sendable {
        case two = 2
        case three = 3

        /// Source samples before and behind those that a sample covers which belong to it too.
        var beyond: Int {
            switch self {
            case .two: 2
            case .three: 3
            }
        }

        /// Samples that one is made of, each way, counted from the first of them.
        var taps: [Int] {
            switch self {
            case .two: Self.tapsOfHalf
            case .three: Self.tapsOfThird
            }
        }

        // Made once: they are asked for with every row.
        private static let tapsOfHalf = [0, 1, 2, 3, 4, 5]
        private static let tapsOfThird = [0, 2, 3, 4, 5, 6, 8]

        /// Samples from the first of them to the last.
        var span: Int { rawValue + 2 * beyond }
    }

    /// What is put beside a row on either side.
    private static let margin = 32
    /// Of chroma the loops make so many samples at a time.
    private static let leastWidth = 32
    /// Rows that are made together; few enough for the processor's nearest cache.
    private static let lot = 8
    /// From one row of its own to the next.
    private static let stride = FrameLimits.side + 2 * margin

    private let memory: UnsafeMutablePointer<UInt8>
    private let lanes: Int32

    /// - Parameter lanes: Samples that may be made at a time: 64, 32 or, without the processor's vector instructions,
    ///   1; as many of them as it is capable of. The result is the same.
    init(lanes: Int = 64) {
        self.lanes = Int32(lanes)
        memory = .allocate(capacity: Self.lot * Self.stride)
        memory.initialize(repeating: 0, count: Self.lot * Self.stride)
    }

    deinit { memory.deallocate() }

    /// By what frames of one size are divided to become another; nil when it does not do that.
    static func divisor(_ width: Int, _ targetWidth: Int, _ height: Int, _ targetHeight: Int) -> Divisor? {
        guard targetWidth >= 2 * leastWidth, width <= FrameLimits.side, targetWidth % 2 == 0, targetHeight % 2 == 0,
            width % targetWidth == 0, height == width / targetWidth * targetHeight
        else { return nil }
        return Divisor(rawValue: width / targetWidth)
    }

    /// How many rows can be made, an even number, when so many of the source's are there.
    static func reach(of rows: Int, _ divisor: Divisor) -> Int {
        // Chroma comes to half as many rows, and needs as many beyond.
        max(rows / 2 - divisor.beyond, 0) / divisor.rawValue * 2
    }

    /// Makes the even range `rows` of a frame that is smaller by `divisor`.
    ///
    /// - Parameter isNear: The source lies in the processor's caches.
    func scale(
        _ source: FramePlanes,
        _ width: Int,
        _ height: Int,
        by divisor: Divisor,
        to target: FramePlanes,
        rows: Range<Int>,
        isInCache: Bool
    ) {
        let half = rows.lowerBound / 2..<rows.upperBound / 2
        scale(source.y, width, height, by: divisor, to: target.y, rows: rows, isInCache: isInCache)
        scale(source.u, width / 2, height / 2, by: divisor, to: target.u, rows: half, isInCache: isInCache)
        scale(source.v, width / 2, height / 2, by: divisor, to: target.v, rows: half, isInCache: isInCache)
    }

    private func scale(
        _ source: FramePlanes.Plane,
        _ width: Int,
        _ height: Int,
        by divisor: Divisor,
        to target: FramePlanes.Plane,
        rows: Range<Int>,
        isInCache: Bool
    ) {
        let targetWidth = Int32(width / divisor.rawValue)
        var asked = max(divisor.rawValue * rows.lowerBound - divisor.beyond, 0)
        var y = rows.lowerBound
        while y < rows.upperBound {
            if !isInCache {
                let wanted = max(min(divisor.rawValue * (y + Self.lot) + ScalingMethod.ahead, height), asked)
                source.moved(x: 0, y: asked).prefetch(width: width, height: wanted - asked)
                asked = wanted
            }
            let count = makeRows(of: source, width, height, by: divisor, from: y, most: rows.upperBound - y)
            c_fine_columns(
                memory + Self.margin,
                Self.stride,
                target.at(x: 0, y: y),
                target.stride,
                targetWidth,
                Int32(count),
                Int32(divisor.rawValue),
                lanes
            )
            y += count
        }
    }

    /// Makes rows of the target's height and the source's width; returns how many.
    private func makeRows(
        of source: FramePlanes.Plane,
        _ width: Int,
        _ height: Int,
        by divisor: FineScaler.Divisor,
        from y: Int,
        most: Int
    ) -> Int {
        let (row, first) = (memory + Self.margin, divisor.rawValue * y - divisor.beyond)
        // Those for which all rows are there that belong to them.
        let inner = first < 0 ? 0 : (height - first - divisor.span) / divisor.rawValue + 1
        let count = min(inner, most, Self.lot)
        if divisor == .two, count > 0 {
            let (from, stride) = (source.at(x: 0, y: first), source.stride)
            c_half_lot(from, stride, row, Self.stride, Int32(width), Int32(count), lanes)
            return count
        }
        let taps = divisor.taps
        withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: taps.count) { window in
            for (place, tap) in taps.enumerated() {
                // At the edges the first and the last row stand in for those beyond them.
                window.initializeElement(at: place, to: source.at(x: 0, y: min(max(first + tap, 0), height - 1)))
            }
            switch divisor {
            case .two: c_half_rows(window.baseAddress, row, Int32(width), lanes)
            case .three: c_third_rows(window.baseAddress, row, Int32(width), lanes)
            }
        }
        return 1
    }
}
