/// How much room text takes.
public struct TextExtent: Sendable, Hashable {
    /// Pixels across of the longest line, rounded up.
    public let width: Int
    /// Pixels down of all lines, rounded up.
    public let height: Int
    /// Lines, after wrapping.
    public let lines: Int
    /// Some of the text gave way to an ellipsis.
    public let isShortened: Bool
    /// Letters for which no font has a sign; each is a box with its number.
    public let missing: Int

    static let none = TextExtent(width: 0, height: 0, lines: 0, isShortened: false, missing: 0)
}
