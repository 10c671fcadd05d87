import Foundation

/// Generates and measures tones at 48 kHz.
enum TestTone {
    static func sine(of frequency: Double, at sample: Int) -> Double {
        sin(2 * .pi * frequency * Double(sample % 48_000) / 48_000)
    }

    /// Returns the amplitude of `frequency` in `samples` (Goertzel's algorithm).
    static func amplitude(of frequency: Double, in samples: ArraySlice<Float>) -> Double {
        let coefficient = 2 * cos(2 * .pi * frequency / 48_000)
        var (last, before) = (0.0, 0.0)
        samples.withUnsafeBufferPointer { samples in
            for sample in samples { (last, before) = (Double(sample) + coefficient * last - before, last) }
        }
        let power = last * last + before * before - coefficient * last * before
        return 2 * max(power, 0).squareRoot() / Double(max(samples.count, 1))
    }

    /// Returns the mean amplitude of `frequency` over windows of 200 ms, which tolerates a varying phase.
    static func level(of frequency: Double, in samples: ArraySlice<Float>) -> Double {
        let starts = Array(stride(from: samples.startIndex, through: samples.endIndex - 9600, by: 9600))
        let sum = starts.reduce(0) { $0 + amplitude(of: frequency, in: samples[$1..<$1 + 9600]) }
        return sum / Double(max(starts.count, 1))
    }

    /// Returns the largest step from one sample to the next.
    static func largestStep(in samples: ArraySlice<Float>) -> Float {
        samples.withUnsafeBufferPointer { samples in
            var largest: Float = 0
            for index in 1..<max(samples.count, 1) {
                largest = max(largest, abs(samples[index] - samples[index - 1]))
            }
            return largest
        }
    }

    /// Returns the largest step of a sine.
    static func step(of frequency: Double, amplitude: Double) -> Float {
        Float(amplitude * 2 * .pi * frequency / 48_000)
    }
}

/// The loudness of audio as measured by ffmpeg.
struct LoudnessReference {
    /// The gated integrated loudness in LUFS.
    let integrated: Double
    /// The true peak of the louder channel in dBTP.
    let truePeak: Double

    private struct NoAnswer: Error {}

    /// Measures `left` and `right`, 48 kHz, with the filter `ebur128`.
    init(left: [Float], right: [Float]) throws {
        let path = NSTemporaryDirectory() + "loudness-\(UUID().uuidString).f32"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var samples: [Float] = []
        samples.reserveCapacity(2 * left.count)
        for index in left.indices {
            samples.append(left[index])
            samples.append(right[index])
        }
        try samples.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: path))
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-f", "f32le", "-ar", "48000", "-ac", "2", "-i", path,
            "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let summary = text.components(separatedBy: "Summary:").last ?? ""
        guard let integrated = Self.value(after: "I:", in: summary),
            let truePeak = Self.value(after: "Peak:", in: summary)
        else { throw NoAnswer() }
        self.integrated = integrated
        self.truePeak = truePeak
    }

    private static func value(after word: String, in text: String) -> Double? {
        guard let range = text.range(of: word) else { return nil }
        return text[range.upperBound...].split(whereSeparator: \.isWhitespace).first.flatMap { Double($0) }
    }
}
