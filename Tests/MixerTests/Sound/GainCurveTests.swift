import Testing

@testable import Mixer

@Suite("Gains that move") struct GainCurveTests {
    private func ones(_ value: Float = 1) -> StereoBuffer {
        let buffer = StereoBuffer(capacity: 960)
        buffer.left.update(repeating: value, count: 960)
        buffer.right.update(repeating: -value, count: 960)
        return buffer
    }

    @Test("A gain goes where it is to go within the samples it is given, and never by a leap")
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

    @Test("Any number of samples is filled to its end", arguments: [1, 7, 8, 9, 240, 955])
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

    @Test("What a curve added, its negative takes away")
    func negated() {
        let sum = StereoBuffer(capacity: 960)
        let curve = GainCurve(from: 0.3, to: 0.9)
        curve.add(ones(0.7), to: sum, count: 960)
        curve.negated.add(ones(0.7), to: sum, count: 960)
        let isGone = (0..<960).allSatisfy { sum.left[$0] == 0 && sum.right[$0] == 0 }
        #expect(isGone)
    }

    @Test(
        "Switching spreads nothing over the spectrum: far below what a hard switch does, the more so the higher",
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
        // Between two of the zeros that the length of the pulse puts into its spectrum.
        let place = frequency + 7.5
        let hard = TestTone.amplitude(of: place, in: pulse(smooth: false)[...])
        let smooth = TestTone.amplitude(of: place, in: pulse(smooth: true)[...])
        #expect(smooth < hard / ratio, "\(smooth) to \(hard)")
    }
}
