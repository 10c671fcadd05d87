import Codecs
import Foundation
import Media
import NIOCore
import Stage
import Testing

@testable import Mixer

@Suite("The sound of a program") struct ProgramSoundTests {
    /// Three hosts of one tone each, from the start on: 440, 880 and 1320 Hz, amplitude 0.2.
    private func rehearsal(to end: Int64, amplitude: Double = 0.2) throws -> Rehearsal {
        let rehearsal = try Rehearsal()
        for (host, tone) in [("a", 440.0), ("b", 880), ("c", 1320)] {
            let clip = try HostClip.plain(nil, tone: tone, amplitude: amplitude)
            rehearsal.feed(host, clip.packets(from: 0, to: end)) { Double($0) + 30 }
        }
        return rehearsal
    }

    private func apply(_ sound: SoundScene, audible: Set<String> = ["a", "b", "c"], to rehearsal: Rehearsal) {
        rehearsal.renderer.apply(Scene(audible: audible, sound: sound))
    }

    private func level(_ tone: Double, _ rehearsal: Rehearsal, _ start: Int, _ end: Int) -> Double {
        TestTone.level(of: tone, in: rehearsal.output.sound(from: start, to: end))
    }

    @Test("Each host has a gain of its own, changed live and without a click")
    func gains() throws {
        let rehearsal = try rehearsal(to: 6000)
        apply(SoundScene(gains: ["b": -6, "c": 6], isLevelling: false), to: rehearsal)
        rehearsal.run(to: 3000)
        apply(SoundScene(gains: ["a": -60, "b": 3], isLevelling: false), to: rehearsal)
        rehearsal.run(to: 5800)
        #expect(abs(level(440, rehearsal, 1000, 2900) - 0.2) < 0.01)
        #expect(abs(level(880, rehearsal, 1000, 2900) - 0.1) < 0.005)
        #expect(abs(level(1320, rehearsal, 1000, 2900) - 0.4) < 0.02)
        #expect(level(440, rehearsal, 3200, 5700) < 0.001)
        #expect(abs(level(880, rehearsal, 3200, 5700) - 0.2825) < 0.015)
        #expect(abs(level(1320, rehearsal, 3200, 5700) - 0.2) < 0.01)
        // Nothing steeper than the tones at their loudest, and the slope of a curve.
        let steps =
            TestTone.step(of: 440, amplitude: 0.2) + TestTone.step(of: 880, amplitude: 0.2825)
            + TestTone.step(of: 1320, amplitude: 0.4)
        let largest = TestTone.largestStep(in: rehearsal.output.sound(from: 1000, to: 5700))
        #expect(largest < steps * 1.05 + 1.5 * 0.6 / Float(ProgramTime.quantum))
    }

    @Test("T3 A microphone that is switched off is out of the mix within 1024 samples, and spreads nothing")
    func mute() throws {
        let rehearsal = try rehearsal(to: 6000)
        apply(SoundScene(isLevelling: false), to: rehearsal)
        rehearsal.run(to: 3000)
        let before = rehearsal.output.left.count
        apply(SoundScene(isLevelling: false), audible: ["a", "b"], to: rehearsal)
        rehearsal.run(to: 5800)
        let end = before + 1024 + Limiter.lookAhead
        #expect(TestTone.amplitude(of: 1320, in: rehearsal.output.left[end..<end + 4800]) < 0.001)
        // Around the switch nothing is heard far from the tones.
        let around = rehearsal.output.left[before - 4800..<before + 4800]
        for frequency in [5000.0, 9000, 15_000] {
            #expect(TestTone.amplitude(of: frequency, in: around) < 0.0003)
        }
        #expect(abs(level(440, rehearsal, 3200, 5700) - 0.2) < 0.01)
    }

    @Test("Levelling brings a quiet and a loud host slowly to -16 LUFS each, and lets go when switched off")
    func levelling() throws {
        let rehearsal = try Rehearsal()
        // -8 and -26 LUFS.
        for (host, tone, amplitude) in [("loud", 1000.0, 0.398), ("quiet", 440, 0.0526)] {
            let clip = try HostClip.plain(nil, tone: tone, amplitude: amplitude)
            rehearsal.feed(host, clip.packets(from: 0, to: 36_000)) { Double($0) + 30 }
        }
        let both: Set<String> = ["loud", "quiet"]
        apply(SoundScene(), audible: both, to: rehearsal)
        rehearsal.run(to: 32_000)
        // The tone of -16 LUFS has a peak of -16 dBFS: 0.158; at 440 Hz the ear's filter takes 0.6 dB.
        #expect(abs(level(1000, rehearsal, 2000, 2400) - 0.398) < 0.08)
        #expect(abs(level(1000, rehearsal, 31_000, 32_000) - 0.158) < 0.012)
        #expect(abs(level(440, rehearsal, 31_000, 32_000) - 0.17) < 0.015)
        apply(SoundScene(isLevelling: false), audible: both, to: rehearsal)
        rehearsal.run(to: 35_800)
        #expect(abs(level(1000, rehearsal, 34_800, 35_700) - 0.398) < 0.02)
        #expect(abs(level(440, rehearsal, 34_800, 35_700) - 0.0526) < 0.004)
        let steps = TestTone.step(of: 440, amplitude: 0.18) + TestTone.step(of: 1000, amplitude: 0.398)
        #expect(TestTone.largestStep(in: rehearsal.output.sound(from: 1000, to: 35_000)) < steps * 1.05)
    }

