import TestSupport

/// A CDN log whose lines reach the ledger late, deduplicated, and in order as far as the lag allows.
///
/// Bundles arrive every five seconds with the lines that the CDN has by then; every second bundle is repeated. A line
/// is held back for the greatest lag so far. Times are milliseconds since the start.
struct DelayedLog {
    /// A line that is delivered to the ledger.
    struct Delivery {
        var event: Oracle.Event
        /// The time at which it counts.
        var time: Int
    }

    private struct Line {
        var event: Oracle.Event
        var comes: Int
        var isRepeated: Bool
    }

    /// Identifies a line.
    private struct Mark: Hashable {
        var player: Int
        var at: Int
    }

    private static let bundle = 5000

    private let mutation: Oracle.Mutation
    /// Lines that have not arrived, the next one last.
    private var lines: [Line]
    private var waiting: [Oracle.Event] = []
    private var known: Set<Mark> = []
    /// The greatest lag so far.
    private(set) var lag = 0
    /// The time up to which all lines were delivered.
    private(set) var deliveredUntil = 0

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

    /// Receives the bundles until `now`, and returns the lines that are due.
    mutating func advance(to now: Int) -> [Delivery] {
        var deliveries: [Delivery] = []
        while let line = lines.last, line.comes <= now {
            lines.removeLast()
            if mutation == .linesOfNow || mutation == .repeatsOfNow && line.isRepeated {
                deliveries.append(Delivery(event: line.event, time: line.comes))
                continue
            }
            guard known.insert(Mark(player: line.event.player, at: line.event.at)).inserted else { continue }
            lag = max(lag, line.comes - line.event.at)
            waiting.append(line.event)
        }
        deliveredUntil = max(deliveredUntil, now - lag)
        let moment = deliveredUntil
        let due = waiting.filter { $0.at <= moment }
        waiting.removeAll { $0.at <= moment }
        deliveries += due.map { Delivery(event: $0, time: $0.at) }
        return deliveries.sorted { ($0.time, $0.event.player) < ($1.time, $1.event.player) }
    }
}
