/// How visible something is while one scene takes another's place.
struct Fade: Sendable, Hashable {
    /// When of the way it happens.
    enum Part: Sendable, Hashable {
        case whole
        case firstHalf
        case secondHalf

        func progress(at amount: Double) -> Double {
            switch self {
            case .whole: amount
            case .firstHalf: min(amount * 2, 1)
            case .secondHalf: max(amount * 2 - 1, 0)
            }
        }
    }

    /// 0, not seen, to 1, nothing seen through it.
    var start: Double
    /// As `start`, at the end.
    var end: Double
    var part = Part.whole

    /// Seen all the time.
    static let none = Fade(start: 1, end: 1)

    /// The visibility at `amount` (0 to 1) of the way.
    func opacity(at amount: Double) -> Double { start + (end - start) * part.progress(at: amount) }

    var isStill: Bool { start == end }
}
