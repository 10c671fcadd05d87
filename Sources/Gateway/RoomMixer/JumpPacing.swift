import Media

/// Decides which of a program's jumps in time is worth a word: the first, and then one in ten seconds at most.
///
/// Time in, words out. A machine that is far too slow jumps every second, and a log full of it would hide the rest.
struct JumpPacing {
    /// What was left out since the last word.
    struct News: Equatable {
        var jumps = 0
        var milliseconds = 0
    }

    /// Seconds between two words at least.
    static let spacing = 10.0

    private var untold = News()
    private var toldAt: MonotonicTime?

    /// The program went on so many milliseconds later.
    ///
    /// - Returns: What is to be told now, if anything; the rest goes along with the next word.
    mutating func jumped(milliseconds: Int, now: MonotonicTime) -> News? {
        untold.jumps += 1
        untold.milliseconds += milliseconds
        if let toldAt, now.seconds(since: toldAt) < Self.spacing { return nil }
        defer { untold = News() }
        toldAt = now
        return untold
    }
}
