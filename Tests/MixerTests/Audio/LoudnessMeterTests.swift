import TestSupport
import Testing

@testable import Mixer

@Suite("Loudness by ITU-R BS.1770-4", .enabled(if: TestRun.isFull)) struct LoudnessMeterTests {
    /// A tone of both channels with the given peak in dBFS.
    private func tone(_ decibels: Double, seconds: Double, frequency: Double = 1000) -> [Float] {
        let amplitude = Double(Decibels.factor(decibels))
        return (0..<Int(seconds * 48_000)).map { Float(amplitude * TestTone.sine(of: frequency, at: $0)) }
    }

    private func measure(_ left: [Float], _ right: [Float], gate: Double = -70) -> LoudnessMeter {
        var meter = LoudnessMeter(memory: 4000, gate: gate)
        for start in stride(from: 0, to: left.count - 959, by: 960) {
            left[start...].withUnsafeBufferPointer { left in
                right[start...].withUnsafeBufferPointer { right in
                    guard let left = left.baseAddress, let right = right.baseAddress else { return }
                    meter.add(left, right, count: 960)
                }
            }
        }
        return meter
    }

    @Test("a stereo tone of 997 Hz has as many LUFS as its peak in dBFS, and 3 less in one channel")
    func reference() {
        let samples = tone(-20, seconds: 4, frequency: 997)
        let meter = measure(samples, samples)
        #expect(abs(meter.momentary + 20) < 0.05)
        #expect(abs(meter.shortTerm + 20) < 0.05)
        #expect(abs((meter.gated ?? 0) + 20) < 0.05)
        let one = measure(samples, [Float](repeating: 0, count: samples.count))
        #expect(abs(one.momentary + 23.01) < 0.05)
    }

    @Test(
        "the first five cases of EBU Tech 3341 are met",
        arguments: [
            ([(-23.0, 20.0)], -23.0),
            ([(-33.0, 20.0)], -33.0),
            ([(-36.0, 10.0), (-23.0, 60.0), (-36.0, 10.0)], -23.0),
            ([(-72.0, 10.0), (-36.0, 10.0), (-23.0, 60.0), (-36.0, 10.0), (-72.0, 10.0)], -23.0),
            ([(-26.0, 20.0), (-20.0, 20.1), (-26.0, 20.0)], -23.0),
        ]
    )
    func cases(parts: [(level: Double, seconds: Double)], expected: Double) throws {
        let samples = parts.flatMap { tone($0.level, seconds: $0.seconds) }
        let gated = try #require(measure(samples, samples).gated)
        #expect(abs(gated - expected) <= 0.1, "\(gated)")
    }

    @Test("intermittent noise measures as in ffmpeg", arguments: [1, 2, 3])
    func reference(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var left: [Float] = []
        var right: [Float] = []
        var last: Float = 0
        for part in 0..<20 {
            let level = Decibels.factor(part % 4 == 3 ? -60 : -Double(generator.next() % 20) - 6)
            for _ in 0..<24_000 {
                // Brown and white noise: energy at every frequency.
                last = 0.98 * last + 0.02 * Float.random(in: -1...1, using: &generator)
                let white = Float.random(in: -1...1, using: &generator)
                left.append(level * (3 * last + 0.2 * white))
                right.append(level * (2 * last - 0.3 * white))
            }
        }
        let gated = try #require(measure(left, right).gated)
        let reference = try LoudnessReference(left: left, right: right)
        #expect(abs(gated - reference.integrated) <= 0.1, "\(gated) to \(reference.integrated)")
    }

    @Test("blocks below the gate are ignored: speech counts, pauses do not")
    func gate() throws {
        let samples = tone(-20, seconds: 3) + tone(-55, seconds: 30) + tone(-20, seconds: 3)
        let gated = try #require(measure(samples, samples, gate: -50).gated)
        #expect(abs(gated + 20) < 0.5)
        let quiet = tone(-60, seconds: 5)
        #expect(measure(quiet, quiet, gate: -50).gated == nil)
    }

    @Test("silence and NaN measure as silence and leave no trace")
    func invalidSamples() {
        var samples = tone(-20, seconds: 6)
        for index in 96_000..<96_100 { samples[index] = .nan }
        let meter = measure(samples, samples)
        #expect(abs(meter.shortTerm + 20) < 0.1)
        let silence = [Float](repeating: 0, count: 48_000)
        #expect(measure(silence, silence).momentary == LoudnessMeter.silence)
        #expect(measure([], []).gated == nil)
    }
}
