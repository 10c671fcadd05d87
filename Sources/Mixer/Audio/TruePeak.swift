#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Estimates true peaks with four points per sample, as specified by ITU-R BS.1770-4, annex 2.
///
/// The three points between samples come from sinc filters of 16 taps with a Kaiser window, flat to 0.06 dB up to 20
/// kHz; the example filter of the recommendation is off by up to 0.24 dB. Sections too quiet to reach the level of
/// interest are skipped.
struct TruePeak: ~Copyable, Sendable {
    /// An estimate concerns its sample and the `taps - 1` samples before it.
    static let taps = 16
    private static let pairs = taps / 2
    /// Samples evaluated or skipped together.
    private static let stretch = 32
    /// The sum of the absolute taps: no point between samples exceeds the largest sample times this.
    static let maximumRise: Float = 2.18
    private static let windowShape = 4.0

    /// The estimates of the last measured quantum; the maximum of both channels.
    private let estimates = StereoBuffer(capacity: ProgramTime.quantum)
    /// The last `taps` samples of the quantum before, and the present one.
    private let samples = StereoBuffer(capacity: taps + ProgramTime.quantum)
    private var lastLoudest: Float = 0
    private let filters = PeakFilters(pairs: pairs) { tap, fraction in
        TruePeak.coefficient(tap, fraction: fraction)
    }

    /// Estimates above the level of interest in the last measured quantum; others may be 0.
    var peaks: UnsafePointer<Float> { UnsafePointer(estimates.left) }

    /// Measures the next `count` samples, at most a quantum.
    ///
    /// - Parameters:
    ///   - loudest: The largest absolute sample.
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
        guard max(loudest, lastLoudest) * Self.maximumRise > level else {
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
            if near * Self.maximumRise > level {
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
            // The oldest tap of a sample's estimate is `taps - 1` samples before it.
            let peak = rise(samples.left + index + 1).larger(rise(samples.right + index + 1))
            UnsafeMutableRawPointer(estimates.left + index).storeBytes(of: peak, as: SIMD8<Float>.self)
            highest = highest.larger(peak)
            index += width
        }
        // Quanta are multiples of the width; a remainder is estimated conservatively.
        var rest: Float = 0
        while index < end {
            let sample = Self.taps + index
            estimates.left[index] = max(abs(samples.left[sample]), abs(samples.right[sample])) * Self.maximumRise
            rest = max(rest, estimates.left[index])
            index += 1
        }
        return max(highest.max(), rest)
    }

    /// Returns the highest of the four points for each of eight samples; `window` is the oldest tap of the first.
    ///
    /// The three-quarter filter is the quarter filter reversed: the two outputs are the sum and the difference of an
    /// even and an odd part, so the larger absolute value is the sum of the parts' absolute values.
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

    /// Returns the modified Bessel function of the first kind, order zero.
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

/// The taps of the true-peak filters, each replicated eight times for SIMD; with one owner.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct PeakFilters: ~Copyable, @unchecked Sendable {
    /// Half the sum of opposite taps of the quarter filter: its even part, shared by the three-quarter filter.
    let even: UnsafeMutablePointer<SIMD8<Float>>
    /// Half their difference: its odd part, which has the opposite sign in the three-quarter filter.
    let odd: UnsafeMutablePointer<SIMD8<Float>>
    /// The taps of the half filter, which is symmetric.
    let half: UnsafeMutablePointer<SIMD8<Float>>

    /// - Parameter tap: Returns a tap of the filter for a fraction of a sample.
    init(pairs: Int, tap: (_ index: Int, _ fraction: Double) -> Float) {
        even = .allocate(capacity: pairs)
        odd = .allocate(capacity: pairs)
        half = .allocate(capacity: pairs)
        for pair in 0..<pairs {
            let (early, late) = (tap(pair, 0.25), tap(2 * pairs - 1 - pair, 0.25))
            (even + pair).initialize(to: SIMD8(repeating: (early + late) / 2))
            (odd + pair).initialize(to: SIMD8(repeating: (early - late) / 2))
            (half + pair).initialize(to: SIMD8(repeating: tap(pair, 0.5)))
        }
    }

    deinit {
        even.deallocate()
        odd.deallocate()
        half.deallocate()
    }
}
