/// Columns of a pair of rows in which an overlay is seen; what lies between runs is left alone.
struct OverlayRun: Sendable, Hashable {
    /// The first column, even.
    var start: Int
    /// The column after the last, even.
    var end: Int
    /// Nothing is seen through any pixel of it.
    var isOpaque: Bool

    /// Columns looked at together; a run begins and ends at a multiple of it, or at the right edge.
    static let block = 16

    /// The runs of the rows `2 * pair` and `2 * pair + 1`, from left to right.
    static func all(inPair pair: Int, of alpha: PicturePlanes.Plane, width: Int) -> [OverlayRun] {
        let (upper, lower) = (alpha.at(x: 0, y: 2 * pair), alpha.at(x: 0, y: 2 * pair + 1))
        var runs: [OverlayRun] = []
        for start in stride(from: 0, to: width, by: block) {
            let end = min(start + block, width)
            var (least, most) = (UInt8.max, UInt8.min)
            for column in start..<end {
                least = min(least, upper[column], lower[column])
                most = max(most, upper[column], lower[column])
            }
            guard most > 0 else { continue }
            let run = OverlayRun(start: start, end: end, isOpaque: least == .max)
            if let last = runs.last, last.end == run.start, last.isOpaque == run.isOpaque {
                runs[runs.count - 1].end = run.end
            } else {
                runs.append(run)
            }
        }
        return runs
    }
}
