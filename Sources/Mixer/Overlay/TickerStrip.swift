import Codecs

/// A line of text as one long picture, of which the program shows a window that moves along.
///
/// Nothing is seen through it: what lies below never has to be painted again while it moves.
struct TickerStrip: Sendable, Hashable, Codable {
    var text: String
    /// Pixels across of the canvas.
    var canvasWidth: Int
    /// Pixels down of the canvas; letters grow with it.
    var canvasHeight: Int
    var theme: OverlayTheme = .dark

    /// The band at the canvas's lower edge that the strip moves through.
    static func band(width: Int, height: Int) -> PixelRectangle {
        let high = max(Int(Double(min(width, height)) * 0.064) & ~1, 16)
        return PixelRectangle(x: 0, y: height - high, width: width, height: high)
    }

    /// Whether the text runs from right to left, and so moves to the right.
    var isRightToLeft: Bool { TextStyle.isRightToLeft(text) }

    /// The band's colour where no text has come yet.
    var bandColour: YUVColour {
        YUVColour(red: theme.background.red, green: theme.background.green, blue: theme.background.blue)
    }

    /// nil without a word.
    func drawing() -> Drawing? {
        let band = Self.band(width: canvasWidth, height: canvasHeight)
        let style = TextStyle(size: Double(band.height) * 0.56, weight: .medium, colour: theme.text)
        let text = style.extent(of: text).width
        guard text > 0 else { return nil }
        // A short text is seen once at a time; a long one follows itself after a gap.
        let gap = band.height * 3
        var drawing = Drawing(width: max(text + gap, canvasWidth), height: band.height)
        let place = isRightToLeft ? drawing.width - text - 1 : 0
        drawing.marks = [
            .box(drawing.bounds, cornerRadius: 0, theme.background.with(opacity: 1)),
            .text(self.text, style, DrawingBox(x: place, y: 0, width: text + 1, height: band.height)),
        ]
        return drawing
    }
}
