import Media

/// Tells a slow target from one that takes nothing any more.
struct ProgressWatch: Sendable {
    /// Seconds without progress that are one too many.
    let limit: Double
    /// Bytes that count as progress.
    let step: Int
    private var lastBytes = 0
    private var lastTime: MonotonicTime

    init(limit: Double, step: Int, now: MonotonicTime) {
        self.limit = limit
        self.step = step
        lastTime = now
    }

    /// False when data has waited for the limit without `step` bytes of it being acknowledged.
    mutating func isMoving(acknowledged: Int, unsent: Int, now: MonotonicTime) -> Bool {
        if unsent == 0 || acknowledged - lastBytes >= step {
            lastBytes = acknowledged
            lastTime = now
            return true
        }
        return now.seconds(since: lastTime) < limit
    }
}
