/// How long to wait after a try that failed: twice as long each time, up to a limit, and never quite the same.
struct RetryDelay: Sendable {
    let first: Double
    let longest: Double

    /// Seconds to wait.
    ///
    /// - Parameter failures: Tries that failed in a row, the latest included.
    func seconds(after failures: Int, chance: Double = Double.random(in: 0...1)) -> Double {
        var delay = first
        for _ in 1..<max(min(failures, 32), 1) where delay < longest { delay *= 2 }
        return min(delay, longest) * (0.75 + chance / 2)
    }
}
