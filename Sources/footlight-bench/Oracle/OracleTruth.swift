/// How many watched at a moment: at least, and at most.
///
/// A moment is known to a few hundredths of a second from outside, and who has left without a word may count until its
/// time-out. So there are two bounds, and what the gateway says has to lie between them.
struct OracleTruth {
    /// When the gateway was killed, and when it listened again.
    struct Kill: Sendable {
        let killed: Double
        let listening: Double
    }

    /// Media or playlists that prove a viewer, in seconds.
    private static let qualifying = (connection: 5.0, requests: 2.0)
    /// How long after its last playlist a viewer counts, at the longest.
    ///
    /// Timers go by the second, and are looked at once a second. A player by parts has a shorter time, but one that begins
    /// anew asks like any other at first.
    private static let timeout = 14.0
    /// Seconds of proofs that may be lost with the process.
    static let unwritten = 0.2
    /// Around a kill, how long nobody may have heard what a cache told, in seconds.
    private static let deaf = 0.2

    private let leastSteps: [(at: Double, count: Int)]
    private let mostSteps: [(at: Double, count: Int)]

    /// - Parameters:
    ///   - lives: Of the kinds that are looked at together.
    ///   - tolerance: Seconds by which a moment seen from outside may differ from the gateway's.
    init(_ lives: [OracleLife], kills: [Kill], tolerance: Double) {
        var (least, most): ([Double: Int], [Double: Int]) = ([:], [:])
        func add(_ from: Double, _ to: Double, to bound: inout [Double: Int]) {
            guard from < to else { return }
            bound[from, default: 0] += 1
            bound[to, default: 0] -= 1
        }
        for life in lives {
            if life.kind.isConnection {
                // Known since then to be proven, at the latest and at the earliest.
                var (isSure, isPossible) = (false, false)
                for span in life.spans {
                    let proven = span.open + Self.qualifying.connection
                    let surely = isSure ? span.open : proven
                    // Who is known counts as soon as it is back, whether the program is or not.
                    let possibly = isPossible ? span.letIn : proven
                    add(surely + tolerance, span.close - tolerance, to: &least)
                    add(possibly - tolerance, span.close + tolerance, to: &most)
                    isPossible = isPossible || span.close > proven - tolerance
                    // What was proven right before the kill may be forgotten.
                    let next = kills.first { $0.killed >= span.open }
                    let isWritten = next.map { proven < $0.killed - Self.unwritten } ?? true
                    isSure = isSure || (span.close > proven + tolerance && isWritten)
                }
            } else {
                Self.add(life, kills, tolerance, least: { add($0, $1, to: &least) }, most: { add($0, $1, to: &most) })
            }
        }
        leastSteps = Self.steps(least)
        mostSteps = Self.steps(most)
    }

    private static func add(
        _ life: OracleLife,
        _ kills: [Kill],
        _ tolerance: Double,
        least: (Double, Double) -> Void,
        most: (Double, Double) -> Void
    ) {
        guard let left = life.left, let last = life.answers.last else { return }
        /// The first playlist so many seconds after the first one of them all.
        func proven(_ answers: some Sequence<Double>, after gap: Double) -> Double? {
            var first: Double?
            for answer in answers {
                if answer - (first ?? answer) >= gap { return answer }
                first = first ?? answer
            }
            return nil
        }
        // Who has no answer between a kill and its leaving may have been answered all the same, and was not there to read it.
        let isCut = kills.contains { $0.killed > last && $0.killed < left + tolerance }
        let heard = isCut ? left : last
        if let earliest = proven(life.answers, after: qualifying.requests - 0.1) {
            // A kill changes nothing: when each was last heard of is written down every second.
            most(earliest - tolerance, heard + timeout + tolerance)
        }
        // A log tells of all of them, whenever the gateway is there to read it; a cache tells nobody then.
        let isLogged = life.kind == .log
        let kills = isLogged ? [] : kills
        var (since, begins, isKnown) = (-Double.infinity, 0.0, false)
        for kill in kills + [Kill(killed: .infinity, listening: .infinity)] {
            let heard = life.answers.lazy.filter { $0 > since && $0 < kill.killed - (isLogged ? 0 : deaf) }
            let known = isKnown ? begins : proven(heard, after: qualifying.requests + 0.1)
            if let known {
                // Who was proven before a kill counts from the moment the gateway is back, and until its time-out.
                least(max(known, begins) + tolerance, min(left - tolerance, kill.killed))
                isKnown = isKnown || known < kill.killed - unwritten
            }
            (since, begins) = (kill.listening + deaf, kill.listening)
        }
    }

    private static func steps(_ changes: [Double: Int]) -> [(at: Double, count: Int)] {
        var count = 0
        return changes.sorted { $0.key < $1.key }.map { at, change in
            count += change
            return (at, count)
        }
    }

    /// Least and most that the gateway may say of a moment.
    func bounds(at moment: Double) -> ClosedRange<Int> {
        bounds(from: moment, to: moment)
    }

    /// Least and most that it may say of a moment somewhere between two.
    func bounds(from: Double, to: Double) -> ClosedRange<Int> {
        func counts(_ steps: [(at: Double, count: Int)]) -> [Int] {
            let next = Self.place(in: steps, behind: from)
            return [next == 0 ? 0 : steps[next - 1].count] + steps[next...].prefix { $0.at <= to }.map(\.count)
        }
        let low = counts(leastSteps).min() ?? 0
        return low...max(low, counts(mostSteps).max() ?? 0)
    }

    /// The largest number that watched at once, whether they were proven yet or not: settled figures begin with the first
    /// media and end with the last.
    static func peak(of spans: [(from: Double, to: Double)]) -> Int {
        var changes: [Double: Int] = [:]
        for span in spans {
            changes[span.from, default: 0] += 1
            changes[span.to, default: 0] -= 1
        }
        return steps(changes).map(\.count).max() ?? 0
    }

    /// Of the first step behind a moment.
    private static func place(in steps: [(at: Double, count: Int)], behind moment: Double) -> Int {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].at <= moment { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
