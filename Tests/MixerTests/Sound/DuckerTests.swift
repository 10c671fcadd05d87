import Testing

@testable import Mixer

@Suite("Stepping back for a speaker") struct DuckerTests {
    @Test("Down with the first quantum of speech, up again evenly over 400 ms")
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

    @Test("Speech begins at -40 dBFS and lasts down to -46, so that a level in between does not flutter")
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
