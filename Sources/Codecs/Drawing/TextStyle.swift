/// How text is drawn: any script in either direction, with fonts found for what the first one lacks, emoji in colour.
public struct TextStyle: Sendable, Hashable {
    /// How heavy the letters are.
    public enum Weight: Sendable, Hashable {
        case regular
        case medium
        case bold
    }

    /// Where a line stands in its box; the leading edge of text that runs from right to left is the right one.
    public enum Alignment: Sendable, Hashable {
        case leading
        case centre
        case trailing
    }

    /// Where the lines stand in a box that is higher than they are.
    public enum Placement: Sendable, Hashable {
        case top
        case middle
        case bottom
    }

    /// The height of the letters' square in pixels, 4 to 512.
    public var size: Double
    /// How heavy the letters are.
    public var weight: Weight
    /// What letters look like; emoji have colours of their own.
    public var colour: RGBAColour
    /// Where a line stands in its box.
    public var alignment: Alignment
    /// Where the lines stand in their box.
    public var placement: Placement
    /// What does not fit into so many lines ends in an ellipsis.
    public var maximumLines: Int

    /// Makes a style.
    public init(
        size: Double,
        weight: Weight = .regular,
        colour: RGBAColour = .white,
        alignment: Alignment = .leading,
        placement: Placement = .middle,
        maximumLines: Int = 1
    ) {
        self.size = size
        self.weight = weight
        self.colour = colour
        self.alignment = alignment
        self.placement = placement
        self.maximumLines = maximumLines
    }

    /// The size within its limits.
    var pixels: Double { size.isFinite ? min(max(size, 4), 512) : 4 }

    /// How much room `text` takes in this style, cut or wrapped to `width` pixels.
    ///
    /// May be called on any thread.
    public func extent(of text: String, width: Double = .infinity) -> TextExtent {
        guard let layout = TextLayout(text, style: self, width: width) else { return .none }
        return layout.extent
    }

    /// Whether `text` is read from right to left, by its first letter that has a direction.
    public static func isRightToLeft(_ text: String) -> Bool {
        guard let layout = TextLayout(text, style: TextStyle(size: 16), width: .infinity) else { return false }
        return layout.isRightToLeft
    }
}

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
