import Media

/// Measures a host's rate over ten seconds and says when it is more than was agreed.
struct BitrateWatch {
    enum Verdict: Equatable {
        case fine
        /// Above one and a half times the limit; said once per window.
        case high(kilobits: Int)
        /// Above twice the limit.
        case tooHigh(kilobits: Int)
    }

    private static let window = 10.0
    private let limit: Int
    private var windowStart: MonotonicTime?
    private var bytes = 0

    /// - Parameter limit: kb/s.
    init(limit: Int) {
        self.limit = limit
    }

    mutating func note(bytes count: Int, now: MonotonicTime) -> Verdict {
        bytes += count
        guard let start = windowStart else {
            windowStart = now
            return .fine
        }
        let elapsed = now.seconds(since: start)
        // What already is too much for the whole window need not be taken in to its end.
        let kilobits = Int(Double(bytes) * 8 / 1_000 / max(elapsed, Self.window))
        guard elapsed >= Self.window || kilobits > limit * 2 else { return .fine }
        windowStart = now
        bytes = 0
        if kilobits > limit * 2 { return .tooHigh(kilobits: kilobits) }
        return kilobits * 2 > limit * 3 ? .high(kilobits: kilobits) : .fine
    }
}
