#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A smooth gain change over as many samples as it is applied to.
///
/// The slope is zero at both ends, so a change over a quantum (11 ms) is not audible as a click.
struct GainCurve: Sendable, Equatable {
    static let silent = GainCurve(from: 0, to: 0)

    let from: Float
    let to: Float

    /// Whether the gain is zero throughout.
    var isSilent: Bool { from == 0 && to == 0 }

    /// The curve with inverted sign: adding it removes what the curve added.
    var negated: GainCurve { GainCurve(from: -from, to: -to) }

    /// Returns the difference to `other`, which added to it gives this curve.
    func minus(_ other: GainCurve) -> GainCurve { GainCurve(from: from - other.from, to: to - other.to) }

    /// Adds `count` samples of `source`, multiplied by the curve, to `sum`.
    func add(_ source: borrowing StereoBuffer, to sum: borrowing StereoBuffer, count: Int) {
        guard !isSilent else { return }
        add(source.left, to: sum.left, count: count)
        add(source.right, to: sum.right, count: count)
    }

    private func add(_ source: UnsafePointer<Float>, to sum: UnsafeMutablePointer<Float>, count: Int) {
        let width = 8
        let step = 1 / Float(count)
        let change = to - from
        let three = SIMD8<Float>(repeating: 3)
        var progress = SIMD8<Float>(1, 2, 3, 4, 5, 6, 7, 8) * step
        var index = 0
        while index + width <= count {
            var gain = SIMD8<Float>(repeating: from)
            if change != 0 {
                gain += (progress * progress * (three - 2 * progress)) * change
                progress += Float(width) * step
            }
            let target = UnsafeMutableRawPointer(sum + index)
            let samples = UnsafeRawPointer(source + index).loadUnaligned(as: SIMD8<Float>.self)
            target.storeBytes(
                of: target.loadUnaligned(as: SIMD8<Float>.self) + samples * gain,
                as: SIMD8<Float>.self
            )
            index += width
        }
        while index < count {
            let progress = Float(index + 1) * step
            sum[index] += source[index] * (from + progress * progress * (3 - 2 * progress) * change)
            index += 1
        }
    }
}

/// Computes the ducking depth while a host speaks that has priority.
///
/// The depth follows the level of the priority hosts by quantum: full within 11 ms of the first word, then released
/// linearly over 400 ms, so that the other hosts do not rise in the gaps between words.
struct Ducker: Sendable {
    /// The level in dBFS at which speech begins.
    static let threshold = -40.0
    /// The level in dBFS below which speech ends.
    static let releaseThreshold = -46.0
    /// Milliseconds from full depth to none.
    static let release = 400.0

    /// The depth, 0 to 1.
    private(set) var depth = 0.0
    private var isSpeech = false

    /// Updates the depth for the next quantum.
    ///
    /// - Parameter level: RMS level in dBFS of the loudest priority host, as it is in the mix.
    mutating func advance(level: Double) {
        isSpeech = level >= (isSpeech ? Self.releaseThreshold : Self.threshold)
        if isSpeech {
            // The gain curve over the quantum is the attack.
            depth = 1
        } else {
            let quantum = Double(ProgramTime.quantum) / 48
            depth = max(depth - quantum / Self.release, 0)
        }
    }
}

/// Converts gains between decibels and factors.
enum Decibels {
    /// Returns the factor of a gain in decibels; 0 at -120 dB and below.
    static func factor(_ decibels: Double) -> Float {
        guard decibels > -120 else { return 0 }
        return Float(pow(10, min(decibels, 60) / 20))
    }

    /// Returns the gain in decibels of a factor; at least -120 dB.
    static func gain(of factor: Float) -> Double {
        factor > 1e-6 ? 20 * log10(Double(factor)) : -120
    }
}
