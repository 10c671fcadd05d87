import Foundation
import Media
import Stage
import Testing

@testable import Mixer

@Suite("What a host says while nobody is to hear it") struct MutedSoundTests {
    /// Ways in which a host is not heard.
    enum Switch: String, CaseIterable, Sendable {
        /// Its microphone is off, by its own wish or an operator's.
        case microphone
        /// Its fader is all the way down.
        case fader
        /// The stage is not shown.
        case backstage
        /// Nor is it, and the hosts hear each other.
        case talkback
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let way: Switch
        let target: Int
        /// Milliseconds.
        let length: Int

        var testDescription: String { "\(way.rawValue), target \(target) ms, off for \(length) ms" }
    }

    private static let cases = [
        Case(way: .microphone, target: 300, length: 500),
        Case(way: .microphone, target: 60, length: 500),
        Case(way: .microphone, target: 300, length: 100),
        Case(way: .fader, target: 300, length: 500),
        Case(way: .backstage, target: 300, length: 500),
        Case(way: .talkback, target: 300, length: 500),
    ]

    private static let begin = 1200
    private static let delay = 30

    private func scene(_ way: Switch, isOff: Bool) -> Scene {
        var scene = Scene(audible: ["a"], sound: SoundScene(isLevelling: false))
        guard isOff else { return scene }
        switch way {
        case .microphone: scene.audible = []
        case .fader: scene.sound.gains["a"] = -60
        case .backstage: (scene.audible, scene.slate) = ([], Slate(kind: .startingSoon))
        case .talkback: (scene.audible, scene.talkback, scene.sound.returns) = ([], ["a"], ["a", "b"])
        }
        return scene
    }

    /// The most of `frequency` that is in any 50 ms of `samples`.
    private func most(_ frequency: Double, in samples: ArraySlice<Float>) -> Double {
        let length = 2400
        let window = (0..<length).map { Float(1 - cos(2 * .pi * (Double($0) + 0.5) / Double(length))) }
        let starts = stride(from: samples.startIndex, through: samples.endIndex - length, by: length / 2)
        return starts.reduce(0) { most, start in
            let part = zip(samples[start..<start + length], window).map { $0 * $1 }
            return max(most, TestTone.amplitude(of: frequency, in: part[...]))
        }
    }

    @Test(
        "A tone that came while a host was off is never in the program; one that came before is, and one that comes after",
        arguments: cases
    )
    func tones(_ given: Case) throws {
        let end = Self.begin + given.length
        let clip = try HostClip.make(paint: nil) { sample in
            let time = sample / 48
            let tone = time < Self.begin ? 400.0 : time < end ? 4000 : 1200
            return Float(0.2 * TestTone.sine(of: tone, at: sample))
        }
        let rehearsal = try Rehearsal(jitterTarget: given.target)
        rehearsal.feed("a", clip.packets(from: 0, to: Int64(end + 1000))) { Double($0) + Double(Self.delay) }
        // What was said at a moment comes a little later, and at that moment the switch is moved.
        rehearsal.renderer.apply(scene(given.way, isOff: false))
        rehearsal.run(to: Double(Self.begin + Self.delay))
        rehearsal.renderer.apply(scene(given.way, isOff: true))
        rehearsal.run(to: Double(end + Self.delay))
        rehearsal.renderer.apply(scene(given.way, isOff: false))
        rehearsal.run(to: Double(end + 950))
        let program = rehearsal.output.sound(from: 700, to: end + 900)
        #expect(most(4000, in: program) < 0.001)
        #expect(abs(TestTone.level(of: 400, in: rehearsal.output.sound(from: 700, to: Self.begin)) - 0.2) < 0.01)
        // All of what comes after is heard but for what is needed to tell it apart, a tenth of a second.
        let heard = end + Self.delay + given.target + 150
        #expect(TestTone.amplitude(of: 1200, in: rehearsal.output.sound(from: heard, to: heard + 50)) > 0.19)
        #expect(abs(TestTone.level(of: 1200, in: rehearsal.output.sound(from: heard, to: heard + 400)) - 0.2) < 0.01)
        // Neither switch is heard as a click.
        #expect(most(9000, in: program) < 0.0003)
        let steps = max(TestTone.step(of: 400, amplitude: 0.2), TestTone.step(of: 1200, amplitude: 0.2))
        let ramp = Float(1.5 * 0.2) / Float(ProgramTime.quantum)
        #expect(TestTone.largestStep(in: rehearsal.output.sound(from: 700, to: end + 900)) < steps * 1.05 + ramp)
    }

    @Test("A host that has never been off is heard from its first sound on")
    func neverOff() {
        var sound = UnheardSound()
        sound.arrived(0, at: 40)
        #expect(sound.permission(at: 50, isHeard: true) == .after(nil))
    }

    @Test("What came up to the switch may not be heard, nor what was on its way then; what comes later may")
    func boundary() {
        var sound = UnheardSound()
        #expect(sound.permission(at: 90, isHeard: true) == .after(nil))
        #expect(sound.permission(at: 100, isHeard: false) == .nothing)
        for index in 0...45 { sound.arrived(Int64(index * 20), at: 110 + Double(index) * 20) }
        #expect(sound.permission(at: 900, isHeard: false) == .nothing)
        // Nothing is decided before all has come that arrived by then.
        #expect(sound.permission(at: 1000, isHeard: true) == .nothing)
        #expect(sound.permission(at: 1020, isHeard: true) == .nothing)
        sound.arrived(920, at: 1015)
        // 1010 is the arrival of 900; up to 1020 it may have been on its way.
        #expect(sound.permission(at: 1025, isHeard: true) == .after(920))
        sound.arrived(940, at: 1040)
        #expect(sound.permission(at: 1060, isHeard: true) == .after(920))
    }

    @Test("A host that is off for a moment loses what waited for its turn, too")
    func moment() {
        var sound = UnheardSound()
        _ = sound.permission(at: 90, isHeard: true)
        sound.arrived(60, at: 80)
        #expect(sound.permission(at: 100, isHeard: false) == .nothing)
        sound.arrived(80, at: 105)
        #expect(sound.permission(at: 110, isHeard: true) == .nothing)
        #expect(sound.permission(at: 140, isHeard: true) == .after(80))
    }

    @Test("A track tells what has come since from what came before, by its packets and not by its evened out times")
    func track() {
        var track = SoundTrack()
        let block = [Float](repeating: 0.5, count: 1024)
        for index in 0..<4 {
            let packet = Int64(index * 21)
            track.append(block, block, count: 1024, timestamp: Double(packet) + 0.9, packet: packet)
        }
        // The first block after 21 is the third; the decoder let the second run out into it.
        take(3 * 1024 - 1, from: &track)
        let early = track.isPast(21, pending: 0)
        take(1, from: &track)
        let (inTime, pending) = (track.isPast(21, pending: 0), track.isPast(21, pending: 1))
        #expect(!early && inTime && !pending)
        // What a skip blends in is not past before the blend is over.
        track.append(block, block, count: 1024, timestamp: 84.9, packet: 84)
        track.skipBlending(300)
        let blended = track.isPast(21, pending: 0)
        take(SoundTrack.fade, from: &track)
        let (clean, newest) = (track.isPast(21, pending: 0), track.isPast(84, pending: 0))
        #expect(!blended && clean && !newest)
    }

    private func take(_ count: Int, from track: inout SoundTrack) {
        let samples = StereoBuffer(capacity: count)
        _ = track.read(samples.left, samples.right, count: count)
    }
}
