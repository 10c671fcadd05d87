import Media
import Stage
import Testing

@testable import Mixer

@Suite("Degradation policy")
struct DegradationPolicyTests {
    private static let budget = 1.0 / 30

    /// Records thirty frames a second, evaluates twice a second, and returns the steps with their seconds.
    private func run(
        _ policy: inout DegradationPolicy,
        from begin: Double,
        seconds: Double,
        ratio: (Int) -> Double
    ) -> [(second: Double, step: Degradation)] {
        var changes: [(Double, Degradation)] = []
        for frame in 0..<Int(seconds * 30) {
            let second = begin + Double(frame) / 30
            let now = MonotonicTime(nanoseconds: 0).advanced(seconds: second)
            policy.recordFrame(work: ratio(frame) * Self.budget, budget: Self.budget, now: now)
            if frame % 15 == 14, let step = policy.evaluate(now: now) { changes.append((second, step)) }
        }
        return changes
    }

    @Test("three seconds of overload are one step up, and so on to the last")
    func up() {
        var policy = DegradationPolicy()
        let changes = run(&policy, from: 0, seconds: 40) { _ in 0.95 }
        #expect(changes.map(\.step) == Array(Degradation.allCases.dropFirst()))
        #expect((3...4).contains(changes.first?.second ?? 0))
        for (one, next) in zip(changes, changes.dropFirst()) { #expect((3...4).contains(next.second - one.second)) }
        #expect(policy.reason == .work)
        #expect(abs(policy.ratio - 0.95) < 0.01)
    }

    @Test("a few slow frames among many change nothing, one in ten does")
    func percentile() {
        var policy = DegradationPolicy()
        #expect(run(&policy, from: 0, seconds: 20) { $0 % 30 == 0 ? 3 : 0.5 }.isEmpty)
        #expect(run(&policy, from: 20, seconds: 5) { $0 % 10 == 0 ? 3 : 0.5 }.map(\.step) == [.lighterCoding])
    }

    @Test("a burst that ends in time changes nothing")
    func burst() {
        var policy = DegradationPolicy()
        // The window still holds the burst's frames for three seconds after its end.
        #expect(run(&policy, from: 0, seconds: 20) { $0 < 3 ? 2 : 0.7 }.isEmpty)
    }

    @Test("between the bounds nothing changes, and a light scene returns to full quality within seconds")
    func down() {
        var policy = DegradationPolicy()
        _ = run(&policy, from: 0, seconds: 7.5) { _ in 0.95 }
        let degraded = policy.step
        #expect(degraded == .lightestCoding)
        #expect(run(&policy, from: 7.5, seconds: 120) { _ in 0.7 }.isEmpty)
        let changes = run(&policy, from: 128, seconds: 100) { _ in 0.3 }
        #expect(changes.map(\.step) == [.none])
        #expect((1...4).contains((changes.first?.second ?? 0) - 128))
        #expect(policy.reason == nil)
    }

    @Test("frames skipped before the encoder count as overload")
    func queue() {
        var policy = DegradationPolicy()
        var changes: [Degradation] = []
        for tick in 0..<9 {
            let now = MonotonicTime(nanoseconds: 0).advanced(seconds: Double(tick) / 2)
            policy.frameSkipped()
            if let step = policy.evaluate(now: now) { changes.append(step) }
        }
        #expect(changes == [.lighterCoding])
        #expect(policy.reason == .queue)
    }

    @Test("the worst allowed step is not exceeded")
    func worst() {
        var policy = DegradationPolicy(worst: .fewerFrames)
        #expect(run(&policy, from: 0, seconds: 60) { _ in 2 }.last?.step == .fewerFrames)
    }

    @Test("levels are 0 to 6, with one level for both encoder steps")
    func levels() {
        #expect(Degradation.allCases.map(\.level) == [0, 1, 1, 2, 3, 4, 5, 6])
    }
}

@Suite("Load monitor")
struct LoadMonitorTests {
    @Test("the frame time is that of the slower stage, composing or encoding")
    func slower() {
        let loadMonitor = LoadMonitor(budget: 1 / 30)
        for (composing, coding) in [(0.004, 0.012), (0.03, 0.001), (0.03, 0.3)] {
            loadMonitor.composed(in: composing)
            loadMonitor.coded(in: coding)
        }
        // Up to 15 ms, up to 33 ms, and up to a second.
        #expect(loadMonitor.frames.counts == [0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0])
        #expect(abs(loadMonitor.frames.seconds - 0.342) < 1e-9)
    }
}
