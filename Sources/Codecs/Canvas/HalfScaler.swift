import CYUV

/// Makes planes half as wide and half as high, each sample made of six each way.
///
/// It keeps nearly as much detail as a long filter, at a fraction of its price; the mean of two, which is cheaper still,
/// shows as a loss in a program of four. Rows first, into a row of its own, and then columns.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct HalfScaler: ~Copyable, @unchecked Sendable {
    /// What is put beside a row on either side, of which two samples are used.
    private static let margin = 32
    /// Of chroma the loops make so many samples at a time.
    private static let leastWidth = 32
    /// Source rows below the last of a pair that belong to a sample.
    private static let below = 2

    private let memory: UnsafeMutablePointer<UInt8>
    private let isPlain: Bool

    /// - Parameter isPlain: Does without the processor's vector instructions; the result is the same.
    init(isPlain: Bool = false) {
        self.isPlain = isPlain
        memory = .allocate(capacity: PictureLimits.side + 2 * Self.margin)
        memory.initialize(repeating: 0, count: PictureLimits.side + 2 * Self.margin)
    }

    deinit { memory.deallocate() }

    /// Whether it scales pictures of one size to another: by exactly two, chroma too.
    static func takes(_ width: Int, _ targetWidth: Int, _ height: Int, _ targetHeight: Int) -> Bool {
        width == 2 * targetWidth && height == 2 * targetHeight && targetWidth % 2 == 0 && targetHeight % 2 == 0
            && targetWidth >= 2 * leastWidth && width <= PictureLimits.side
    }

    /// How many rows can be made, an even number, when so many of the source's are there.
    static func reach(of rows: Int) -> Int { max(rows / 2 - below, 0) / 2 * 2 }

    /// Makes the even range `rows` of a picture of half the size.
    func scale(
        _ source: PicturePlanes,
        _ width: Int,
        _ height: Int,
        to target: PicturePlanes,
        rows: Range<Int>,
        isNear: Bool
    ) {
        let half = rows.lowerBound / 2..<rows.upperBound / 2
        scale(source.y, width, height, to: target.y, rows: rows, isNear: isNear)
        scale(source.u, width / 2, height / 2, to: target.u, rows: half, isNear: isNear)
        scale(source.v, width / 2, height / 2, to: target.v, rows: half, isNear: isNear)
    }

    private func scale(
        _ source: PicturePlanes.Plane,
        _ width: Int,
        _ height: Int,
        to target: PicturePlanes.Plane,
        rows: Range<Int>,
        isNear: Bool
    ) {
        let row = memory + Self.margin
        var asked = max(2 * rows.lowerBound - Self.below, 0)
        withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: 6) { window in
            for y in rows {
                if !isNear {
                    let wanted = min(2 * y + ScalingWay.ahead, height)
                    source.moved(x: 0, y: asked).prefetch(width: width, height: wanted - asked)
                    asked = wanted
                }
                for tap in 0..<6 {
                    // At the edges the first and the last row stand in for those beyond them.
                    let place = min(max(2 * y - Self.below + tap, 0), height - 1)
                    window.initializeElement(at: tap, to: source.at(x: 0, y: place))
                }
                c_half_rows(window.baseAddress, row, Int32(width), isPlain)
                for step in 1...Self.below {
                    row[-step] = row[0]
                    row[width - 1 + step] = row[width - 1]
                }
                c_half_columns(row, target.at(x: 0, y: y), Int32(width / 2), isPlain)
            }
        }
    }
}
