import Media
import Testing

@testable import Mixer

/// A shortage of processor time, as the ratio of wall-clock to processor time by second.
private struct Shortage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The second in which the shortage ends.
    let end: Double
    /// Whether it lasts for many consecutive frames, so that it shows even in wall-clock times alone.
    var isSteady = true
    let stretch: @Sendable (Double) -> Double
}

private let shortages = [
    Shortage(testDescription: "a minute of it", end: 70) { (10..<70).contains($0) ? 5 : 1 },
    Shortage(testDescription: "ten minutes of it", end: 610) { (10..<610).contains($0) ? 3 : 1 },
    Shortage(testDescription: "a burst of seven seconds each half minute", end: 277, isSteady: false) { second in
        second < 277 && second.truncatingRemainder(dividingBy: 30) < 7 ? 4 : 1
    },
    Shortage(testDescription: "four seconds of it and four without, for three minutes", end: 180) { second in
        second < 180 && second.truncatingRemainder(dividingBy: 8) < 4 ? 6 : 1
    },
    Shortage(testDescription: "twelve seconds of it and eight without, for three minutes", end: 172) { second in
        second < 172 && second.truncatingRemainder(dividingBy: 20) < 12 ? 4 : 1
    },
    Shortage(testDescription: "every third picture is held up, for two minutes", end: 120, isSteady: false) { second in
        second < 120 && Int(second * 30) % 3 == 0 ? 6 : 1
    },
    Shortage(testDescription: "it grows, and ends", end: 90) { $0 < 90 ? 1 + $0 / 15 : 1 },
]

@Suite("Recovery from degradation")
struct DegradationRecoveryTests {
    /// A change of the step, in seconds of the simulation.
    private struct StepChange {
        let at: Double
        let step: Degradation
    }

    /// The frame interval at thirty frames a second.
    private static let budget = 1.0 / 30
    /// Frame times as fractions of the frame interval, on a machine that is fast enough for the whole program.
    private static let light: [Degradation: Double] = [
        .none: 0.4, .lighterCoding: 0.35, .lightestCoding: 0.3, .lighterDecoding: 0.3, .fewerFrames: 0.3,
        .fewerTiles: 0.25, .noRenditions: 0.2, .slate: 0.08,
    ]

    /// Simulates a program on a machine.
    ///
    /// - Parameters:
    ///   - isVisible: The processor clock excludes stolen time; otherwise it includes it, as on a virtual machine.
    ///   - work: The frame time as a fraction of the frame interval, by second and step.
    private func simulate(
        seconds: Double,
        isVisible: Bool = true,
        stretch: @escaping @Sendable (Double) -> Double = { _ in 1 },
        work: @escaping (Double, Degradation) -> Double
    ) -> [StepChange] {
        let start = MonotonicTime(nanoseconds: 0)
        var load = SimulatedLoad(start: start, rate: 30) { now in
            isVisible ? stretch(now.seconds(since: start)) : 1
        } work: { now, step in
            let second = now.seconds(since: start)
            let share = step >= .fewerFrames ? 1.5 : 1
            return work(second, step) * share * Self.budget * (isVisible ? 1 : stretch(second))
        }
        var changes: [StepChange] = []
        for tick in 0..<Int(seconds * 10) {
            let second = Double(tick) / 10
            if let step = load.advance(to: start.advanced(seconds: second)) {
                changes.append(StepChange(at: second, step: step))
            }
        }
        return changes
    }

    /// Returns the maximum number of changes within any minute.
    private func maximumChangesPerMinute(_ changes: [StepChange]) -> Int {
        changes.map { first in changes.count { (first.at..<first.at + 60).contains($0.at) } }.max() ?? 0
    }

    @Test("ten seconds after a shortage nothing is degraded, and changes are few", arguments: shortages)
    private func shortage(_ shortage: Shortage) {
        check(shortage, isVisible: true)
    }

    @Test("recovery works where the processor clock includes stolen time", arguments: shortages)
    private func hiddenShortage(_ shortage: Shortage) {
        guard shortage.isSteady else { return }
        check(shortage, isVisible: false)
    }

    private func check(_ shortage: Shortage, isVisible: Bool) {
        let seconds = shortage.end + 120
        let changes = simulate(seconds: seconds, isVisible: isVisible, stretch: shortage.stretch) { (_, step) in
            Self.light[step] ?? 1
        }
        #expect(!changes.isEmpty && changes.last?.step == Degradation.none, "\(changes)")
        #expect((changes.last?.at ?? 0) <= shortage.end + 10, "\(changes)")
        #expect(maximumChangesPerMinute(changes) <= 16, "\(maximumChangesPerMinute(changes)): \(changes)")
    }

    @Test("a machine that is too small for the whole program is retried ever more rarely")
    func smallMachine() {
        let heavy: [Degradation: Double] = [.none: 1.1, .lighterCoding: 0.95, .lightestCoding: 0.5]
        let changes = simulate(seconds: 1200) { (_, step) in heavy[step] ?? 0.4 }
        #expect(maximumChangesPerMinute(changes) <= 4, "\(changes)")
        // Two steps up, and then attempts of a better step after half a minute, one, two, and every four minutes.
        #expect(changes.count <= 2 + 2 * 8, "\(changes)")
        #expect(changes.allSatisfy { $0.step <= .lightestCoding })
    }

    @Test("a small machine with a shortage returns to its sustainable step within ten seconds and stays there")
    func smallAndShort() {
        let heavy: [Degradation: Double] = [.none: 1.1, .lighterCoding: 0.95, .lightestCoding: 0.5]
        let changes = simulate(seconds: 100, stretch: { (20..<60).contains($0) ? 4 : 1 }) { (_, step) in
            heavy[step] ?? (step == .slate ? 0.1 : 0.45)
        }
        let after = changes.filter { $0.at > 60 }
        #expect((after.first?.at ?? 100) <= 70 && after.first?.step == .lightestCoding, "\(changes)")
        #expect(after.count <= 3, "\(changes)")
    }
}
