#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Estimates how high the sound rises between its samples: four points for each, as ITU-R BS.1770-4, annex 2 asks.
///
/// The three points in between come from sinc filters of twelve taps under a Kaiser window, flat to 0.02 dB up to
/// 16 kHz; the filter the recommendation gives as its example is off by up to 0.24 dB, which a limiter would have to
/// make up for. Stretches too quiet to rise to the level of interest are not looked at closer.
struct TruePeak: ~Copyable, Sendable {
    /// An estimate concerns the sample it stands for and the `taps - 1` ones before it.
    static let taps = 12
    private static let history = taps - 1
    /// Samples looked at or skipped together.
    private static let stretch = 32
    /// No point between samples is higher than the highest of them times this: the sum of the taps' sizes.
    static let mostRise: Float = 1.92
    private static let windowShape = 5.0

    /// Estimates of the last measured quantum; both channels, the louder counts.
    private let estimates = StereoBuffer(capacity: ProgramTime.quantum)
    private let samples = StereoBuffer(capacity: history + ProgramTime.quantum)
    /// A quarter of a sample in the left channel, half of one in the right; three quarters is the quarter backwards.
    private let filters = StereoBuffer(capacity: taps)

    init() {
        for tap in 0..<Self.taps {
            filters.left[tap] = Self.coefficient(tap, fraction: 0.25)
            filters.right[tap] = Self.coefficient(tap, fraction: 0.5)
        }
    }

    /// What rises above `level` in the last measured quantum; what does not may be given as less than it is.
    var peaks: UnsafePointer<Float> { UnsafePointer(estimates.left) }

    /// Measures the next `count` samples, at most a quantum.
    ///
    /// - Parameter level: Only peaks above it are of interest.
    /// - Returns: The highest peak; one below `level` may be given as less than it is.
    mutating func measure(
        _ left: UnsafePointer<Float>,
        _ right: UnsafePointer<Float>,
        count: Int,
        above level: Float
    ) -> Float {
        let history = Self.history
        (samples.left + history).update(from: left, count: count)
        (samples.right + history).update(from: right, count: count)
        var highest: Float = 0
        var start = 0
        while start < count {
            let length = min(Self.stretch, count - start)
            let loudest = max(
                Self.loudest(samples.left + start, length + history),
                Self.loudest(samples.right + start, length + history)
            )
            if loudest * Self.mostRise > level {
                highest = max(highest, estimate(from: start, count: length))
            } else {
                (estimates.left + start).update(repeating: 0, count: length)
            }
            start += length
        }
        samples.left.update(from: samples.left + count, count: history)
        samples.right.update(from: samples.right + count, count: history)
        return highest
    }

    private func estimate(from start: Int, count: Int) -> Float {
        let width = 8
        var highest = SIMD8<Float>()
        var index = 0
        while index + width <= count {
            let peak = pointwiseMax(rise(samples.left + start + index), rise(samples.right + start + index))
            UnsafeMutableRawPointer(estimates.left + start + index).storeBytes(of: peak, as: SIMD8<Float>.self)
            highest = pointwiseMax(highest, peak)
            index += width
        }
        // Quanta are whole multiples of the width; anything else takes the slow way.
        var rest: Float = 0
        while index < count {
            let peak = max(riseOfOne(samples.left + start + index), riseOfOne(samples.right + start + index))
            estimates.left[start + index] = peak
            rest = max(rest, peak)
            index += 1
        }
        return max(highest.max(), rest)
    }

    /// The highest of the four points for each of eight samples; the first of them has `window` as its oldest tap.
    private func rise(_ window: UnsafePointer<Float>) -> SIMD8<Float> {
        let (quarter, half) = (filters.left, filters.right)
        let last = Self.taps - 1
        var (first, second, third) = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
        for tap in 0..<Self.taps {
            let values = UnsafeRawPointer(window + tap).loadUnaligned(as: SIMD8<Float>.self)
            first += values * quarter[tap]
            second += values * half[tap]
            third += values * quarter[last - tap]
        }
        let present = UnsafeRawPointer(window + last).loadUnaligned(as: SIMD8<Float>.self)
        return pointwiseMax(
            pointwiseMax(Self.size(first), Self.size(second)),
            pointwiseMax(Self.size(third), Self.size(present))
        )
    }

    private func riseOfOne(_ window: UnsafePointer<Float>) -> Float {
        var (first, second, third): (Float, Float, Float) = (0, 0, 0)
        for tap in 0..<Self.taps {
            first += window[tap] * filters.left[tap]
            second += window[tap] * filters.right[tap]
            third += window[tap] * filters.left[Self.taps - 1 - tap]
        }
        return max(abs(first), abs(second), abs(third), abs(window[Self.taps - 1]))
    }

    private static func size(_ values: SIMD8<Float>) -> SIMD8<Float> {
        pointwiseMax(values, -values)
    }

    private static func loudest(_ samples: UnsafePointer<Float>, _ count: Int) -> Float {
        let width = 8
        var most = SIMD8<Float>()
        var index = 0
        while index + width <= count {
            let values = UnsafeRawPointer(samples + index).loadUnaligned(as: SIMD8<Float>.self)
            most = pointwiseMax(most, size(values))
            index += width
        }
        var loudest = most.max()
        while index < count {
            loudest = max(loudest, abs(samples[index]))
            index += 1
        }
        return loudest
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
