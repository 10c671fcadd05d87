import Foundation

/// Decoded mono audio at 48 kHz.
public struct DecodedAudio: Sendable {
    /// The sample rate in Hz.
    public static let sampleRate = 48_000
    /// The time of the first sample in seconds from the start of the recording.
    public let startTime: Double
    /// The samples; 1 is full scale.
    public let samples: [Float]

    /// Creates audio from samples.
    public init(startTime: Double = 0, samples: [Float]) {
        self.startTime = startTime
        self.samples = samples
    }

    /// The duration in seconds.
    public var duration: Double { Double(samples.count) / Double(DecodedAudio.sampleRate) }

    /// Returns the level of a tone in dB; 0 dB is a full-scale sine wave, and digital silence is -200 dB.
    ///
    /// The power is averaged over blocks of a tenth of a second with a bandwidth of about 20 Hz, so that a slightly
    /// resampled tone is detected and one present for half of the time has 3 dB less.
    ///
    /// - Parameters:
    ///   - frequency: The frequency in Hz.
    ///   - from: The start in seconds from the start of the recording.
    ///   - to: The end in seconds from the start of the recording; the end of the audio if nil.
    public func toneLevel(frequency: Double, from: Double = 0, to: Double? = nil) -> Double {
        let part = range(from: from, to: to)
        let block = min(DecodedAudio.sampleRate / 10, part.count)
        guard block > 0 else { return -200 }
        var power = 0.0
        var blocks = 0
        var start = part.lowerBound
        while start + block <= part.upperBound {
            let amplitude = tone(frequency, at: start, count: block)
            power += amplitude * amplitude
            blocks += 1
            start += block
        }
        return 10 * log10(max(power / Double(blocks), 1e-20))
    }

    /// Returns the RMS level in dB; 0 dB is a full-scale sine wave, and digital silence is -200 dB.
    public func level(from: Double = 0, to: Double? = nil) -> Double {
        let part = range(from: from, to: to)
        guard !part.isEmpty else { return -200 }
        return 10 * log10(max(2 * meanSquare(part), 1e-20))
    }

    /// The peak level in dBFS.
    public var peak: Double {
        20 * log10(max(Double(samples.map(abs).max() ?? 0), 1e-10))
    }

    /// Returns the ranges below `level` that are longer than `length`, in seconds from the start of the recording.
    public func silences(below level: Double = -60, longerThan length: Double = 0.02) -> [ClosedRange<Double>] {
        // 5 ms are a quarter period of 50 Hz, the lowest test frequency.
        let block = DecodedAudio.sampleRate / 200
        var found: [ClosedRange<Double>] = []
        var begin: Int?
        for start in stride(from: 0, through: samples.count, by: block) {
            let part = start..<min(start + block, samples.count)
            let isQuiet = part.count == block && 10 * log10(max(2 * meanSquare(part), 1e-20)) < level
            if isQuiet {
                begin = begin ?? start
            } else if let first = begin {
                if time(start) - time(first) > length { found.append(time(first)...time(start)) }
                begin = nil
            }
        }
        return found
    }

    /// Returns the times of discontinuities in seconds from the start of the recording; those within 10 ms are merged.
    ///
    /// A discontinuity is a second difference larger than `step`. That of a pure tone is its amplitude times
    /// (2 pi frequency / 48000) squared: 0.004 for 1 kHz at a quarter of full scale.
    public func clicks(above step: Float = 0.05) -> [Double] {
        var found: [Double] = []
        for index in samples.indices.dropFirst(2) {
            let bend = samples[index] - 2 * samples[index - 1] + samples[index - 2]
            guard abs(bend) > step else { continue }
            if let last = found.last, time(index) - last < 0.01 { continue }
            found.append(time(index))
        }
        return found
    }

    /// Returns the amplitude of one frequency in a block of samples with a Hann window (Goertzel algorithm).
    func tone(_ frequency: Double, at start: Int, count: Int) -> Double {
        let step = 2 * Double.pi * frequency / Double(DecodedAudio.sampleRate)
        let turn = 2 * cos(step)
        var (one, two, weights) = (0.0, 0.0, 0.0)
        for index in 0..<count {
            let weight = 0.5 - 0.5 * cos(2 * Double.pi * (Double(index) + 0.5) / Double(count))
            let next = Double(samples[start + index]) * weight + turn * one - two
            two = one
            one = next
            weights += weight
        }
        let power = one * one + two * two - turn * one * two
        return weights > 0 ? 2 * max(power, 0).squareRoot() / weights : 0
    }

    private func time(_ index: Int) -> Double {
        startTime + Double(index) / Double(DecodedAudio.sampleRate)
    }

    private func range(from: Double, to: Double?) -> Range<Int> {
        let rate = Double(DecodedAudio.sampleRate)
        let first = min(max(Int(((from - startTime) * rate).rounded()), 0), samples.count)
        let last = to.map { min(max(Int((($0 - startTime) * rate).rounded()), first), samples.count) }
        return first..<(last ?? samples.count)
    }

    private func meanSquare(_ part: Range<Int>) -> Double {
        var sum = 0.0
        for index in part { sum += Double(samples[index]) * Double(samples[index]) }
        return sum / Double(max(part.count, 1))
    }
}
