/// Lays premultiplied samples over others: `share + below * (255 - alpha) / 255`, rounded, within the plane's range.
///
/// All of it fits 16-bit lanes, exactly: the quotient by 255 is that of the usual two shifts.
struct BlendKernel {
    private typealias Bytes = SIMD16<UInt8>
    private typealias Lanes = SIMD16<UInt16>
    private typealias SignedLanes = SIMD16<Int16>

    /// How much of the overlay is seen, in units of 1/256; 1 to 256.
    let strength: UInt16
    /// The largest sample there may be.
    let upperBound: Int16
    /// The smallest sample there may be: black, and the strongest colour.
    private let lowerBound: Int16 = 16

    init(strength: UInt16, upperBound: Int16) {
        self.strength = strength
        self.upperBound = upperBound
    }

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
        var index = 0
        while index + 16 <= count {
            let result = blended(at: index, share, alpha, target)
            UnsafeMutableRawPointer(target + index).storeBytes(of: result, as: Bytes.self)
            index += 16
        }
        guard index < count else { return }
        let result = blended(at: index, share, alpha, target)
        withUnsafeBytes(of: result) { bytes in
            UnsafeMutableRawBufferPointer(start: target + index, count: count - index)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<(count - index)]))
        }
    }

    @inline(__always)
    private func blended(
        at index: Int,
        _ share: UnsafePointer<UInt8>,
        _ alpha: UnsafePointer<UInt8>,
        _ target: UnsafeMutablePointer<UInt8>
    ) -> Bytes {
        blended(Self.load(share + index), Self.load(alpha + index), Self.load(UnsafePointer(target) + index))
    }

    @inline(__always)
    private func blended(_ share: Bytes, _ alpha: Bytes, _ below: Bytes) -> Bytes {
        var share = Lanes(truncatingIfNeeded: share)
        var alpha = Lanes(truncatingIfNeeded: alpha)
        if strength < 256 {
            share = (share &* strength &+ 128) &>> 8
            alpha = (alpha &* strength &+ 128) &>> 8
        }
        let product = Lanes(truncatingIfNeeded: below) &* (255 &- alpha) &+ 128
        let sum = share &+ ((product &+ (product &>> 8)) &>> 8)
        // At most 511; as signed numbers because those alone can be compared in one instruction.
        var result = SignedLanes(truncatingIfNeeded: sum)
        result.replace(with: SignedLanes(repeating: upperBound), where: result .> SignedLanes(repeating: upperBound))
        result.replace(with: SignedLanes(repeating: lowerBound), where: result .< SignedLanes(repeating: lowerBound))
        return Bytes(truncatingIfNeeded: result)
    }

    @inline(__always)
    private static func load(_ samples: UnsafePointer<UInt8>) -> Bytes {
        UnsafeRawPointer(samples).loadUnaligned(as: Bytes.self)
    }
}
