import TestSupport
import Testing

@testable import Mixer

@Suite("Loudness normalizer") struct LoudnessNormalizerTests {
    private func run(
        _ normalizer: inout LoudnessNormalizer,
        seconds: Double,
        isOn: Bool = true,
        loudness: Double?,
        isSpeaking: Bool = true
    ) {
        for _ in 0..<Int(seconds * 50) {
            normalizer.advance(by: 0.02, isOn: isOn, loudness: loudness, isSpeaking: isSpeaking)
        }
    }

    @Test("a loud host is lowered by 1 dB a second and a quiet one raised by 0.5, to -16 LUFS")
    func speed() {
        var loud = LoudnessNormalizer()
        run(&loud, seconds: 3, loudness: -10)
        #expect(abs(loud.gain + 3) < 0.05)
        run(&loud, seconds: 10, loudness: -10)
        #expect(abs(loud.gain + 6) < 0.05)
        var quiet = LoudnessNormalizer()
        run(&quiet, seconds: 4, loudness: -20)
        #expect(abs(quiet.gain - 2) < 0.05)
        run(&quiet, seconds: 10, loudness: -20)
        #expect(abs(quiet.gain - 4) < 0.05)
    }

    @Test("the gain is limited to 12 dB", arguments: [(-45.0, 12.0), (0.0, -12.0)])
    func range(loudness: Double, gain: Double) {
        var normalizer = LoudnessNormalizer()
        run(&normalizer, seconds: 60, loudness: loudness)
        #expect(abs(normalizer.gain - gain) < 1e-9)
    }

    @Test("the gain is frozen during silence")
    func frozen() {
        var normalizer = LoudnessNormalizer()
        run(&normalizer, seconds: 4, loudness: -20)
        let gain = normalizer.gain
        run(&normalizer, seconds: 30, loudness: -20, isSpeaking: false)
        #expect(normalizer.gain == gain)
        run(&normalizer, seconds: 30, loudness: nil)
        #expect(normalizer.gain == gain)
    }

    @Test("the gain resets within seconds when switched off, and starts again when switched on")
    func off() {
        var normalizer = LoudnessNormalizer()
        run(&normalizer, seconds: 30, loudness: -26)
        #expect(abs(normalizer.gain - 10) < 0.05)
        run(&normalizer, seconds: 2, isOn: false, loudness: -26)
        #expect(normalizer.gain == 0)
        run(&normalizer, seconds: 2, loudness: -26)
        #expect(abs(normalizer.gain - 1) < 0.05)
    }

    @Test("an error of less than half a decibel is tolerated")
    func tolerance() {
        var normalizer = LoudnessNormalizer()
        run(&normalizer, seconds: 10, loudness: -16.4)
        #expect(normalizer.gain == 0)
    }
}

@Suite("D4 voice activity gate") struct VoiceActivityGateTests {
    /// Seconds of noise at a level; when moving, it falls by 20 dB four times a second, as syllables do.
    private struct Part {
        let level: Double
        let seconds: Double
        var isMoving = false
    }

    /// Returns the normalizer's gain at the end of each part, in decibels.
    private func gains(_ parts: [Part]) -> [Double] {
        var meter = LoudnessMeter(memory: LoudnessNormalizer.memory, gate: LoudnessNormalizer.gate, onlySpeech: true)
        var normalizer = LoudnessNormalizer()
        var generator = SeededGenerator(seed: 7)
        let noise = (0..<48_000).map { _ in Float(generator.next() >> 40) / Float(1 << 23) - 1 }
        return parts.map { part in
            var position = 0
            while Double(position) < part.seconds * 48_000 {
                let isLow = part.isMoving && position / 6000 % 2 == 1
                // White noise from -1 to 1 measures 1.7 LUFS in both channels.
                let factor = Decibels.factor(part.level - 1.7 - (isLow ? 20 : 0))
                let block = noise[position % 48_000..<position % 48_000 + 480].map { $0 * factor }
                block.withUnsafeBufferPointer { samples in
                    guard let start = samples.baseAddress else { return }
                    meter.add(start, start, count: samples.count)
                }
                normalizer.advance(by: 0.01, isOn: true, loudness: meter.gated, isSpeaking: meter.isCounting)
                position += 480
            }
            return normalizer.gain
        }
    }

    @Test("room noise of a silent host is not raised, however long it lasts")
    func pause() {
        let gains = gains([Part(level: -20, seconds: 7, isMoving: true), Part(level: -45, seconds: 20)])
        #expect(gains[0] > 2.5)
        #expect(abs(gains[1] - gains[0]) < 0.3, "\(gains)")
    }

    @Test("noise before the first word is not raised, and quiet speech is")
    func beginning() {
        let gains = gains([Part(level: -45, seconds: 8), Part(level: -36, seconds: 8, isMoving: true)])
        #expect(gains[0] == 0)
        #expect(gains[1] > 2, "\(gains)")
    }

    @Test("a much quieter voice counts again after a while, and room noise never does")
    func lower() {
        var gate = VoiceActivityGate()
        gate.update(-20)
        let near = [gate.passes(-31, spread: 0), gate.passes(-31, spread: 20)]
        #expect(near == [true, true])
        var noise = 0
        for _ in 0..<36_000 where gate.passes(-40, spread: 3) { noise += 1 }
        let louder = gate.passes(-34, spread: 3)
        #expect(noise == 0 && !louder)
        let waited = (0..<2000).first { _ in gate.passes(-40, spread: 15) }
        // 8 LU below the speech threshold, at 1 LU in ten seconds.
        #expect((790...810).contains(waited ?? 0))
    }

    @Test("a single knock in constant noise does not count as speech")
    func knock() {
        let gains = gains([
            Part(level: -45, seconds: 5), Part(level: -25, seconds: 0.1), Part(level: -45, seconds: 5),
        ])
        #expect(gains[2] < 0.6, "\(gains)")
    }
}
