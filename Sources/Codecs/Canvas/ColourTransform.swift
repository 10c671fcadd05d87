/// Brings a scaled frame to the program's colours (limited BT.709), in place.
///
/// Both matrices are linear in the gamma-coded signal, so one 3x3 matrix on (Y, Cb, Cr) does it, and the first column
/// of its chroma rows is zero: gray stays gray. It is written as a small correction to each sample, which fits 16-bit
/// lanes with nine fractional bits: at most one level off the exact result.
struct ColourTransform: Equatable {
    private typealias Lanes = SIMD16<Int16>

    /// Weights of what is added to a sample, in units of 1/512.
    private let lumaByY: Int16
    private let lumaByU: Int16
    private let lumaByV: Int16
    private let lumaOffset: Int16
    private let uByU: Int16
    private let uByV: Int16
    private let vByU: Int16
    private let vByV: Int16

    private static let fraction: Int16 = 9
    private static let rounding: Int16 = 1 << 8

    /// The transform to limited BT.709, or nil when the frame is in it already.
    init?(from matrix: ColourMatrix, isFullRange: Bool) {
        guard matrix != .bt709 || isFullRange else { return nil }
        let target = ColourMatrix.bt709
        let lumaScale = isFullRange ? 219.0 / 255 : 1
        let chromaScale = isFullRange ? 224.0 / 255 : 1
        let sourceGreen = 1 - matrix.red - matrix.blue
        let targetGreen = 1 - target.red - target.blue
        // What each colour difference of the source adds to red, green and blue.
        let redByV = 2 * (1 - matrix.red)
        let blueByU = 2 * (1 - matrix.blue)
        let greenByU = -matrix.blue * blueByU / sourceGreen
        let greenByV = -matrix.red * redByV / sourceGreen
        // What that adds to the target's luma and colour differences, all in units of the full signal.
        let yByU = targetGreen * greenByU + target.blue * blueByU
        let yByV = target.red * redByV + targetGreen * greenByV
        let (uScale, vScale) = (2 * (1 - target.blue), 2 * (1 - target.red))
        // Luma spans 219 levels and chroma 224.
        let levels = 219.0 / 224 * chromaScale
        lumaByY = Self.weight(lumaScale - 1)
        lumaByU = Self.weight(yByU * levels)
        lumaByV = Self.weight(yByV * levels)
        lumaOffset = isFullRange ? Self.weight(16) : 0
        uByU = Self.weight((blueByU - yByU) / uScale * chromaScale - 1)
        uByV = Self.weight(-yByV / uScale * chromaScale)
        vByU = Self.weight(-yByU / vScale * chromaScale)
        vByV = Self.weight((redByV - yByV) / vScale * chromaScale - 1)
    }

    private static func weight(_ value: Double) -> Int16 {
        Int16((value * 512).rounded())
    }

    /// Transforms `width` x `height` pixels, both even.
    func apply(to planes: FramePlanes, width: Int, height: Int) {
        for row in 0..<height / 2 {
            let u = planes.u.at(x: 0, y: row)
            let v = planes.v.at(x: 0, y: row)
            let upper = planes.y.at(x: 0, y: 2 * row)
            let lower = planes.y.at(x: 0, y: 2 * row + 1)
            var column = 0
            while column + 16 <= width / 2 {
                transform16(u + column, v + column, upper + 2 * column, lower + 2 * column)
                column += 16
            }
            while column < width / 2 {
                transform1(u + column, v + column, upper + 2 * column, lower + 2 * column)
                column += 1
            }
        }
    }

    private typealias Samples = UnsafeMutablePointer<UInt8>

    /// 16 chroma positions and the 64 luma samples they colour.
    @inline(__always)
    private func transform16(_ u: Samples, _ v: Samples, _ upper: Samples, _ lower: Samples) {
        let blue = Self.load(u) &- 128
        let red = Self.load(v) &- 128
        let luma = blue &* lumaByU &+ red &* lumaByV &+ (lumaOffset &+ Self.rounding)
        let newBlue = blue &+ ((blue &* uByU &+ red &* uByV &+ Self.rounding) &>> Self.fraction) &+ 128
        let newRed = red &+ ((blue &* vByU &+ red &* vByV &+ Self.rounding) &>> Self.fraction) &+ 128
        Self.store(newBlue, u)
        Self.store(newRed, v)
        var left = Lanes()
        left.evenHalf = luma.lowHalf
        left.oddHalf = luma.lowHalf
        var right = Lanes()
        right.evenHalf = luma.highHalf
        right.oddHalf = luma.highHalf
        correct(upper, by: left)
        correct(upper + 16, by: right)
        correct(lower, by: left)
        correct(lower + 16, by: right)
    }

    @inline(__always)
    private func correct(_ samples: Samples, by luma: Lanes) {
        let old = Self.load(samples)
        Self.store(old &+ ((old &* lumaByY &+ luma) &>> Self.fraction), samples)
    }

    @inline(__always)
    private static func load(_ samples: Samples) -> Lanes {
        let bytes = UnsafeRawPointer(samples).loadUnaligned(as: SIMD16<UInt8>.self)
        return Lanes(truncatingIfNeeded: bytes)
    }

    @inline(__always)
    private static func store(_ lanes: Lanes, _ samples: Samples) {
        let cut = lanes.clamped(lowerBound: Lanes(repeating: 0), upperBound: Lanes(repeating: 255))
        UnsafeMutableRawPointer(samples).storeBytes(of: SIMD16<UInt8>(truncatingIfNeeded: cut), as: SIMD16<UInt8>.self)
    }

    /// One chroma position and its four luma samples: the same arithmetic for the right edge.
    private func transform1(_ u: Samples, _ v: Samples, _ upper: Samples, _ lower: Samples) {
        let blue = Int16(u.pointee) &- 128
        let red = Int16(v.pointee) &- 128
        let luma = blue &* lumaByU &+ red &* lumaByV &+ lumaOffset &+ Self.rounding
        u.pointee = Self.byte(blue &+ ((blue &* uByU &+ red &* uByV &+ Self.rounding) &>> Self.fraction) &+ 128)
        v.pointee = Self.byte(red &+ ((blue &* vByU &+ red &* vByV &+ Self.rounding) &>> Self.fraction) &+ 128)
        for sample in [upper, upper + 1, lower, lower + 1] {
            let old = Int16(sample.pointee)
            sample.pointee = Self.byte(old &+ ((old &* lumaByY &+ luma) &>> Self.fraction))
        }
    }

    private static func byte(_ value: Int16) -> UInt8 {
        UInt8(min(max(value, 0), 255))
    }
}
