import Codecs

/// The whole canvas while nobody is shown: words, an image that covers it, or words over an image.
struct SlateCard: Sendable, Hashable, Codable {
    /// nil for an image alone.
    var text: String?
    /// The asset that covers the canvas; the background's colour is shown without one, and as long as it is not there.
    var image: String?
    /// Pixels, even.
    var width: Int
    /// Pixels, even.
    var height: Int
    var theme: OverlayTheme = .dark

    func drawing(with images: OverlayImages = OverlayImages()) throws(CodecError) -> Drawing {
        var drawing = Drawing(width: width, height: height)
        let picture = try images[image]?.covering(width: width, height: height)
        var (colour, accent) = (theme.text, theme.accent)
        drawing.marks.append(.box(drawing.bounds, cornerRadius: 0, theme.background))
        if let picture {
            drawing.marks.append(.image(picture, x: 0, y: 0, cornerRadius: 0, opacity: 1))
        }
        guard let text, !text.isEmpty else { return drawing }
        if picture != nil {
            // Words can be read on any image once it is darker.
            drawing.marks.append(.box(drawing.bounds, cornerRadius: 0, .black.with(opacity: 0.55)))
            (colour, accent) = (.white, OverlayTheme.dark.accent)
        }
        let box = drawing.bounds.inset(by: Double(min(width, height)) * 0.08)
        let (style, extent) = fitting(text, colour, in: box)
        drawing.marks.append(.text(text, style, box))
        let bar = style.size * 0.1
        let below = box.y + box.height / 2 + Double(extent.height) / 2 + style.size * 0.45
        if below + bar < drawing.bounds.height {
            let length = Double(min(width, height)) * 0.12
            let line = DrawingBox(x: (Double(width) - length) / 2, y: below, width: length, height: bar)
            drawing.marks.append(.box(line, cornerRadius: bar / 2, accent))
        }
        return drawing
    }

    /// The largest letters in which all of the text is seen.
    private func fitting(_ text: String, _ colour: RGBAColour, in box: DrawingBox) -> (TextStyle, TextExtent) {
        let side = Double(min(width, height))
        var style = TextStyle(size: 0, weight: .bold, colour: colour, alignment: .centre)
        var extent = style.extent(of: "")
        for (share, lines) in [(0.11, 2), (0.085, 3), (0.06, 5), (0.045, 9), (0.032, 16)] {
            style.size = side * share
            style.maximumLines = lines
            extent = style.extent(of: text, width: box.width)
            if !extent.isShortened, Double(extent.height) <= box.height { break }
        }
        return (style, extent)
    }
}
