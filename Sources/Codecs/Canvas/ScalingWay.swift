/// A way to scale a picture that goes from its top down, so that it can be gone while the picture is being decoded.
///
/// However many rows are made at a time, what comes out is the same to the bit.
enum ScalingWay: Sendable, Equatable {
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
