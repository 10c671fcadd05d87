/// The settled peaks of broadcasts that last, each for a while.
///
/// To find one, all sessions of a broadcast are walked through in the order of their moves, which of a large one takes a
/// good part of a second, and every dashboard asks for it again and again. So each is good for twenty times as long as it
/// took to find: of a small broadcast it is always fresh, and of a large one it takes no more than a twentieth of one
/// processor, however many ask. The peak of a broadcast that ended is stored, and never comes from here.
struct RunningPeaks: Sendable {
    typealias Peak = (viewers: Int, at: Int64)

    private struct Kept {
        var peak: Peak?
        var until: Double
    }

    /// How many times longer than it took to find it a peak is good.
    private static let rest = 20.0
    /// Seconds for which it is good at the longest.
    private static let longest = 60.0
    /// Broadcasts of which one is kept.
    private static let limit = 1000

    private var kept: [Int64: Kept] = [:]

    /// The peak of a broadcast: the one that is known, while that is good.
    ///
    /// - Parameters:
    ///   - clock: seconds of any clock that goes on.
    ///   - find: looks for it; nil where nobody has watched.
    mutating func peak<Fault: Error>(
        of epoch: Int64,
        clock: () -> Double,
        find: () throws(Fault) -> Peak?
    ) throws(Fault) -> Peak? {
        let began = clock()
        if let known = kept[epoch], began < known.until { return known.peak }
        let peak = try find()
        let now = clock()
        if kept.count >= Self.limit { kept = kept.filter { now < $0.value.until } }
        guard kept.count < Self.limit || kept[epoch] != nil else { return peak }
        kept[epoch] = Kept(peak: peak, until: now + min((now - began) * Self.rest, Self.longest))
        return peak
    }
}