    @Test("Under a host who speaks the others are turned down, and come back when the host is silent")
    func ducking() throws {
        let rehearsal = try Rehearsal()
        let speech = try HostClip.make(
            paint: nil,
            // Two seconds of speech, two of silence.
            sample: { $0 / 96_000 % 2 == 0 ? Float(0.2 * TestTone.sine(of: 440, at: $0)) : 0 }
        )
        rehearsal.feed("key", speech.packets(from: 0, to: 8000)) { Double($0) + 30 }
        let other = try HostClip.plain(nil, tone: 880, amplitude: 0.2)
        rehearsal.feed("other", other.packets(from: 0, to: 8000)) { Double($0) + 30 }
        let both: Set<String> = ["key", "other"]
        apply(SoundScene(isLevelling: false, duckUnder: ["key"], duckDepth: -10), audible: both, to: rehearsal)
        rehearsal.run(to: 7800)
        // Host time 0 is heard at 330; speech is from 330 to 2330, and again from 4330 on.
        #expect(abs(level(880, rehearsal, 1000, 2200) - 0.0632) < 0.004)
        #expect(abs(level(440, rehearsal, 1000, 2200) - 0.2) < 0.01)
        #expect(abs(level(880, rehearsal, 2900, 4200) - 0.2) < 0.01)
        #expect(abs(level(880, rehearsal, 4500, 6200) - 0.0632) < 0.004)
        // Halfway back, in decibels, after 200 of the 400 ms.
        let half = TestTone.amplitude(of: 880, in: rehearsal.output.sound(from: 2510, to: 2560))
        #expect(abs(half - 0.1125) < 0.025)
    }

