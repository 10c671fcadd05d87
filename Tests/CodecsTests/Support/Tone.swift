import Foundation

/// Measures and makes pure tones.
enum Tone {
    /// The amplitude of `frequency` in `samples`, by the Goertzel algorithm.
    static func amplitude(of frequency: Double, in samples: some Collection<Float>, rate: Double = 48_000) -> Double {
        let coefficient = 2 * cos(2 * Double.pi * frequency / rate)
        var (previous, beforePrevious) = (0.0, 0.0)
        for sample in samples {
            (previous, beforePrevious) = (Double(sample) + coefficient * previous - beforePrevious, previous)
        }
        let power = previous * previous + beforePrevious * beforePrevious - coefficient * previous * beforePrevious
        return 2 * power.squareRoot() / Double(samples.count)
    }

    /// Sample number `index` of a tone of amplitude 0.5 at 48 kHz.
    static func sample(_ index: Int, frequency: Double) -> Float {
        Float(0.5 * sin(2 * Double.pi * frequency * Double(index) / 48_000))
    }
}
