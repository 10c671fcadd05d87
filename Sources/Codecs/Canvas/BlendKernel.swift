/// Lays premultiplied samples over others: `share + below * (255 - alpha) / 255`, rounded, within the plane's range.
///
/// All of it fits unsigned 16-bit lanes, exactly: the quotient by 255 is that of the usual two shifts.
struct BlendKernel {
    /// How much of the overlay is seen, in units of 1/256; 1 to 256.
    let strength: UInt16
    /// The largest sample there may be.
    let upperBound: UInt8
    /// The smallest sample there may be: black, and the strongest colour.
    let lowerBound: UInt8 = 16

    /// Blends `count` samples of `share` and `alpha` over `target`.
    @inline(__always)
    func run(
        _ share: UnsafePointer<UInt8>,
        _ alpha: UnsafePointer<UInt8>,
        over target: UnsafeMutablePointer<UInt8>,
        count: Int
    ) {
        var index = 0
        while index + 16 <= count {
            let result = blended(
                Self.load16(share + index),
                Self.load16(alpha + index),
                Self.load16(UnsafePointer(target) + index)
            )
            UnsafeMutableRawPointer(target + index).storeBytes(of: result, as: SIMD16<UInt8>.self)
            index += 16
        }
        while index + 8 <= count {
            let result = blended(
                Self.load8(share + index),
                Self.load8(alpha + index),
                Self.load8(UnsafePointer(target) + index)
            )
            UnsafeMutableRawPointer(target + index).storeBytes(of: result, as: SIMD8<UInt8>.self)
            index += 8
        }
        while index < count {
            target[index] = blended(share[index], alpha[index], target[index])
            index += 1
        }
    }

    @inline(__always)
    private func blended(_ share: SIMD16<UInt8>, _ alpha: SIMD16<UInt8>, _ below: SIMD16<UInt8>) -> SIMD16<UInt8> {
        typealias Lanes = SIMD16<UInt16>
        var share = Lanes(truncatingIfNeeded: share)
        var alpha = Lanes(truncatingIfNeeded: alpha)
        if strength < 256 {
            share = (share &* strength &+ 128) &>> 8
            alpha = (alpha &* strength &+ 128) &>> 8
        }
        let product = Lanes(truncatingIfNeeded: below) &* (255 &- alpha) &+ 128
        let sum = share &+ ((product &+ (product &>> 8)) &>> 8)
        // Never above 255 + 1, and bounds are applied to bytes, which is one instruction each.
        let bytes = SIMD16<UInt8>(truncatingIfNeeded: pointwiseMin(sum, Lanes(repeating: 255)))
        return pointwiseMax(
            pointwiseMin(bytes, SIMD16(repeating: upperBound)),
            SIMD16(repeating: lowerBound)
        )
    }

    @inline(__always)
    private func blended(_ share: SIMD8<UInt8>, _ alpha: SIMD8<UInt8>, _ below: SIMD8<UInt8>) -> SIMD8<UInt8> {
        typealias Lanes = SIMD8<UInt16>
        var share = Lanes(truncatingIfNeeded: share)
        var alpha = Lanes(truncatingIfNeeded: alpha)
        if strength < 256 {
            share = (share &* strength &+ 128) &>> 8
            alpha = (alpha &* strength &+ 128) &>> 8
        }
        let product = Lanes(truncatingIfNeeded: below) &* (255 &- alpha) &+ 128
        let sum = share &+ ((product &+ (product &>> 8)) &>> 8)
        let bytes = SIMD8<UInt8>(truncatingIfNeeded: pointwiseMin(sum, Lanes(repeating: 255)))
        return pointwiseMax(
            pointwiseMin(bytes, SIMD8(repeating: upperBound)),
            SIMD8(repeating: lowerBound)
        )
    }

    @inline(__always)
    private func blended(_ share: UInt8, _ alpha: UInt8, _ below: UInt8) -> UInt8 {
        var (share, alpha) = (UInt16(share), UInt16(alpha))
        if strength < 256 {
            share = (share &* strength &+ 128) &>> 8
            alpha = (alpha &* strength &+ 128) &>> 8
        }
        let product = UInt16(below) &* (255 &- alpha) &+ 128
        let sum = share &+ ((product &+ (product &>> 8)) &>> 8)
        return UInt8(min(max(sum, UInt16(lowerBound)), UInt16(upperBound)))
    }

    @inline(__always)
    private static func load16(_ samples: UnsafePointer<UInt8>) -> SIMD16<UInt8> {
        UnsafeRawPointer(samples).loadUnaligned(as: SIMD16<UInt8>.self)
    }

    @inline(__always)
    private static func load8(_ samples: UnsafePointer<UInt8>) -> SIMD8<UInt8> {
        UnsafeRawPointer(samples).loadUnaligned(as: SIMD8<UInt8>.self)
    }
}
