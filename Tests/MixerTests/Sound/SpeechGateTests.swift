import Testing

@testable import Mixer

@Suite("D4 Speech is told from the noise of a room") struct SpeechGateTests {
    /// Seconds of sound at a level; moving, it falls by 20 dB four times a second, as syllables do.
    private struct Part {
        let level: Double
        let seconds: Double
        var isMoving = false
    }

    /// What levelling has come to by the end of each part, in decibels.
    private func gains(_ parts: [Part]) -> [Double] {
        var meter = LoudnessMeter(memory: Leveller.memory, gate: Leveller.gate, onlySpeech: true)
        var leveller = Leveller()
        var generator = SplitMix(seed: 7)
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
                leveller.advance(by: 0.01, isOn: true, loudness: meter.gated, isSpeaking: meter.isCounting)
                position += 480
            }
            return leveller.gain
        }
    }

    @Test("what a room sounds like while its host says nothing is not turned up, however long that is")
    func pause() {
        let gains = gains([Part(level: -20, seconds: 7, isMoving: true), Part(level: -45, seconds: 20)])
        #expect(gains[0] > 2.5)
        #expect(abs(gains[1] - gains[0]) < 0.3, "\(gains)")
    }

    @Test("nor before the first word; quiet speech is")
    func beginning() {
        let gains = gains([Part(level: -45, seconds: 8), Part(level: -36, seconds: 8, isMoving: true)])
        #expect(gains[0] == 0)
        #expect(gains[1] > 2, "\(gains)")
    }

    @Test("a voice far below the one before counts again after a while, the noise of a room never")
    func lower() {
        var gate = SpeechGate()
        gate.hear(-20)
        let near = [gate.passes(-31, spread: 0), gate.passes(-31, spread: 20)]
        #expect(near == [true, true])
        var noise = 0
        for _ in 0..<36_000 where gate.passes(-40, spread: 3) { noise += 1 }
        let louder = gate.passes(-34, spread: 3)
        #expect(noise == 0 && !louder)
        let waited = (0..<2000).first { _ in gate.passes(-40, spread: 15) }
        // 8 LU below what still is speech, at 1 LU in ten seconds.
        #expect((790...810).contains(waited ?? 0))
    }

    @Test("a single knock in even noise does not make it speech")
    func knock() {
        let gains = gains([
            Part(level: -45, seconds: 5), Part(level: -25, seconds: 0.1), Part(level: -45, seconds: 5),
        ])
        #expect(gains[2] < 0.6, "\(gains)")
    }
}
