/// Samples eight at a time.
///
/// The library's own maximum and fused product go lane by lane through calls on processors without an instruction for
/// them; these are one or two instructions everywhere.
extension SIMD8<Float> {
    /// The eight samples from `samples` on.
    @inline(__always)
    init(loading samples: UnsafePointer<Float>) {
        self = UnsafeRawPointer(samples).loadUnaligned(as: SIMD8<Float>.self)
    }

    /// Each without its sign.
    @inline(__always)
    var size: SIMD8<Float> {
        unsafeBitCast(unsafeBitCast(self, to: SIMD8<UInt32>.self) & 0x7FFF_FFFF, to: SIMD8<Float>.self)
    }

    /// The larger of each two.
    @inline(__always)
    func larger(_ other: SIMD8<Float>) -> SIMD8<Float> {
        replacing(with: other, where: other .> self)
    }

    /// The largest size of `count` samples.
    static func loudest(_ samples: UnsafePointer<Float>, _ count: Int) -> Float {
        var most = SIMD8<Float>()
        var index = 0
        while index + 8 <= count {
            most = most.larger(SIMD8(loading: samples + index).size)
            index += 8
        }
        var loudest = most.max()
        while index < count {
            loudest = Swift.max(loudest, abs(samples[index]))
            index += 1
        }
        return loudest
    }
}
