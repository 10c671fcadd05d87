/// The concurrent peak, by the settled starts and ends of sessions.
public struct SettledPeak: Sendable, Hashable {
    /// The number of viewers.
    public var viewers: Int
    /// The time of the peak, in milliseconds since 1970.
    public var at: Int64

    /// Creates a peak.
    public init(viewers: Int, at: Int64) {
        self.viewers = viewers
        self.at = at
    }
}

/// Computes the settled peaks of all viewers and of each group, from sessions with their gaps and moves.
///
/// At equal times ends come before starts. The last known region and client class of a session apply to all of it.
public struct SettledPeaks {
    private struct Step {
        var at: Int64
        var change: Int32
        var cell: Int32
    }

    private let span: ClosedRange<Int64>
    private var steps: [Step] = []
    private var cells: [Dimensions: Int32] = [:]
    private var groupsOfCell: [[Int]] = []
    private var groups: [ViewerGroup: Int] = [:]

    /// - Parameter span: Time outside of it is ignored; milliseconds since 1970.
    public init(in span: ClosedRange<Int64> = .min ... .max) {
        self.span = span
    }

    /// Adds a session.
    ///
    /// - Parameters:
    ///   - end: The end of the session.
    ///   - dimensions: The last cell.
    ///   - gaps: The interruptions, in order.
    ///   - moves: The switches with the cells before them, in order.
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
        let cell = cell(of: dimensions)
        steps.append(Step(at: from, change: 1, cell: cell))
        steps.append(Step(at: to, change: -1, cell: cell))
    }

    private mutating func cell(of dimensions: Dimensions) -> Int32 {
        if let cell = cells[dimensions] { return cell }
        let numbers = dimensions.groups.map { group in
            let number = groups[group] ?? groups.count + 1
            groups[group] = number
            return number
        }
        let cell = Int32(groupsOfCell.count)
        // Index 0 is the whole audience.
        groupsOfCell.append([0] + numbers)
        cells[dimensions] = cell
        return cell
    }

    /// Returns the peaks of the whole (key nil) and of each group.
    public consuming func found() -> [ViewerGroup?: SettledPeak] {
        steps.sort { ($0.at, $0.change) < ($1.at, $1.change) }
        var live = [Int](repeating: 0, count: groups.count + 1)
        var peaks = [SettledPeak?](repeating: nil, count: groups.count + 1)
        for step in steps {
            for group in groupsOfCell[Int(step.cell)] {
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
