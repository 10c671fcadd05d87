import Foundation
import TestSupport
import Testing

@testable import Mixer

@Suite("Limiter", .enabled(if: TestRun.isFull)) struct LimiterTests {
    private func run(_ input: [Float]) -> [Float] {
        var limiter = Limiter()
        let quantum = ProgramTime.quantum
        let buffer = StereoBuffer(capacity: quantum)
        var output: [Float] = []
        for start in stride(from: 0, to: input.count, by: quantum) {
            let count = min(quantum, input.count - start)
            for index in 0..<count {
                buffer.left[index] = input[start + index]
                buffer.right[index] = -input[start + index]
            }
            limiter.process(buffer.left, buffer.right, count: count)
            for index in 0..<count {
                output.append(buffer.left[index])
                let (left, right) = (buffer.left[index], buffer.right[index])
                if left != -right { Issue.record("the channels differ") }
            }
        }
        return output
    }

    @Test("no sample exceeds the ceiling, however loud and sudden the input", arguments: [1, 2, 3, 4, 5, 6])
    func ceiling(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var input: [Float] = []
        while input.count < 96_000 {
            // Sections of silence, noise, and single spikes of up to sixteen times full scale.
            let length = Int(generator.next() % 900) + 1
            let level = Float(generator.next() % 1600) / 100
            let kind = generator.next() % 3
            for index in 0..<length {
                switch kind {
                case 0: input.append(0)
                case 1: input.append(level * Float.random(in: -1...1, using: &generator))
                default: input.append(index == 0 ? level : 0.1)
                }
            }
        }
        let output = run(input)
        #expect(output.allSatisfy { abs($0) <= Limiter.ceiling })
    }

    @Test("quiet audio passes bit-identical, 240 samples later")
    func transparent() {
        let input = (0..<9600).map { Float(0.8 * TestTone.sine(of: 441, at: $0)) }
        let output = run(input)
        #expect(Array(output.dropFirst(240)) == Array(input.prefix(9600 - 240)))
        #expect(output.prefix(240).allSatisfy { $0 == 0 })
    }

    @Test("half a second after a peak the level is restored")
    func release() {
        let input = (0..<48_000).map { (index: Int) -> Float in
            let level = index < 4800 ? 3.0 : 0.5
            return Float(level * TestTone.sine(of: 1000, at: index))
        }
        let output = run(input)
        let end = TestTone.amplitude(of: 1000, in: output[38_400..<43_200])
        #expect(abs(end - 0.5) < 0.005)
        let loud = TestTone.amplitude(of: 1000, in: output[1440..<3840])
        #expect(loud > 0.75 && loud < 0.9)
    }

    @Test("a loud steady tone is attenuated and not clipped: its third harmonic stays 40 dB below")
    func clean() {
        let input = (0..<48_000).map { Float(2 * TestTone.sine(of: 1000, at: $0)) }
        let output = run(input)
        let fundamental = TestTone.amplitude(of: 1000, in: output[24_000..<48_000])
        let third = TestTone.amplitude(of: 3000, in: output[24_000..<48_000])
        #expect(third < fundamental / 100)
    }

    @Test("NaN becomes silence and does not persist")
    func invalidSamples() {
        var input = (0..<4800).map { Float(0.5 * TestTone.sine(of: 1000, at: $0)) }
        let clean = run(input)
        input[1000] = .nan
        input[1500] = .infinity
        input[1501] = -.infinity
        let output = run(input)
        #expect(output.allSatisfy { $0.isFinite })
        #expect(output[1240] == 0)
        #expect(Array(output[2000...]) == Array(clean[2000...]))
    }

    /// Signals whose true peak is higher than their sample peak.
    enum Rise: CaseIterable {
        case quarterRate, high, between, square, noise, beats

        func samples(_ count: Int) -> [Float] {
            var generator = SeededGenerator(seed: 7)
            // Noise of up to 16 kHz, as a decoder emits it: averaging neighbours removes the highest frequencies.
            var recent: [Float] = [0, 0, 0]
            return (0..<count).map { index in
                let time = Double(index) / 48_000
                switch self {
                case .quarterRate: return Float(1.4 * sin(2 * .pi * 12_000 * time + .pi / 4))
                case .high: return Float(1.3 * sin(2 * .pi * 15_000 * time + 0.3))
                case .between: return Float(1.1 * sin(2 * .pi * 7_990 * time + 1))
                case .square: return index / 37 % 2 == 0 ? 0.95 : -0.95
                case .noise:
                    recent = [recent[1], recent[2], Float.random(in: -1...1, using: &generator)]
                    return recent[0] / 2 + recent[1] + recent[2] / 2
                case .beats: return Float(0.7 * sin(2 * .pi * 11_900 * time) + 0.7 * sin(2 * .pi * 12_100 * time))
                }
            }
        }
    }

    @Test("the true peak stays at -1 dBTP as measured by ffmpeg", arguments: Rise.allCases)
    func truePeak(rise: Rise) throws {
        let input = rise.samples(96_000)
        let before = try LoudnessReference(left: input, right: input.map { -$0 }).truePeak
        let output = run(input)
        let after = try LoudnessReference(left: output, right: output.map { -$0 }).truePeak
        #expect(before > -0.9)
        // ffmpeg prints tenths.
        #expect(after <= -0.95, "\(rise): from \(before) to \(after) dBTP")
        // A limiter and not a fader: the result is not far below.
        #expect(after > -2.5, "\(rise): from \(before) to \(after) dBTP")
    }

    @Test("a signal is limited whose sample peak is under the ceiling and whose true peak is not")
    func betweenSamples() {
        // All samples of the tone are 0.71 of its amplitude of 1.2.
        let input = (0..<9600).map { Float(1.2 * sin(.pi / 2 * Double($0) + .pi / 4)) }
        #expect((input.map(abs).max() ?? 0) < Limiter.ceiling)
        let output = run(input)
        let amplitude = TestTone.amplitude(of: 12_000, in: output[4800..<9600])
        #expect(amplitude < 0.893 && amplitude > 0.86)
    }
}
