/// The log of a content network on its way to the ledger, which hears of each line once and in order, as far as that goes.
///
/// Bundles come every five seconds, of what the network's servers had by then, and every second one once more. A line waits
/// until what comes as late as any until now has come too. Times are milliseconds since the start.
struct LateLog {
    /// Something that the ledger is told of.
    struct Telling {
        var event: Oracle.Event
        /// As of when it counts.
        var time: Int
    }

    private struct Line {
        var event: Oracle.Event
        var comes: Int
        var isRepeated: Bool
    }

    /// Tells a line from all others.
    private struct Mark: Hashable {
        var player: Int
        var at: Int
    }

    private static let bundle = 5000

    private let mutation: Oracle.Mutation
    /// Not come yet, the next one last.
    private var lines: [Line]
    private var waiting: [Oracle.Event] = []
    private var known: Set<Mark> = []
    /// The greatest age in which a line came.
    private(set) var lag = 0
    /// The latest moment of which everything is told that had come.
    private(set) var told = 0

    init(_ events: [Oracle.Event], seed: UInt64, _ mutation: Oracle.Mutation) {
        self.mutation = mutation
        var random = SeededGenerator(seed: seed &+ 1000)
        lines = []
        for event in events {
            let isSlow = Int.random(in: 0..<100, using: &random) < 3
            let late = isSlow ? Int.random(in: 8000...25_000, using: &random) : Int.random(in: 0...8000, using: &random)
            let number = (event.at + late) / Self.bundle + 1
            lines.append(Line(event: event, comes: number * Self.bundle, isRepeated: false))
            guard number % 2 == 0 else { continue }
            lines.append(Line(event: event, comes: (number + 1) * Self.bundle, isRepeated: true))
        }
        lines.sort { ($1.comes, $1.event.at, $1.event.player) < ($0.comes, $0.event.at, $0.event.player) }
    }

    /// Takes the bundles that come by `now`, and says what is due.
    mutating func advance(to now: Int) -> [Telling] {
        var tellings: [Telling] = []
        while let line = lines.last, line.comes <= now {
            lines.removeLast()
            if mutation == .linesOfNow || mutation == .repeatsOfNow && line.isRepeated {
                tellings.append(Telling(event: line.event, time: line.comes))
                continue
            }
            guard known.insert(Mark(player: line.event.player, at: line.event.at)).inserted else { continue }
            lag = max(lag, line.comes - line.event.at)
            waiting.append(line.event)
        }
        told = max(told, now - lag)
        let moment = told
        let due = waiting.filter { $0.at <= moment }
        waiting.removeAll { $0.at <= moment }
        tellings += due.map { Telling(event: $0, time: $0.at) }
        return tellings.sorted { ($0.time, $0.event.player) < ($1.time, $1.event.player) }
    }
}
