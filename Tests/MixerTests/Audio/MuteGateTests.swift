import Foundation
import Media
import Stage
import TestSupport
import Testing

@testable import Mixer

@Suite("Audio of a muted host", .enabled(if: TestRun.isFull)) struct MuteGateTests {
    /// The ways to mute a host.
    enum Switch: String, CaseIterable, Sendable {
        /// The microphone is off.
        case microphone
        /// The fader is at its minimum.
        case fader
        /// The stage is backstage.
        case backstage
        /// The stage is backstage, and the hosts hear each other.
        case talkback
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let method: Switch
        let target: Int
        /// Milliseconds.
        let length: Int

        var testDescription: String { "\(method.rawValue), target \(target) ms, off for \(length) ms" }
    }

    private static let cases = [
        Case(method: .microphone, target: 300, length: 500),
        Case(method: .microphone, target: 60, length: 500),
        Case(method: .microphone, target: 300, length: 100),
        Case(method: .fader, target: 300, length: 500),
        Case(method: .backstage, target: 300, length: 500),
        Case(method: .talkback, target: 300, length: 500),
    ]

    private static let begin = 1200
    private static let delay = 30

    private func scene(_ method: Switch, isOff: Bool) -> Scene {
        var scene = Scene(audible: ["a"], audio: AudioScene(isLevelling: false))
        guard isOff else { return scene }
        switch method {
        case .microphone: scene.audible = []
        case .fader: scene.audio.gains["a"] = -60
        case .backstage: (scene.audible, scene.slate) = ([], Slate(kind: .startingSoon))
        case .talkback: (scene.audible, scene.talkback, scene.audio.returns) = ([], ["a"], ["a", "b"])
        }
        return scene
    }

    /// Returns the largest amplitude of `frequency` in any 50 ms of `samples`.
    private func peakAmplitude(_ frequency: Double, in samples: ArraySlice<Float>) -> Double {
        let length = 2400
        let window = (0..<length).map { Float(1 - cos(2 * .pi * (Double($0) + 0.5) / Double(length))) }
        let starts = stride(from: samples.startIndex, through: samples.endIndex - length, by: length / 2)
        return starts.reduce(0) { peakAmplitude, start in
            let part = zip(samples[start..<start + length], window).map { $0 * $1 }
            return max(peakAmplitude, TestTone.amplitude(of: frequency, in: part[...]))
        }
    }

    @Test(
        "a tone that arrived while a host was muted is never in the program, earlier and later tones are",
        arguments: cases
    )
    func tones(_ given: Case) throws {
        let end = Self.begin + given.length
        let clip = try HostClip.make(paint: nil) { sample in
            let time = sample / 48
            let tone = time < Self.begin ? 400.0 : time < end ? 4000 : 1200
            return Float(0.2 * TestTone.sine(of: tone, at: sample))
        }
        let testProgram = try TestProgram(jitterTarget: given.target)
        testProgram.feed("a", clip.packets(from: 0, to: Int64(end + 1000))) { Double($0) + Double(Self.delay) }
        // What was said at a moment arrives a little later, and at that moment the switch is moved.
        testProgram.renderer.apply(scene(given.method, isOff: false))
        testProgram.run(to: Double(Self.begin + Self.delay))
        testProgram.renderer.apply(scene(given.method, isOff: true))
        testProgram.run(to: Double(end + Self.delay))
        testProgram.renderer.apply(scene(given.method, isOff: false))
        testProgram.run(to: Double(end + 950))
        let program = testProgram.output.audio(from: 700, to: end + 900)
        #expect(peakAmplitude(4000, in: program) < 0.001)
        #expect(abs(TestTone.level(of: 400, in: testProgram.output.audio(from: 700, to: Self.begin)) - 0.2) < 0.01)
        // Everything after is audible except for a tenth of a second that is needed to separate it.
        let audibleFrom = end + Self.delay + given.target + 150
        let beginning = testProgram.output.audio(from: audibleFrom, to: audibleFrom + 50)
        #expect(TestTone.amplitude(of: 1200, in: beginning) > 0.19)
        let later = testProgram.output.audio(from: audibleFrom, to: audibleFrom + 400)
        #expect(abs(TestTone.level(of: 1200, in: later) - 0.2) < 0.01)
        // Neither switch is audible as a click.
        #expect(peakAmplitude(9000, in: program) < 0.0003)
        let steps = max(TestTone.step(of: 400, amplitude: 0.2), TestTone.step(of: 1200, amplitude: 0.2))
        let ramp = Float(1.5 * 0.2) / Float(ProgramTime.quantum)
        #expect(TestTone.largestStep(in: testProgram.output.audio(from: 700, to: end + 900)) < steps * 1.05 + ramp)
    }

    @Test("a host that was never muted is heard from its first packet on")
    func neverOff() {
        var gate = MuteGate()
        gate.observe(0, at: 40)
        #expect(gate.permission(at: 50, isAudible: true) == .after(nil))
    }

    @Test("packets up to unmuting, and those in transit then, may not be heard, and later ones may")
    func boundary() {
        var gate = MuteGate()
        #expect(gate.permission(at: 90, isAudible: true) == .after(nil))
        #expect(gate.permission(at: 100, isAudible: false) == .nothing)
        for index in 0...45 { gate.observe(Int64(index * 20), at: 110 + Double(index) * 20) }
        #expect(gate.permission(at: 900, isAudible: false) == .nothing)
        // Nothing is decided before all packets that arrived by then are delivered.
        #expect(gate.permission(at: 1000, isAudible: true) == .nothing)
        #expect(gate.permission(at: 1020, isAudible: true) == .nothing)
        gate.observe(920, at: 1015)
        // 1010 is the arrival of 900; up to 1020 packets may have been in transit.
        #expect(gate.permission(at: 1025, isAudible: true) == .after(920))
        gate.observe(940, at: 1040)
        #expect(gate.permission(at: 1060, isAudible: true) == .after(920))
    }

    @Test("a host that is muted for a moment loses what was buffered, too")
    func moment() {
        var gate = MuteGate()
        _ = gate.permission(at: 90, isAudible: true)
        gate.observe(60, at: 80)
        #expect(gate.permission(at: 100, isAudible: false) == .nothing)
        gate.observe(80, at: 105)
        #expect(gate.permission(at: 110, isAudible: true) == .nothing)
        #expect(gate.permission(at: 140, isAudible: true) == .after(80))
    }

    @Test("a buffer separates earlier from later audio by packets and not by smoothed timestamps")
    func track() {
        var track = HostAudioBuffer()
        let block = [Float](repeating: 0.5, count: 1024)
        for index in 0..<4 {
            let packet = Int64(index * 21)
            track.append(block, block, count: 1024, timestamp: Double(packet) + 0.9, packet: packet)
        }
        // The first block after 21 is the third; the decoder overlapped the second with it.
        discard(3 * 1024 - 1, from: &track)
        let early = track.hasPlayed(21, pending: 0)
        discard(1, from: &track)
        let (inTime, pending) = (track.hasPlayed(21, pending: 0), track.hasPlayed(21, pending: 1))
        #expect(!early && inTime && !pending)
        // Cross-faded audio is not past before the cross-fade is over.
        track.append(block, block, count: 1024, timestamp: 84.9, packet: 84)
        track.skipBlending(300)
        let blended = track.hasPlayed(21, pending: 0)
        discard(HostAudioBuffer.fade, from: &track)
        let (clean, newest) = (track.hasPlayed(21, pending: 0), track.hasPlayed(84, pending: 0))
        #expect(!blended && clean && !newest)
    }

    private func discard(_ count: Int, from track: inout HostAudioBuffer) {
        let samples = StereoBuffer(capacity: count)
        _ = track.read(samples.left, samples.right, count: count)
    }
}
