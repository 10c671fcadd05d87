import Codecs
import Testing

@testable import Mixer

@Suite("A host whose clock is not ours") struct DriftTests {
    @Test("Five minutes at 200 ppm: in place within 20 ms, no gap, no click", arguments: [200.0, -200.0])
    func drift(partsPerMillion: Double) throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        let clip = try HostClip.plain(nil, tone: 440)
        let end: Int64 = 300_000
        rehearsal.feed("a", clip.packets(from: 0, to: end)) { stamp in
            Double(stamp) / (1 + partsPerMillion / 1e6) + 30 + Double(stamp * 7919 % 25)
        }
        var worst = 0.0
        while rehearsal.now < Double(end) - 1000 {
            rehearsal.run(to: rehearsal.now + 500)
            guard rehearsal.now > 10_000, let offset = rehearsal.host("a").offset else { continue }
            let ideal = 330 - rehearsal.now * partsPerMillion / (1e6 + partsPerMillion)
            worst = max(worst, abs(offset - ideal))
        }
        #expect(worst < 20)
        let host = rehearsal.host("a")
        #expect(host.soundGaps == 0 && host.soundSkips == 0 && host.offsetSteps == 0)
        let heard = rehearsal.output.left[48_000...]
        #expect(TestTone.largestStep(in: heard) < TestTone.step(of: 440, amplitude: 0.3) * 1.4)
        #expect(abs(TestTone.level(of: 440, in: heard.suffix(48_000 / 4)) - 0.3) < 0.02)
    }
}
