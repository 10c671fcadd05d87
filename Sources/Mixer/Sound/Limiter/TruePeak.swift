#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Estimates how high the sound rises between its samples: four points for each, as ITU-R BS.1770-4, annex 2 asks.
///
/// The three points in between come from sinc filters of sixteen taps under a Kaiser window, flat to 0.06 dB up to
/// 20 kHz; the filter that the recommendation gives as its example is off by up to 0.24 dB. Stretches too quiet to rise
/// to the level of interest are not looked at closer.
struct TruePeak: ~Copyable, Sendable {
    /// An estimate concerns the sample it stands for and the `taps - 1` ones before it.
    static let taps = 16
    private static let pairs = taps / 2
    /// Samples looked at or skipped together.
    private static let stretch = 32
    /// No point between samples is higher than the highest of them times this: the sum of the taps' sizes.
    static let mostRise: Float = 2.18
    private static let windowShape = 4.0

    /// Estimates of the last measured quantum; both channels, the louder counts.
    private let estimates = StereoBuffer(capacity: ProgramTime.quantum)
    /// The last `taps` samples of the quantum before, and the present one.
    private let samples = StereoBuffer(capacity: taps + ProgramTime.quantum)
    private var lastLoudest: Float = 0
    private let filters = PeakFilters(pairs: pairs) { tap, fraction in
        TruePeak.coefficient(tap, fraction: fraction)
    }

    /// What rises above the level of interest in the last measured quantum; what does not may be given as 0.
    var peaks: UnsafePointer<Float> { UnsafePointer(estimates.left) }

    /// Measures the next `count` samples, at most a quantum.
    ///
    /// - Parameters:
    ///   - loudest: The highest of their sizes.
    ///   - level: Only peaks above it are of interest.
    /// - Returns: The highest peak; 0 when none can be above `level`.
    mutating func measure(
        _ left: UnsafePointer<Float>,
        _ right: UnsafePointer<Float>,
        count: Int,
        loudest: Float,
        above level: Float
    ) -> Float {
        let taps = Self.taps
        (samples.left + taps).update(from: left, count: count)
        (samples.right + taps).update(from: right, count: count)
        defer {
            samples.left.update(from: samples.left + count, count: taps)
            samples.right.update(from: samples.right + count, count: taps)
            lastLoudest = loudest
        }
        guard max(loudest, lastLoudest) * Self.mostRise > level else {
            estimates.left.update(repeating: 0, count: count)
            return 0
        }
        var highest: Float = 0
        var start = 0
        while start < count {
            let length = min(Self.stretch, count - start)
            let near = max(
                SIMD8<Float>.loudest(samples.left + start, length + taps),
                SIMD8<Float>.loudest(samples.right + start, length + taps)
            )
            if near * Self.mostRise > level {
                highest = max(highest, estimate(from: start, count: length))
            } else {
                (estimates.left + start).update(repeating: 0, count: length)
            }
            start += length
        }
        return highest
    }

    private func estimate(from start: Int, count: Int) -> Float {
        let width = 8
        var highest = SIMD8<Float>()
        var index = start
        let end = start + count
        while index + width <= end {
            // The oldest tap of the estimate for a sample is the one `taps - 1` before it.
            let peak = rise(samples.left + index + 1).larger(rise(samples.right + index + 1))
            UnsafeMutableRawPointer(estimates.left + index).storeBytes(of: peak, as: SIMD8<Float>.self)
            highest = highest.larger(peak)
            index += width
        }
        // Quanta are whole multiples of the width; anything else is estimated as high as it could be.
        var rest: Float = 0
        while index < end {
            let sample = Self.taps + index
            estimates.left[index] = max(abs(samples.left[sample]), abs(samples.right[sample])) * Self.mostRise
            rest = max(rest, estimates.left[index])
            index += 1
        }
        return max(highest.max(), rest)
    }

    /// The highest of the four points for each of eight samples; the first of them has `window` as its oldest tap.
    ///
    /// The filter for three quarters is the one for a quarter backwards: of the two, one is the sum and one the
    /// difference of an even and an odd part, so the larger of their sizes is the sum of the parts' sizes.
    private func rise(_ window: UnsafePointer<Float>) -> SIMD8<Float> {
        let last = Self.taps - 1
        let (even, odd, half) = (filters.even, filters.odd, filters.half)
        var (evenPart, oddPart, middle) = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
        for pair in 0..<Self.pairs {
            let early = SIMD8(loading: window + pair)
            let late = SIMD8(loading: window + last - pair)
            let sum = early + late
            evenPart += sum * even[pair]
            oddPart += (early - late) * odd[pair]
            middle += sum * half[pair]
        }
        let present = SIMD8(loading: window + last).size
        return (evenPart.size + oddPart.size).larger(middle.size).larger(present)
    }

    private static func coefficient(_ tap: Int, fraction: Double) -> Float {
        let distance = Double(tap) - Double(taps / 2 - 1) - fraction
        let sinc = distance == 0 ? 1 : sin(.pi * distance) / (.pi * distance)
        let edge = 2 * distance / Double(taps)
        let window = bessel(windowShape * max(1 - edge * edge, 0).squareRoot()) / bessel(windowShape)
        return Float(sinc * window)
    }

    /// The modified Bessel function of order zero.
    private static func bessel(_ argument: Double) -> Double {
        var (sum, term) = (1.0, 1.0)
        for order in 1..<32 {
            let factor = argument / (2 * Double(order))
            term *= factor * factor
            sum += term
        }
        return sum
    }
}
