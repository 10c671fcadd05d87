#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Gains between decibels and factors.
enum Decibels {
    /// The factor of a gain of `decibels`; below -120 dB it is nothing at all.
    static func factor(_ decibels: Double) -> Float {
        guard decibels > -120 else { return 0 }
        return Float(pow(10, min(decibels, 60) / 20))
    }

    /// The gain in decibels of a factor; -120 dB at the least.
    static func gain(of factor: Float) -> Double {
        factor > 1e-6 ? 20 * log10(Double(factor)) : -120
    }
}
