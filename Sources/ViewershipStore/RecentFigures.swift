/// Figures that take long to find, each for a while.
///
/// For a settled peak, or the distinct viewers of each group, all sessions of a broadcast are walked through, which of a
/// large one takes a good part of a second or more, and every dashboard asks for it again and again. So each is good for
/// twenty times as long as it took to find, a minute at most: of a small broadcast it is always fresh, and of a large one it
/// takes about a twentieth of one processor, however many ask. A time that goes on is another one each minute.
struct RecentFigures<Subject: Hashable & Sendable, Figure: Sendable>: Sendable {
    private struct Kept {
        var figure: Figure
        var until: Double
    }

    /// How many times longer than it took to find it a figure is good.
    private let rest = 20.0
    /// Seconds for which it is good at the longest.
    private let longest = 60.0
    /// Subjects of which one is kept.
    private let limit = 1000

    private var kept: [Subject: Kept] = [:]

    /// The figure of a subject: the one that is known, while that is good.
    ///
    /// - Parameters:
    ///   - clock: seconds of any clock that goes on.
    ///   - find: looks for it.
    mutating func figure<Fault: Error>(
        of subject: Subject,
        clock: () -> Double,
        find: () throws(Fault) -> Figure
    ) throws(Fault) -> Figure {
        let began = clock()
        if let known = kept[subject], began < known.until { return known.figure }
        let figure = try find()
        let now = clock()
        if kept.count >= limit { kept = kept.filter { now < $0.value.until } }
        guard kept.count < limit || kept[subject] != nil else { return figure }
        kept[subject] = Kept(figure: figure, until: now + min((now - began) * rest, longest))
        return figure
    }
}
