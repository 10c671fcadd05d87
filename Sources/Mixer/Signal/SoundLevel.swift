#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Measures how loud sound is, over as many samples as it is given between two readings.
struct SoundLevel: Sendable {
    private var squares: Float = 0
    private var peak: Float = 0
    private var count = 0

    /// Takes `count` samples of both channels in.
    mutating func add(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) {
        add(left, count)
        add(right, count)
        self.count += 2 * count
    }

    private mutating func add(_ samples: UnsafePointer<Float>, _ count: Int) {
        var sum = SIMD8<Float>()
        var most = SIMD8<Float>()
        var index = 0
        while index + 8 <= count {
            let values = SIMD8(loading: samples + index)
            sum += values * values
            most = most.larger(values.size)
            index += 8
        }
        squares += sum.sum()
        peak = max(peak, most.max())
        while index < count {
            squares += samples[index] * samples[index]
            peak = max(peak, abs(samples[index]))
            index += 1
        }
    }

    /// Root mean square and peak of what was taken in since the last reading, in dBFS.
    mutating func read() -> (level: Double, peak: Double) {
        defer { self = SoundLevel() }
        guard count > 0 else { return (HostSignal.silence, HostSignal.silence) }
        return (Self.decibels(Double(squares) / Double(count), factor: 10), Self.decibels(Double(peak), factor: 20))
    }

    private static func decibels(_ value: Double, factor: Double) -> Double {
        // Written so that it is false for what is no number: a decoder may give anything.
        guard value > 0, value.isFinite else { return HostSignal.silence }
        return max(factor * log10(value), HostSignal.silence)
    }
}
