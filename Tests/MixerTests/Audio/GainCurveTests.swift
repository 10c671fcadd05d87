import Testing

@testable import Mixer

@Suite("Gain curve") struct GainCurveTests {
    private func ones(_ value: Float = 1) -> StereoBuffer {
        let buffer = StereoBuffer(capacity: 960)
        buffer.left.update(repeating: value, count: 960)
        buffer.right.update(repeating: -value, count: 960)
        return buffer
    }

    @Test("a gain reaches its target within its samples, without a jump")
    func shape() {
        let sum = StereoBuffer(capacity: 960)
        GainCurve(from: 0.25, to: 1).add(ones(), to: sum, count: 960)
        #expect(abs(sum.left[0] - 0.25) < 0.001)
        #expect(abs(sum.left[479] - 0.625) < 0.002)
        #expect(abs(sum.left[959] - 1) < 1e-6)
        let isEven = (1..<960).allSatisfy { index in
            let step = sum.left[index] - sum.left[index - 1]
            return step >= 0 && step < 0.75 * 1.51 / 960
        }
        #expect(isEven)
        let isMirrored = (0..<960).allSatisfy { sum.right[$0] == -sum.left[$0] }
        #expect(isMirrored)
    }

    @Test("any number of samples is filled to its end", arguments: [1, 7, 8, 9, 240, 955])
    func lengths(count: Int) {
        let sum = StereoBuffer(capacity: 960)
        GainCurve(from: 1, to: 0.5).add(ones(), to: sum, count: count)
        #expect(abs(sum.left[count - 1] - 0.5) < 1e-6)
        #expect(sum.left[count] == 0)
        sum.clear(960)
        GainCurve(from: 0.5, to: 0.5).add(ones(), to: sum, count: count)
        let isFlat = (0..<count).allSatisfy { sum.left[$0] == 0.5 }
        #expect(isFlat)
    }

    @Test("the negated curve removes what the curve added")
    func negated() {
        let sum = StereoBuffer(capacity: 960)
        let curve = GainCurve(from: 0.3, to: 0.9)
        curve.add(ones(0.7), to: sum, count: 960)
        curve.negated.add(ones(0.7), to: sum, count: 960)
        let isGone = (0..<960).allSatisfy { sum.left[$0] == 0 && sum.right[$0] == 0 }
        #expect(isGone)
    }

    @Test(
        "switching with a curve causes far less spectral splatter than a hard switch, the less the higher",
        arguments: [(1000.0, 500.0), (3000.0, 4000.0), (8000.0, 20_000.0)]
    )
    func spectrum(frequency: Double, ratio: Double) {
        func pulse(smooth: Bool) -> [Float] {
            var samples = [Float](repeating: 0, count: 9600)
            let sum = StereoBuffer(capacity: 960)
            for quantum in 2..<6 {
                sum.clear(960)
                let from: Float = quantum == 2 ? 0 : 1
                let to: Float = quantum == 5 ? 0 : 1
                let curve = smooth ? GainCurve(from: from, to: to) : GainCurve(from: 1, to: 1)
                curve.add(ones(), to: sum, count: 960)
                for index in 0..<960 { samples[quantum * 960 + index] = sum.left[index] }
            }
            return samples
        }
        // Between two zeros of the pulse's spectrum.
        let probeFrequency = frequency + 7.5
        let hard = TestTone.amplitude(of: probeFrequency, in: pulse(smooth: false)[...])
        let smooth = TestTone.amplitude(of: probeFrequency, in: pulse(smooth: true)[...])
        #expect(smooth < hard / ratio, "\(smooth) to \(hard)")
    }
}

@Suite("Ducker") struct DuckerTests {
    @Test("the depth is full with the first quantum of speech and released linearly over 400 ms")
    func envelope() {
        var ducker = Ducker()
        ducker.advance(level: -127)
        #expect(ducker.depth == 0)
        ducker.advance(level: -30)
        #expect(ducker.depth == 1)
        var depths: [Double] = []
        let step = Double(ProgramTime.quantum) / 48 / 400
        for _ in 0..<40 {
            ducker.advance(level: -70)
            depths.append(ducker.depth)
        }
        for (index, depth) in depths.enumerated() {
            #expect(abs(depth - max(1 - Double(index + 1) * step, 0)) < 1e-9)
        }
        #expect(depths.last == 0)
    }

    @Test("speech begins at -40 dBFS and lasts down to -46, so that a level in between does not flutter")
    func hysteresis() {
        var ducker = Ducker()
        ducker.advance(level: -43)
        #expect(ducker.depth == 0)
        ducker.advance(level: -39)
        ducker.advance(level: -43)
        ducker.advance(level: -45)
        #expect(ducker.depth == 1)
        ducker.advance(level: -47)
        #expect(ducker.depth < 1)
        ducker.advance(level: -43)
        #expect(ducker.depth < 0.95)
    }
}
