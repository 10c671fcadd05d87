import Codecs
import Foundation
import TestSupport
import Testing

@Suite("Stretching audio", .enabled(if: TestRun.isFull))
struct AudioStretcherTests {
    /// Stretches a 997 Hz tone in blocks of 960; `ratio` is asked before each block.
    private func stretch(blocks: Int, ratio: (Int) -> Double) throws -> [Float] {
        var stretcher = try AudioStretcher()
        var output: [Float] = []
        for block in 0..<blocks {
            stretcher.setRatio(ratio(block))
            let samples = AudioBlock(frameCount: 960, timestamp: Double(block) * 20) { left, right in
                for index in 0..<960 {
                    left[index] = Tone.sample(block * 960 + index, frequency: 997)
                    right[index] = -left[index]
                }
            }
            try stretcher.process(samples) { left, right in
                #expect(zip(left, right).allSatisfy { abs($0 + $1) < 1e-6 })
                output += left
            }
        }
        return output
    }

    @Test("as many samples come out as the ratio says, to a few parts per million")
    func lengths() throws {
        for ratio in [1.0, 1.0002, 0.9998, 1.005, 0.96, 1.04] {
            let output = try stretch(blocks: 500) { _ in ratio }
            // The filter keeps its half length at the end.
            #expect(abs(Double(output.count) - 480_000 * ratio) < 40, "\(ratio): \(output.count)")
        }
    }

    @Test("the pitch changes by the ratio and the level stays")
    func pitch() throws {
        let output = try stretch(blocks: 100) { _ in 1.005 }
        #expect(abs(Tone.amplitude(of: 997 / 1.005, in: output[4800..<52_800]) - 0.5) < 0.01)
    }

    @Test("a ratio that moves all the time never clicks")
    func noClick() throws {
        let output = try stretch(blocks: 400) { block in 1 + 0.004 * sin(Double(block) / 7) }
        // The second difference of a tone is bounded by its amplitude and frequency; a click is far above.
        let bound = Float(0.5 * pow(2 * Double.pi * 997 * 1.01 / 48_000, 2)) * 1.05
        var worst: Float = 0
        for index in 100..<output.count - 1 {
            worst = max(worst, abs(output[index + 1] - 2 * output[index] + output[index - 1]))
        }
        #expect(worst < bound, "\(worst) against \(bound)")
    }

    @Test("at a ratio of 1 the very samples come out, later by what the delay says")
    func passing() throws {
        var stretcher = try AudioStretcher()
        let late = Int((stretcher.delay * 48).rounded())
        var output: [Float] = []
        for block in 0..<50 {
            let samples = (0..<240).map { Tone.sample(block * 240 + $0, frequency: 997) }
            try stretcher.process(left: samples, right: samples, count: 240) { left, _ in output += left }
        }
        #expect(output.count == 12_000)
        #expect(output.prefix(late).allSatisfy { $0 == 0 })
        #expect((late..<12_000).allSatisfy { output[$0] == Tone.sample($0 - late, frequency: 997) })
    }

    @Test(
        "coming from a ratio of 1 and going back to it, nothing clicks and nothing is lost",
        arguments: [1.0005, 0.9995, 1.003, 0.98],
        [240, 960, 37]
    )
    func blending(ratio: Double, size: Int) throws {
        var stretcher = try AudioStretcher()
        var output: [Float] = []
        var given = 0
        // Every sample that went in comes out, as long as the ratio said; each change of mode may round by half a
        // sample.
        var expected = 0.0
        for block in 0..<(96_000 / size) {
            let isStretched = given / 9600 % 2 == 1
            stretcher.setRatio(isStretched ? ratio : 1)
            let samples = (0..<size).map { Tone.sample(given + $0, frequency: 997) }
            try stretcher.process(left: samples, right: samples, count: size) { left, _ in output += left }
            given += size
            expected += Double(size) * (isStretched ? ratio : 1)
            #expect(abs(Double(output.count) - expected) < 5, "block \(block)")
        }
        let bound = Float(0.5 * pow(2 * Double.pi * 997 * 1.02 / 48_000, 2)) * 1.1
        var worst: Float = 0
        for index in 100..<output.count - 1 {
            worst = max(worst, abs(output[index + 1] - 2 * output[index] + output[index - 1]))
        }
        #expect(worst < bound, "\(worst) against \(bound)")
    }

    @Test("a ratio out of range is cut to it, and nonsense is ignored")
    func limits() throws {
        var stretcher = try AudioStretcher()
        stretcher.setRatio(3)
        #expect(stretcher.ratio == 1.04)
        stretcher.setRatio(.nan)
        #expect(stretcher.ratio == 1.04)
        stretcher.setRatio(0)
        #expect(stretcher.ratio == 0.96)
    }
}
