import Testing

@testable import Mixer

@Suite("How fast a host's clock is") struct DriftEstimateTests {
    @Test("Two minutes of jittering delays tell it within 10 ppm", arguments: [-200.0, -20, 0, 50, 200, 1000])
    func slope(partsPerMillion: Double) throws {
        var estimate = DriftEstimate()
        var generator = SplitMix(seed: 3)
        for second in 0..<120 {
            let time = Double(second) * 1000
            // The least delay of a window: near the truth, never below it.
            let jitter = Double(generator.next() % 100) / 100
            estimate.note(40 + jitter - time * partsPerMillion / 1e6, at: time)
            if second < 25 { #expect(estimate.partsPerMillion == nil) }
        }
        #expect(abs(try #require(estimate.partsPerMillion) - partsPerMillion) < 10)
    }

    @Test("A new way through the network begins a new line, and does not pass for drift")
    func newWay() throws {
        var estimate = DriftEstimate()
        for second in 0..<100 { estimate.note(40 - Double(second) * 0.1, at: Double(second) * 1000) }
        for second in 100..<120 { estimate.note(140 - Double(second) * 0.1, at: Double(second) * 1000) }
        #expect(estimate.partsPerMillion == nil)
        for second in 120..<160 { estimate.note(140 - Double(second) * 0.1, at: Double(second) * 1000) }
        #expect(abs(try #require(estimate.partsPerMillion) - 100) < 1)
    }
}
