/// How visible something is while one scene takes another's place.
struct Fade: Sendable, Hashable {
    /// 0, not seen, to 1, nothing seen through it.
    var start: Double
    /// As `start`, at the end.
    var end: Double

    /// Seen all the time.
    static let none = Fade(start: 1, end: 1)

    /// The visibility at `amount` (0 to 1) of the way.
    func opacity(at amount: Double) -> Double { start + (end - start) * amount }

    var isStill: Bool { start == end }
}
