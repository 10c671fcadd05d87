import Media
import Testing

@testable import Mixer

@Suite("When a program leaves something out")
struct DegradationLadderTests {
    private static let budget = 1.0 / 30

    /// Thirty pictures a second of one kind, looked at twice a second; the steps taken, with the second of each.
    private func run(
        _ ladder: inout DegradationLadder,
        from begin: Double,
        seconds: Double,
        ratio: (Int) -> Double
    ) -> [(second: Double, step: Degradation)] {
        var taken: [(Double, Degradation)] = []
        for picture in 0..<Int(seconds * 30) {
            let second = begin + Double(picture) / 30
            let now = MonotonicTime(nanoseconds: 0).advanced(seconds: second)
            ladder.picture(work: ratio(picture) * Self.budget, budget: Self.budget, now: now)
            if picture % 15 == 14, let step = ladder.look(now: now) { taken.append((second, step)) }
        }
        return taken
    }

    @Test("three seconds of too much work are one step up, and so on to the last")
    func up() {
        var ladder = DegradationLadder()
        let taken = run(&ladder, from: 0, seconds: 40) { _ in 0.95 }
        #expect(taken.map(\.step) == Array(Degradation.allCases.dropFirst()))
        #expect((3...4).contains(taken.first?.second ?? 0))
        for (one, next) in zip(taken, taken.dropFirst()) { #expect((3...4).contains(next.second - one.second)) }
        #expect(ladder.reason == .work)
        #expect(abs(ladder.ratio - 0.95) < 0.01)
    }

    @Test("a few slow pictures among many are no reason, one in ten is")
    func percentile() {
        var ladder = DegradationLadder()
        #expect(run(&ladder, from: 0, seconds: 20) { $0 % 30 == 0 ? 3 : 0.5 }.isEmpty)
        #expect(run(&ladder, from: 20, seconds: 5) { $0 % 10 == 0 ? 3 : 0.5 }.map(\.step) == [.lighterCoding])
    }

    @Test("a burst that ends in time is no reason")
    func burst() {
        var ladder = DegradationLadder()
        // The window still holds the burst's pictures for three seconds after its end.
        #expect(run(&ladder, from: 0, seconds: 20) { $0 < 3 ? 2 : 0.7 }.isEmpty)
    }

    @Test("between the bounds nothing changes; a scene that becomes lighter has all at once within seconds")
    func down() {
        var ladder = DegradationLadder()
        _ = run(&ladder, from: 0, seconds: 7.5) { _ in 0.95 }
        let degraded = ladder.step
        #expect(degraded == .lightestCoding)
        #expect(run(&ladder, from: 7.5, seconds: 120) { _ in 0.7 }.isEmpty)
        let taken = run(&ladder, from: 128, seconds: 100) { _ in 0.3 }
        #expect(taken.map(\.step) == [.none])
        #expect((1...4).contains((taken.first?.second ?? 0) - 128))
        #expect(ladder.reason == nil)
    }

    @Test("pictures that find no room on their way to the coder count as too much work")
    func queue() {
        var ladder = DegradationLadder()
        var taken: [Degradation] = []
        for look in 0..<9 {
            let now = MonotonicTime(nanoseconds: 0).advanced(seconds: Double(look) / 2)
            ladder.pictureSkipped()
            if let step = ladder.look(now: now) { taken.append(step) }
        }
        #expect(taken == [.lighterCoding])
        #expect(ladder.reason == .queue)
    }

    @Test("it goes no further than it may")
    func worst() {
        var ladder = DegradationLadder(worst: .fewerPictures)
        #expect(run(&ladder, from: 0, seconds: 60) { _ in 2 }.last?.step == .fewerPictures)
    }

    @Test("levels are 0 to 6, the two steps of the coder being one")
    func levels() {
        #expect(Degradation.allCases.map(\.level) == [0, 1, 1, 2, 3, 4, 5, 6])
    }
}
