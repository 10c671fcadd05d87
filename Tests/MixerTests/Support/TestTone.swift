import Foundation

/// Making and measuring tones at 48 kHz.
enum TestTone {
    static func sine(of frequency: Double, at sample: Int) -> Double {
        sin(2 * .pi * frequency * Double(sample % 48_000) / 48_000)
    }

    /// The amplitude of `frequency` in `samples` (Goertzel's algorithm).
    static func amplitude(of frequency: Double, in samples: ArraySlice<Float>) -> Double {
        let coefficient = 2 * cos(2 * .pi * frequency / 48_000)
        var (last, before) = (0.0, 0.0)
        samples.withUnsafeBufferPointer { samples in
            for sample in samples { (last, before) = (Double(sample) + coefficient * last - before, last) }
        }
        let power = last * last + before * before - coefficient * last * before
        return 2 * max(power, 0).squareRoot() / Double(max(samples.count, 1))
    }

    /// The mean amplitude of `frequency` over windows of 200 ms: a tone whose phase wanders a little is as loud.
    static func level(of frequency: Double, in samples: ArraySlice<Float>) -> Double {
        let starts = Array(stride(from: samples.startIndex, through: samples.endIndex - 9600, by: 9600))
        let sum = starts.reduce(0) { $0 + amplitude(of: frequency, in: samples[$1..<$1 + 9600]) }
        return sum / Double(max(starts.count, 1))
    }

    /// The largest step from one sample to the next.
    static func largestStep(in samples: ArraySlice<Float>) -> Float {
        samples.withUnsafeBufferPointer { samples in
            var largest: Float = 0
            for index in 1..<max(samples.count, 1) {
                largest = max(largest, abs(samples[index] - samples[index - 1]))
            }
            return largest
        }
    }

    /// The largest step that a sine makes.
    static func step(of frequency: Double, amplitude: Double) -> Float {
        Float(amplitude * 2 * .pi * frequency / 48_000)
    }
}