    @Test("The signals tell the program's peak, how far the limiter turns it down, and each host before any gain")
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
            wardrobe: Wardrobe(AssetShelf())
        )
        let input = HostInput(id: "a", anchor: anchor, jitterTarget: 300)
        core.add(input)
        core.apply(Scene(audible: ["a"], sound: SoundScene(gains: ["a": 12], isLevelling: false)))
        for packet in try HostClip.plain(nil, tone: 440, amplitude: 0.4).packets(from: 0, to: 2000) {
            input.receive(packet, arrival: Rehearsal.moment(Double(packet.timestamp) + 30))
        }
        var decoder = HostDecoder()
        for time in stride(from: 0.0, through: 1500, by: 10) {
            while let packet = input.takeDue(at: time) { decoder.decode(packet, into: input.media) }
            while core.step(at: Rehearsal.moment(time)) == nil {}
        }
        // 0.4 and 12 dB are 1.6, which the limiter brings to -1 dB.
        #expect(abs(signals.program.peak + 1) < 0.3)
        #expect(abs(signals.program.limiting + 5.1) < 0.4)
        let host = try #require(signals.current.first)
        #expect(abs(host.peak + 8) < 0.3 && abs(host.level + 11) < 0.3 && host.levelling == 0)
    }

    @Test("A host who is muted ducks nobody")
    func mutedKey() throws {
        let rehearsal = try rehearsal(to: 3000)
        apply(SoundScene(isLevelling: false, duckUnder: ["a"]), audible: ["b", "c"], to: rehearsal)
        rehearsal.run(to: 2800)
        #expect(abs(level(880, rehearsal, 1000, 2700) - 0.2) < 0.01)
    }

    @Test("A return feed is everybody but the host: its own tone is 40 dB down, the others are as in the program")
    func mixMinus() throws {
        let rehearsal = try rehearsal(to: 6000)
        let sound = SoundScene(gains: ["a": 6, "b": -3], isLevelling: false, returns: ["a", "c"])
        apply(sound, to: rehearsal)
        rehearsal.run(to: 3000)
        // A fader that moves takes nothing of the host into its own feed.
        apply(SoundScene(gains: ["a": -12], isLevelling: false, returns: ["a", "c"]), to: rehearsal)
        rehearsal.run(to: 5800)
        let own = rehearsal.returns.sound(of: "a", from: 1000, to: 5700)
        #expect(own.count == 4700 * 48)
        #expect(TestTone.level(of: 440, in: own) < 0.2 / 1000)
        let turnedDown = rehearsal.returns.sound(of: "a", from: 1000, to: 2900)
        #expect(abs(TestTone.level(of: 880, in: turnedDown) - 0.1416) < 0.01)
        #expect(abs(TestTone.level(of: 1320, in: own) - 0.2) < 0.01)
        let other = rehearsal.returns.sound(of: "c", from: 1000, to: 2900)
        #expect(TestTone.level(of: 1320, in: other) < 0.2 / 1000)
        #expect(abs(TestTone.level(of: 440, in: other) - 0.4) < 0.02)
        #expect(rehearsal.returns.heard["b"] == nil)
        let isWhole = rehearsal.returns.heard.values.allSatisfy(\.isContiguous)
        #expect(isWhole)
    }

    @Test("A return feed is limited for itself: a loud host does not turn down what it hears")
    func mixMinusLimit() throws {
        let rehearsal = try Rehearsal()
        for (host, tone, amplitude) in [("loud", 440.0, 0.9), ("soft", 880, 0.3)] {
            let clip = try HostClip.plain(nil, tone: tone, amplitude: amplitude)
            rehearsal.feed(host, clip.packets(from: 0, to: 4000)) { Double($0) + 30 }
        }
        apply(
            SoundScene(gains: ["loud": 6], isLevelling: false, returns: ["loud", "soft"]),
            audible: ["loud", "soft"],
            to: rehearsal
        )
        rehearsal.run(to: 3800)
        #expect(level(880, rehearsal, 1000, 3700) < 0.2)
        let soft = rehearsal.returns.sound(of: "loud", from: 1000, to: 3700)
        #expect(abs(TestTone.level(of: 880, in: soft) - 0.3) < 0.01)
        let heard = rehearsal.returns.sound(of: "soft", from: 1000, to: 3700)
        #expect((heard.map(abs).max() ?? 1) <= Limiter.ceiling)
    }

    @Test("A return feed that is wanted later begins then, and ends when it is not wanted any more")
    func returnsComeAndGo() throws {
        let rehearsal = try rehearsal(to: 4000)
        apply(SoundScene(isLevelling: false), to: rehearsal)
        rehearsal.run(to: 1000)
        #expect(rehearsal.returns.heard.isEmpty)
        apply(SoundScene(isLevelling: false, returns: ["a", "nobody"]), to: rehearsal)
        rehearsal.run(to: 2000)
        apply(SoundScene(isLevelling: false), to: rehearsal)
        rehearsal.run(to: 3000)
        let heard = try #require(rehearsal.returns.heard["a"])
        #expect(abs(heard.left.count - 48_000) <= 1920)
        #expect(abs(Int(heard.firstSample) - 48_000 - Int(ProgramTime.soundLead)) <= 1920)
        // Who is not there hears everybody.
        let everybody = rehearsal.returns.sound(of: "nobody", from: 1300, to: 1900)
        #expect(abs(TestTone.level(of: 440, in: everybody) - 0.2) < 0.02)
    }

    @Test("Backstage the hosts hear each other in their return feeds, and nothing of it is ever in the program")
    func talkback() throws {
        let rehearsal = try rehearsal(to: 8000)
        let sound = SoundScene(gains: ["b": -6], isLevelling: false, returns: ["a"])
        rehearsal.renderer.apply(Scene(talkback: ["a", "b"], sound: sound))
        rehearsal.run(to: 3000)
        rehearsal.renderer.apply(Scene(audible: ["a", "b"], sound: sound))
        rehearsal.run(to: 5000)
        rehearsal.renderer.apply(Scene(talkback: ["a", "b"], sound: sound))
        rehearsal.run(to: 7800)
        // Itself never, the other one all the time, without a gap or a click; the third one's microphone is off.
        let heard = rehearsal.returns.sound(of: "a", from: 1000, to: 7700)
        #expect(TestTone.level(of: 440, in: heard) < 0.2 / 1000)
        #expect(TestTone.level(of: 1320, in: heard) < 0.001)
        for start in stride(from: 0, to: 6700, by: 100) {
            let part = heard[heard.startIndex + start * 48..<heard.startIndex + (start + 100) * 48]
            #expect(abs(TestTone.amplitude(of: 880, in: part) - 0.1) < 0.01, "at \(1000 + start) ms")
        }
        #expect(TestTone.largestStep(in: heard) < TestTone.step(of: 880, amplitude: 0.1) * 1.1 + 0.0005)
        for tone in [440.0, 880] {
            #expect(level(tone, rehearsal, 0, 2990) < 0.001)
            #expect(abs(level(tone, rehearsal, 3600, 4900) - (tone == 440 ? 0.2 : 0.1)) < 0.01)
            #expect(level(tone, rehearsal, 5100, 7700) < 0.001)
        }
    }
}
