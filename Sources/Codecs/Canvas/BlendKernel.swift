/// Lays premultiplied samples over others: `share + below * (255 - alpha) / 255`, rounded, within the plane's range.
///
/// All of it fits 16-bit lanes, exactly: the quotient by 255 is that of the usual two shifts. Sixteen samples are taken
/// as eight pairs, their even and their odd ones in turn, which needs no instruction to widen them.
struct BlendKernel {
    private typealias Lanes = SIMD8<UInt16>
    private typealias SignedLanes = SIMD8<Int16>

    /// How much of the overlay is seen, in units of 1/256; 1 to 256.
    let strength: UInt16
    /// The largest sample there may be.
    let upperBound: Int16
    /// The smallest sample there may be: black, and the strongest colour.
    private static let lowerBound: Int16 = 16

    /// Blends `count` samples of `share` and `alpha` over `target`.
    ///
    /// Up to 15 samples past the end of each are read and left alone; overlays and canvases have that much memory more.
    @inline(__always)
    func run(
        _ share: UnsafePointer<UInt8>,
        _ alpha: UnsafePointer<UInt8>,
        over target: UnsafeMutablePointer<UInt8>,
        count: Int
    ) {
        let (share, alpha) = (UnsafeRawPointer(share), UnsafeRawPointer(alpha))
        let target = UnsafeMutableRawPointer(target)
        var index = 0
        while index < count {
            let pairs = blended(
                share.loadUnaligned(fromByteOffset: index, as: Lanes.self),
                alpha.loadUnaligned(fromByteOffset: index, as: Lanes.self),
                target.loadUnaligned(fromByteOffset: index, as: Lanes.self)
            )
            let left = count &- index
            if left >= 16 {
                target.storeBytes(of: pairs, toByteOffset: index, as: Lanes.self)
            } else {
                withUnsafeBytes(of: pairs) { bytes in
                    UnsafeMutableRawBufferPointer(start: target + index, count: left)
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<left]))
                }
            }
            index &+= 16
        }
    }

    /// Both samples of each pair.
    @inline(__always)
    private func blended(_ share: Lanes, _ alpha: Lanes, _ below: Lanes) -> Lanes {
        let even = blendedOne(share & 255, alpha & 255, below & 255)
        let odd = blendedOne(share &>> 8, alpha &>> 8, below &>> 8)
        return even | odd &<< 8
    }

    @inline(__always)
    private func blendedOne(_ share: Lanes, _ alpha: Lanes, _ below: Lanes) -> Lanes {
        var (share, alpha) = (share, alpha)
        if strength < 256 {
            share = (share &* strength &+ 128) &>> 8
            alpha = (alpha &* strength &+ 128) &>> 8
        }
        let product = below &* (255 &- alpha) &+ 128
        let sum = share &+ ((product &+ (product &>> 8)) &>> 8)
        // At most 511; as signed numbers, because those can be compared in one instruction.
        let (lower, upper) = (SignedLanes(repeating: Self.lowerBound), SignedLanes(repeating: upperBound))
        var result = SignedLanes(truncatingIfNeeded: sum)
        result.replace(with: upper, where: result .> upper)
        result.replace(with: lower, where: result .< lower)
        return Lanes(truncatingIfNeeded: result)
    }
}
