/// The most viewers at once, by the settled beginnings and ends of their sessions.
public struct SettledPeak: Sendable, Hashable {
    /// How many they were.
    public var viewers: Int
    /// When that was reached; milliseconds since 1970.
    public var at: Int64

    /// As it was found.
    public init(viewers: Int, at: Int64) {
        self.viewers = viewers
        self.at = at
    }
}

/// Finds the settled peak of all viewers and of each group, from sessions with their times away and their moves.
///
/// At one moment those who leave go first. The region and the kind of client are taken to have been the same all the time,
/// for of whom they were known late they were.
public struct SettledPeaks {
    private struct Step {
        var at: Int64
        var change: Int32
        var place: Int32
    }

    private let span: ClosedRange<Int64>
    private var steps: [Step] = []
    private var places: [Dimensions: Int32] = [:]
    private var groupsOfPlace: [[Int]] = []
    private var groups: [ViewerGroup: Int] = [:]

    /// - Parameter span: What lies outside of it is not looked at; milliseconds since 1970.
    public init(in span: ClosedRange<Int64> = .min ... .max) {
        self.span = span
    }

    /// Adds a session.
    ///
    /// - Parameters:
    ///   - end: When it ended.
    ///   - dimensions: Where it stood last.
    ///   - gaps: When it was away, in order.
    ///   - moves: Where it stood before, in order.
    public mutating func add(
        from start: Int64,
        to end: Int64,
        dimensions: Dimensions,
        gaps: [GapRow] = [],
        moves: [MoveRow] = []
    ) {
        var from = start
        for gap in gaps where from <= gap.from && gap.to <= end {
            add(from, gap.from, dimensions, moves)
            from = gap.to
        }
        add(from, end, dimensions, moves)
    }

    private mutating func add(_ start: Int64, _ end: Int64, _ dimensions: Dimensions, _ moves: [MoveRow]) {
        var from = start
        for move in moves where from < move.at && move.at < end {
            var earlier = dimensions
            (earlier.playback, earlier.rendition) = (move.from.playback, move.from.rendition)
            add(from, move.at, earlier)
            from = move.at
        }
        add(from, end, dimensions)
    }

    private mutating func add(_ start: Int64, _ end: Int64, _ dimensions: Dimensions) {
        let (from, to) = (max(start, span.lowerBound), min(end, span.upperBound))
        guard from < to else { return }
        let place = place(of: dimensions)
        steps.append(Step(at: from, change: 1, place: place))
        steps.append(Step(at: to, change: -1, place: place))
    }

    private mutating func place(of dimensions: Dimensions) -> Int32 {
        if let place = places[dimensions] { return place }
        let numbers = dimensions.groups.map { group in
            let number = groups[group] ?? groups.count + 1
            groups[group] = number
            return number
        }
        let place = Int32(groupsOfPlace.count)
        // The first is everybody.
        groupsOfPlace.append([0] + numbers)
        places[dimensions] = place
        return place
    }

    /// The peak of everybody, who are no group, and of each group.
    public consuming func found() -> [ViewerGroup?: SettledPeak] {
        steps.sort { ($0.at, $0.change) < ($1.at, $1.change) }
        var live = [Int](repeating: 0, count: groups.count + 1)
        var peaks = [SettledPeak?](repeating: nil, count: groups.count + 1)
        for step in steps {
            for group in groupsOfPlace[Int(step.place)] {
                live[group] += Int(step.change)
                if live[group] > peaks[group]?.viewers ?? 0 {
                    peaks[group] = SettledPeak(viewers: live[group], at: step.at)
                }
            }
        }
        var found: [ViewerGroup?: SettledPeak] = [:]
        found[nil] = peaks[0]
        for (group, number) in groups { found[group] = peaks[number] }
        return found
    }
}
