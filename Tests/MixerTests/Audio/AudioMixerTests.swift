import Codecs
import Foundation
import Media
import NIOCore
import Stage
import TestSupport
import Testing

@testable import Mixer

@Suite("Audio mixer", .enabled(if: TestRun.isFull)) struct AudioMixerTests {
    /// Makes three hosts of one tone each: 440, 880 and 1320 Hz, amplitude 0.2.
    private func testProgram(to end: Int64, amplitude: Double = 0.2) throws -> TestProgram {
        let testProgram = try TestProgram()
        for (host, tone) in [("a", 440.0), ("b", 880), ("c", 1320)] {
            let clip = try HostClip.plain(nil, tone: tone, amplitude: amplitude)
            testProgram.feed(host, clip.packets(from: 0, to: end)) { Double($0) + 30 }
        }
        return testProgram
    }

    private func apply(_ audio: AudioScene, audible: Set<String> = ["a", "b", "c"], to testProgram: TestProgram) {
        testProgram.renderer.apply(Scene(audible: audible, audio: audio))
    }

    private func level(_ tone: Double, _ testProgram: TestProgram, _ start: Int, _ end: Int) -> Double {
        TestTone.level(of: tone, in: testProgram.output.audio(from: start, to: end))
    }

    @Test("each host has its own gain, which changes live without a click")
    func gains() throws {
        let testProgram = try testProgram(to: 6000)
        apply(AudioScene(gains: ["b": -6, "c": 6], isLevelling: false), to: testProgram)
        testProgram.run(to: 3000)
        apply(AudioScene(gains: ["a": -60, "b": 3], isLevelling: false), to: testProgram)
        testProgram.run(to: 5800)
        #expect(abs(level(440, testProgram, 1000, 2900) - 0.2) < 0.01)
        #expect(abs(level(880, testProgram, 1000, 2900) - 0.1) < 0.005)
        #expect(abs(level(1320, testProgram, 1000, 2900) - 0.4) < 0.02)
        #expect(level(440, testProgram, 3200, 5700) < 0.001)
        #expect(abs(level(880, testProgram, 3200, 5700) - 0.2825) < 0.015)
        #expect(abs(level(1320, testProgram, 3200, 5700) - 0.2) < 0.01)
        // Nothing steeper than the tones at their loudest, and the slope of a curve.
        let steps =
            TestTone.step(of: 440, amplitude: 0.2) + TestTone.step(of: 880, amplitude: 0.2825)
            + TestTone.step(of: 1320, amplitude: 0.4)
        let largest = TestTone.largestStep(in: testProgram.output.audio(from: 1000, to: 5700))
        #expect(largest < steps * 1.05 + 1.5 * 0.6 / Float(ProgramTime.quantum))
    }

    @Test("T3 a microphone that is switched off leaves the mix within 1024 samples, without spectral splatter")
    func mute() throws {
        let testProgram = try testProgram(to: 6000)
        apply(AudioScene(isLevelling: false), to: testProgram)
        testProgram.run(to: 3000)
        let before = testProgram.output.left.count
        apply(AudioScene(isLevelling: false), audible: ["a", "b"], to: testProgram)
        testProgram.run(to: 5800)
        let end = before + 1024 + Limiter.lookAhead
        #expect(TestTone.amplitude(of: 1320, in: testProgram.output.left[end..<end + 4800]) < 0.001)
        // Around the switch nothing is audible far from the tones.
        let around = testProgram.output.left[before - 4800..<before + 4800]
        for frequency in [5000.0, 9000, 15_000] {
            #expect(TestTone.amplitude(of: frequency, in: around) < 0.0003)
        }
        #expect(abs(level(440, testProgram, 3200, 5700) - 0.2) < 0.01)
    }

    @Test("normalization moves a quiet and a loud host slowly to -16 LUFS each, and resets when switched off")
    func levelling() throws {
        let testProgram = try TestProgram()
        // -8 and -26 LUFS.
        for (host, tone, amplitude) in [("loud", 1000.0, 0.398), ("quiet", 440, 0.0526)] {
            let clip = try HostClip.plain(nil, tone: tone, amplitude: amplitude)
            testProgram.feed(host, clip.packets(from: 0, to: 36_000)) { Double($0) + 30 }
        }
        let both: Set<String> = ["loud", "quiet"]
        apply(AudioScene(), audible: both, to: testProgram)
        testProgram.run(to: 32_000)
        // The tone of -16 LUFS has a peak of -16 dBFS: 0.158; at 440 Hz K-weighting attenuates by 0.6 dB.
        #expect(abs(level(1000, testProgram, 2000, 2400) - 0.398) < 0.08)
        #expect(abs(level(1000, testProgram, 31_000, 32_000) - 0.158) < 0.012)
        #expect(abs(level(440, testProgram, 31_000, 32_000) - 0.17) < 0.015)
        apply(AudioScene(isLevelling: false), audible: both, to: testProgram)
        testProgram.run(to: 35_800)
        #expect(abs(level(1000, testProgram, 34_800, 35_700) - 0.398) < 0.02)
        #expect(abs(level(440, testProgram, 34_800, 35_700) - 0.0526) < 0.004)
        let steps = TestTone.step(of: 440, amplitude: 0.18) + TestTone.step(of: 1000, amplitude: 0.398)
        #expect(TestTone.largestStep(in: testProgram.output.audio(from: 1000, to: 35_000)) < steps * 1.05)
    }

    @Test("a priority host's speech ducks the others, which return when it is silent")
    func ducking() throws {
        let testProgram = try TestProgram()
        let speech = try HostClip.make(
            paint: nil,
            // Two seconds of speech, two of silence.
            sample: { $0 / 96_000 % 2 == 0 ? Float(0.2 * TestTone.sine(of: 440, at: $0)) : 0 }
        )
        testProgram.feed("key", speech.packets(from: 0, to: 8000)) { Double($0) + 30 }
        let other = try HostClip.plain(nil, tone: 880, amplitude: 0.2)
        testProgram.feed("other", other.packets(from: 0, to: 8000)) { Double($0) + 30 }
        let both: Set<String> = ["key", "other"]
        apply(AudioScene(isLevelling: false, duckUnder: ["key"], duckDepth: -10), audible: both, to: testProgram)
        testProgram.run(to: 7800)
        // Host time 0 is heard at 330; speech is from 330 to 2330, and again from 4330 on.
        #expect(abs(level(880, testProgram, 1000, 2200) - 0.0632) < 0.004)
        #expect(abs(level(440, testProgram, 1000, 2200) - 0.2) < 0.01)
        #expect(abs(level(880, testProgram, 2900, 4200) - 0.2) < 0.01)
        #expect(abs(level(880, testProgram, 4500, 6200) - 0.0632) < 0.004)
        // Halfway back, in decibels, after 200 of the 400 ms.
        let half = TestTone.amplitude(of: 880, in: testProgram.output.audio(from: 2510, to: 2560))
        #expect(abs(half - 0.1125) < 0.025)
    }

    @Test("the signals contain the program's peak, the gain reduction, and each host's level before any gain")
    func signals() throws {
        let ring = try CanvasRing(width: 320, height: 180)
        let anchor = ProgramAnchor(start: MonotonicTime(nanoseconds: 0), firstSample: 0)
        let signals = HostSignals()
        let core = ProgramCore(
            ProgramConfiguration(width: 320, height: 180),
            anchor: anchor,
            ring: ring,
            output: RecordingOutput(ring: ring),
            signals: signals,
            overlayCache: OverlayCache(AssetCache())
        )
        let input = HostInput(id: "a", anchor: anchor, jitterTarget: 300)
        core.add(input)
        core.apply(Scene(audible: ["a"], audio: AudioScene(gains: ["a": 12], isLevelling: false)))
        for packet in try HostClip.plain(nil, tone: 440, amplitude: 0.4).packets(from: 0, to: 2000) {
            input.receive(packet, arrival: TestProgram.moment(Double(packet.timestamp) + 30))
        }
        var decoder = HostDecoder()
        for time in stride(from: 0.0, through: 1500, by: 10) {
            while let packet = input.dequeueDuePacket(at: time) { decoder.decode(packet, into: input.media) }
            while core.step(at: TestProgram.moment(time)) == nil {}
        }
        // 0.4 and 12 dB are 1.6, which the limiter reduces to -1 dB.
        #expect(abs(signals.program.peak + 1) < 0.3)
        #expect(abs(signals.program.limiting + 5.1) < 0.4)
        let host = try #require(signals.current.first)
        #expect(abs(host.peak + 8) < 0.3 && abs(host.level + 11) < 0.3 && host.levelling == 0)
    }

    @Test("a muted host ducks no other")
    func mutedKey() throws {
        let testProgram = try testProgram(to: 3000)
        apply(AudioScene(isLevelling: false, duckUnder: ["a"]), audible: ["b", "c"], to: testProgram)
        testProgram.run(to: 2800)
        #expect(abs(level(880, testProgram, 1000, 2700) - 0.2) < 0.01)
    }

    @Test("a mix-minus attenuates the host's own tone by 40 dB, and contains the others as in the program")
    func mixMinus() throws {
        let testProgram = try testProgram(to: 6000)
        let audio = AudioScene(gains: ["a": 6, "b": -3], isLevelling: false, returns: ["a", "c"])
        apply(audio, to: testProgram)
        testProgram.run(to: 3000)
        // A fader change leaks nothing of the host into its own feed.
        apply(AudioScene(gains: ["a": -12], isLevelling: false, returns: ["a", "c"]), to: testProgram)
        testProgram.run(to: 5800)
        let own = testProgram.returns.audio(of: "a", from: 1000, to: 5700)
        #expect(own.count == 4700 * 48)
        #expect(TestTone.level(of: 440, in: own) < 0.2 / 1000)
        let turnedDown = testProgram.returns.audio(of: "a", from: 1000, to: 2900)
        #expect(abs(TestTone.level(of: 880, in: turnedDown) - 0.1416) < 0.01)
        #expect(abs(TestTone.level(of: 1320, in: own) - 0.2) < 0.01)
        let other = testProgram.returns.audio(of: "c", from: 1000, to: 2900)
        #expect(TestTone.level(of: 1320, in: other) < 0.2 / 1000)
        #expect(abs(TestTone.level(of: 440, in: other) - 0.4) < 0.02)
        #expect(testProgram.returns.recorded["b"] == nil)
        let isWhole = testProgram.returns.recorded.values.allSatisfy(\.isContiguous)
        #expect(isWhole)
    }

    @Test("a mix-minus has its own limiter: a loud host does not attenuate what it hears")
    func mixMinusLimit() throws {
        let testProgram = try TestProgram()
        for (host, tone, amplitude) in [("loud", 440.0, 0.9), ("soft", 880, 0.3)] {
            let clip = try HostClip.plain(nil, tone: tone, amplitude: amplitude)
            testProgram.feed(host, clip.packets(from: 0, to: 4000)) { Double($0) + 30 }
        }
        apply(
            AudioScene(gains: ["loud": 6], isLevelling: false, returns: ["loud", "soft"]),
            audible: ["loud", "soft"],
            to: testProgram
        )
        testProgram.run(to: 3800)
        #expect(level(880, testProgram, 1000, 3700) < 0.2)
        let soft = testProgram.returns.audio(of: "loud", from: 1000, to: 3700)
        #expect(abs(TestTone.level(of: 880, in: soft) - 0.3) < 0.01)
        let recorded = testProgram.returns.audio(of: "soft", from: 1000, to: 3700)
        #expect((recorded.map(abs).max() ?? 1) <= Limiter.ceiling)
    }

    @Test("a mix-minus starts and ends when requested")
    func mixMinusAddedAndRemoved() throws {
        let testProgram = try testProgram(to: 4000)
        apply(AudioScene(isLevelling: false), to: testProgram)
        testProgram.run(to: 1000)
        #expect(testProgram.returns.recorded.isEmpty)
        apply(AudioScene(isLevelling: false, returns: ["a", "nobody"]), to: testProgram)
        testProgram.run(to: 2000)
        apply(AudioScene(isLevelling: false), to: testProgram)
        testProgram.run(to: 3000)
        let recorded = try #require(testProgram.returns.recorded["a"])
        #expect(abs(recorded.left.count - 48_000) <= 1920)
        #expect(abs(Int(recorded.firstSample) - 48_000 - Int(ProgramTime.audioLead)) <= 1920)
        // A host that is not in the mix hears all others.
        let everybody = testProgram.returns.audio(of: "nobody", from: 1300, to: 1900)
        #expect(abs(TestTone.level(of: 440, in: everybody) - 0.2) < 0.02)
    }

    @Test("backstage the hosts hear each other in their feeds, and the program contains nothing of it")
    func talkback() throws {
        let testProgram = try testProgram(to: 8000)
        let audio = AudioScene(gains: ["b": -6], isLevelling: false, returns: ["a"])
        testProgram.renderer.apply(Scene(talkback: ["a", "b"], audio: audio))
        testProgram.run(to: 3000)
        testProgram.renderer.apply(Scene(audible: ["a", "b"], audio: audio))
        testProgram.run(to: 5000)
        testProgram.renderer.apply(Scene(talkback: ["a", "b"], audio: audio))
        testProgram.run(to: 7800)
        // Never itself, the other one all the time, without a gap or a click; the third one's microphone is off.
        let recorded = testProgram.returns.audio(of: "a", from: 1000, to: 7700)
        #expect(TestTone.level(of: 440, in: recorded) < 0.2 / 1000)
        #expect(TestTone.level(of: 1320, in: recorded) < 0.001)
        for start in stride(from: 0, to: 6700, by: 100) {
            let part = recorded[recorded.startIndex + start * 48..<recorded.startIndex + (start + 100) * 48]
            #expect(abs(TestTone.amplitude(of: 880, in: part) - 0.1) < 0.01, "at \(1000 + start) ms")
        }
        #expect(TestTone.largestStep(in: recorded) < TestTone.step(of: 880, amplitude: 0.1) * 1.1 + 0.0005)
        for tone in [440.0, 880] {
            #expect(level(tone, testProgram, 0, 2990) < 0.001)
            #expect(abs(level(tone, testProgram, 3600, 4900) - (tone == 440 ? 0.2 : 0.1)) < 0.01)
            #expect(level(tone, testProgram, 5100, 7700) < 0.001)
        }
    }
}
