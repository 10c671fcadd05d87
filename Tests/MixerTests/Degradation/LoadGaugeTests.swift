import Stage
import Testing

@testable import Mixer

@Suite("What a program's pictures take")
struct LoadGaugeTests {
    @Test("a picture takes as long as the slower one of composing and coding")
    func slower() {
        let gauge = LoadGauge(budget: 1 / 30)
        for (composing, coding) in [(0.004, 0.012), (0.03, 0.001), (0.03, 0.3)] {
            gauge.composed(in: composing)
            gauge.coded(in: coding)
        }
        // Up to 15 ms, up to 33 ms, and up to a second.
        #expect(gauge.frames.counts == [0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0])
        #expect(abs(gauge.frames.seconds - 0.342) < 1e-9)
    }
}
