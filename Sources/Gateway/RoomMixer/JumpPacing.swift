import Media

/// Decides when it is worth a word that a program left out time: at once, and then once in ten seconds at most.
///
/// Time in, words out. A machine that is far too slow leaves out time every second, and a log full of it would hide the
/// rest.
struct JumpPacing {
    /// Seconds between two words at least.
    static let spacing = 10.0

    private var told = 0
    private var toldAt: MonotonicTime?

    /// Looks at how many pictures the program has left out since it began, because it was more than a second late.
    ///
    /// - Returns: how many there are to tell of now; nil for none. The rest goes along with the next word.
    mutating func look(at lost: Int, now: MonotonicTime) -> Int? {
        guard lost > told else { return nil }
        if let toldAt, now.seconds(since: toldAt) < Self.spacing { return nil }
        defer { told = lost }
        toldAt = now
        return lost - told
    }
}
