import FootlightTesting
import Foundation
import Testing

@Suite("Decoded sound") struct SoundTrackTests {
    /// A sine wave of 48000 samples a second.
    private func tone(_ frequency: Double, amplitude: Double, seconds: Double) -> [Float] {
        (0..<Int(seconds * 48_000)).map { Float(amplitude * sin(2 * .pi * frequency * Double($0) / 48_000)) }
    }

    @Test("The strength of a tone is its amplitude, beside another one as well")
    func toneLevels() {
        let both = zip(tone(440, amplitude: 0.5, seconds: 2), tone(880, amplitude: 0.1, seconds: 2)).map { $0 + $1 }
        let track = SoundTrack(startTime: 1, samples: both)
        #expect(abs(track.toneLevel(frequency: 440) - -6.02) < 0.1)
        #expect(abs(track.toneLevel(frequency: 880, from: 1.5, to: 2.5) - -20) < 0.1)
        #expect(track.toneLevel(frequency: 660) < -60)
        #expect(track.toneLevel(frequency: 440, from: 5) == -200)
    }

    @Test("A tone a hair beside its frequency is met")
    func nearbyTone() {
        let track = SoundTrack(samples: tone(440.4, amplitude: 0.5, seconds: 3))
        #expect(abs(track.toneLevel(frequency: 440) - -6.02) < 0.1)
        #expect(abs(track.level() - -6.02) < 0.1)
        #expect(abs(track.peak - -6.02) < 0.1)
    }

    @Test("Silence is found where it is")
    func silence() throws {
        let sound = tone(440, amplitude: 0.3, seconds: 1)
        let track = SoundTrack(startTime: 2, samples: sound + [Float](repeating: 0, count: 12_000) + sound)
        let found = track.silences()
        #expect(found.count == 1)
        let gap = try #require(found.first)
        #expect(abs(gap.lowerBound - 3) < 0.011 && abs(gap.upperBound - 3.25) < 0.011)
        #expect(SoundTrack(samples: sound).silences().isEmpty)
    }

    @Test("A jump of the wave is a click, a tone is not, and neither is a fade")
    func clicks() throws {
        let sound = tone(1000, amplitude: 0.5, seconds: 1)
        #expect(SoundTrack(samples: sound).clicks().isEmpty)
        var cut = sound
        cut.replaceSubrange(24_012..<24_500, with: [Float](repeating: 0, count: 488))
        let found = SoundTrack(startTime: 10, samples: cut).clicks()
        #expect(found.count == 2)
        #expect(abs(try #require(found.first) - 10.50025) < 0.001)
        let fade = sound.enumerated().map { $1 * max(0, 1 - Float($0) / 480) }
        #expect(SoundTrack(samples: fade).clicks().isEmpty)
    }
}
