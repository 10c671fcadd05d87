import Testing

@testable import Mixer

@Suite("The limiter") struct LimiterTests {
    private func run(_ input: [Float]) -> [Float] {
        var limiter = Limiter()
        let buffer = StereoBuffer(capacity: 960)
        var output: [Float] = []
        for start in stride(from: 0, to: input.count - 959, by: 960) {
            for index in 0..<960 {
                buffer.left[index] = input[start + index]
                buffer.right[index] = -input[start + index]
            }
            limiter.process(buffer.left, buffer.right, count: 960)
            for index in 0..<960 {
                output.append(buffer.left[index])
                let (left, right) = (buffer.left[index], buffer.right[index])
                if left != -right { Issue.record("the channels part") }
            }
        }
        return output
    }

    @Test("Nothing ever passes the ceiling, however loud and however sudden", arguments: [1, 2, 3, 4, 5, 6])
    func ceiling(seed: UInt64) {
        var generator = SplitMix(seed: seed)
        var input: [Float] = []
        while input.count < 96_000 {
            // Stretches of silence, noise, and single spikes of up to sixteen times full scale.
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

    @Test("What is not loud passes unchanged, 240 samples later, bit for bit")
    func transparent() {
        let input = (0..<9600).map { Float(0.8 * TestTone.sine(of: 441, at: $0)) }
        let output = run(input)
        #expect(Array(output.dropFirst(240)) == Array(input.prefix(9600 - 240)))
        #expect(output.prefix(240).allSatisfy { $0 == 0 })
    }

    @Test("It lets go again: half a second after a peak the level is what it was")
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

    @Test("A loud steady tone is turned down and not cut: its third harmonic stays 40 dB under")
    func clean() {
        let input = (0..<48_000).map { Float(2 * TestTone.sine(of: 1000, at: $0)) }
        let output = run(input)
        let fundamental = TestTone.amplitude(of: 1000, in: output[24_000..<48_000])
        let third = TestTone.amplitude(of: 3000, in: output[24_000..<48_000])
        #expect(third < fundamental / 100)
    }

    @Test("What is not a number becomes silence and does not stay")
    func nonsense() {
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
}
