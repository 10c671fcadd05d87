import Media
import Testing

@testable import Mixer

/// How long pictures take by the clock at a second of the play, in parts of what the processor works on them.
private struct Shortage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The second in which it is over for good.
    let end: Double
    /// It is there for many pictures in a row, so that it shows also where the processor's clock does not tell.
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

@Suite("When a program takes back what it did without")
struct DegradationReturnTests {
    /// A step as it was taken, in seconds of the play.
    private struct Taken {
        let at: Double
        let step: Degradation
    }

    /// Thirty pictures a second.
    private static let budget = 1.0 / 30
    /// Parts of a picture's time that the processor works on it, on a machine that has time for the whole program.
    private static let light: [Degradation: Double] = [
        .none: 0.4, .lighterCoding: 0.35, .lightestCoding: 0.3, .lighterDecoding: 0.3, .fewerPictures: 0.3,
        .fewerTiles: 0.25, .noRenditions: 0.2, .slate: 0.08,
    ]

    /// Plays a program on a machine.
    ///
    /// - Parameters:
    ///   - isSeen: The processor's clock stands still while others have it; otherwise it goes on, as on a virtual machine.
    ///   - work: Parts of a picture's time that the processor works on it, at a second on a step.
    private func play(
        seconds: Double,
        isSeen: Bool = true,
        stretch: @escaping @Sendable (Double) -> Double = { _ in 1 },
        work: @escaping (Double, Degradation) -> Double
    ) -> [Taken] {
        let start = MonotonicTime(nanoseconds: 0)
        var machine = ImaginedMachine(start: start, rate: 30) { now in
            isSeen ? stretch(now.seconds(since: start)) : 1
        } work: { now, step in
            let second = now.seconds(since: start)
            let share = step >= .fewerPictures ? 1.5 : 1
            return work(second, step) * share * Self.budget * (isSeen ? 1 : stretch(second))
        }
        var taken: [Taken] = []
        for look in 0..<Int(seconds * 10) {
            let second = Double(look) / 10
            if let step = machine.work(until: start.advanced(seconds: second)) {
                taken.append(Taken(at: second, step: step))
            }
        }
        return taken
    }

    /// The most changes within any minute.
    private func mostChanges(_ taken: [Taken]) -> Int {
        taken.map { first in taken.count { (first.at..<first.at + 60).contains($0.at) } }.max() ?? 0
    }

    @Test("Ten seconds after a shortage nothing is left out any more, and changes are few", arguments: shortages)
    private func shortage(_ shortage: Shortage) {
        check(shortage, isSeen: true)
    }

    @Test("So it is where others have the processor and its clock does not show that", arguments: shortages)
    private func hiddenShortage(_ shortage: Shortage) {
        guard shortage.isSteady else { return }
        check(shortage, isSeen: false)
    }

    private func check(_ shortage: Shortage, isSeen: Bool) {
        let taken = play(seconds: shortage.end + 120, isSeen: isSeen, stretch: shortage.stretch) { (_, step) in
            Self.light[step] ?? 1
        }
        #expect(!taken.isEmpty && taken.last?.step == Degradation.none, "\(taken)")
        #expect((taken.last?.at ?? 0) <= shortage.end + 10, "\(taken)")
        #expect(mostChanges(taken) <= 16, "\(mostChanges(taken)): \(taken)")
    }

    @Test("A machine that is too small for the whole program is asked again ever more rarely")
    func smallMachine() {
        let heavy: [Degradation: Double] = [.none: 1.1, .lighterCoding: 0.95, .lightestCoding: 0.5]
        let taken = play(seconds: 1200) { (_, step) in heavy[step] ?? 0.4 }
        #expect(mostChanges(taken) <= 4, "\(taken)")
        // Two steps up, and then a look at a better step and back after half a minute, one, two, and every four.
        #expect(taken.count <= 2 + 2 * 8, "\(taken)")
        #expect(taken.allSatisfy { $0.step <= .lightestCoding })
    }

    @Test("A small machine that is also short of time goes back to what it can do within ten seconds, and stays there")
    func smallAndShort() {
        let heavy: [Degradation: Double] = [.none: 1.1, .lighterCoding: 0.95, .lightestCoding: 0.5]
        let taken = play(seconds: 100, stretch: { (20..<60).contains($0) ? 4 : 1 }) { (_, step) in
            heavy[step] ?? (step == .slate ? 0.1 : 0.45)
        }
        let after = taken.filter { $0.at > 60 }
        #expect((after.first?.at ?? 100) <= 70 && after.first?.step == .lightestCoding, "\(taken)")
        #expect(after.count <= 3, "\(taken)")
    }
}
