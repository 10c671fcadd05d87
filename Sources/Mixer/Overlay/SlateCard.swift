import Codecs

/// The full-canvas card while no host is shown: text, an image that covers the canvas, or text over an image.
struct SlateCard: Sendable, Hashable, Codable {
    /// The text; nil for an image alone.
    var text: String?
    /// The asset that covers the canvas; without it, and while it is missing, the background colour is shown.
    var image: String?
    /// Pixels, even.
    var width: Int
    /// Pixels, even.
    var height: Int
    var theme: OverlayTheme = .dark

    func drawing(with images: OverlayImages = OverlayImages()) throws(CodecError) -> Drawing {
        var drawing = Drawing(width: width, height: height)
        let bitmap = try images[image]?.covering(width: width, height: height)
        var (colour, accent) = (theme.text, theme.accent)
        drawing.marks.append(.box(drawing.bounds, cornerRadius: 0, theme.background))
        if let bitmap {
            drawing.marks.append(.image(bitmap, x: 0, y: 0, cornerRadius: 0, opacity: 1))
        }
        guard let text, !text.isEmpty else { return drawing }
        if bitmap != nil {
            // A darkened image keeps the text readable.
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

    /// Returns the largest text style in which all of the text fits.
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

/// The image that covers the canvas behind the tiles.
struct BackgroundImage: Sendable, Hashable, Codable {
    var asset: String
    /// Pixels, even.
    var width: Int
    /// Pixels, even.
    var height: Int
    /// The theme whose background shows through transparent parts.
    var theme: OverlayTheme = .dark

    /// Returns the drawing; nil while the asset is missing.
    func drawing(with images: OverlayImages) throws(CodecError) -> Drawing? {
        guard let bitmap = try images[asset]?.covering(width: width, height: height) else { return nil }
        var drawing = Drawing(width: width, height: height)
        drawing.marks = [
            .box(drawing.bounds, cornerRadius: 0, theme.background),
            .image(bitmap, x: 0, y: 0, cornerRadius: 0, opacity: 1),
        ]
        return drawing
    }
}

/// An image over a corner of the canvas, in its own aspect ratio.
struct LogoOverlay: Sendable, Hashable, Codable {
    var asset: String
    /// The height in pixels.
    var height: Int
    /// The maximum width in pixels; a wide image is made lower instead.
    var maximumWidth: Int

    /// The keys in recordings of arrivals.
    private enum CodingKeys: String, CodingKey {
        case asset, height
        case maximumWidth = "mostWidth"
    }

    /// Returns the position of the logo's upper left corner.
    ///
    /// In a lower corner it lies above a ticker and a strip of tiles, and at the left above the tag over the strip.
    static func origin(of logo: OverlayImage, in corner: Logo.Corner, on plan: TilePlan) -> (x: Int, y: Int) {
        let margin = min(plan.width, plan.height) / 24
        let right = plan.width - margin - logo.width
        let bottom = min(plan.tickerTop, plan.stripTop) - margin - logo.height
        return switch corner {
        case .topLeft: (margin, margin)
        case .topRight: (right, margin)
        case .bottomLeft: (margin, min(bottom, plan.topOfTagOverStrip - margin / 2 - logo.height))
        case .bottomRight: (right, bottom)
        }
    }

    /// Returns the drawing; nil while the asset is missing.
    func drawing(with images: OverlayImages) throws(CodecError) -> Drawing? {
        guard let bitmap = try images[asset]?.contained(width: max(maximumWidth, 2), height: max(height, 2)) else {
            return nil
        }
        var drawing = Drawing(width: bitmap.width, height: bitmap.height)
        drawing.marks.append(.image(bitmap, x: 0, y: 0, cornerRadius: 0, opacity: 1))
        return drawing
    }
}
