import Codecs

/// A line of text as one long bitmap, of which the program shows a moving window.
///
/// The strip is opaque, so what lies below never has to be repainted while it moves.
struct TickerStrip: Sendable, Hashable, Codable {
    var text: String
    /// The canvas width in pixels.
    var canvasWidth: Int
    /// The canvas height in pixels; the text size is proportional to it.
    var canvasHeight: Int
    var theme: OverlayTheme = .dark

    /// Returns the band at the canvas's lower edge that the strip moves through.
    static func band(width: Int, height: Int) -> PixelRectangle {
        let high = max(Int(Double(min(width, height)) * 0.064) & ~1, 16)
        return PixelRectangle(x: 0, y: height - high, width: width, height: high)
    }

    /// Whether the text is right-to-left, and so moves to the right.
    var isRightToLeft: Bool { TextStyle.isRightToLeft(text) }

    /// The band's colour where there is no text yet.
    var bandColour: YUVColour {
        YUVColour(red: theme.background.red, green: theme.background.green, blue: theme.background.blue)
    }

    /// Returns the drawing; nil without text.
    func drawing() -> Drawing? {
        let band = Self.band(width: canvasWidth, height: canvasHeight)
        let style = TextStyle(size: Double(band.height) * 0.56, weight: .medium, colour: theme.text)
        let text = style.extent(of: text).width
        guard text > 0 else { return nil }
        // A short text is visible once at a time; a long one repeats after a gap.
        let gap = band.height * 3
        var drawing = Drawing(width: max(text + gap, canvasWidth), height: band.height)
        let textX = isRightToLeft ? drawing.width - text - 1 : 0
        drawing.marks = [
            .box(drawing.bounds, cornerRadius: 0, theme.background.with(opacity: 1)),
            .text(self.text, style, DrawingBox(x: textX, y: 0, width: text + 1, height: band.height)),
        ]
        return drawing
    }
}

/// Computes the position of a ticker's strip in each program frame.
///
/// The strip moves by the same even number of pixels each time, because any other motion would stutter: speeds are
/// rounded to what the frame rate allows, and slow strips move every second or third frame.
struct TickerMotion: Sendable, Hashable {
    /// Pixels per step, even.
    let step: Int
    /// Frames between two steps.
    let interval: Int
    let stripWidth: Int
    let canvasWidth: Int
    let isRightToLeft: Bool
    /// Frames per second.
    let rate: Double

    /// - Parameters:
    ///   - speed: Canvas widths per second.
    ///   - rate: Frames per second.
    init(stripWidth: Int, canvasWidth: Int, speed: Double, rate: Double, isRightToLeft: Bool = false) {
        self.stripWidth = max(stripWidth, 2)
        self.canvasWidth = canvasWidth
        self.isRightToLeft = isRightToLeft
        self.rate = rate
        let pixels = Double(canvasWidth) * min(max(speed.isNaN ? 0 : speed, 0.01), 2) / max(rate, 1)
        if pixels >= 1.5 {
            step = max(Int((pixels / 2).rounded()) * 2, 2)
            interval = 1
        } else {
            step = 2
            interval = max(Int((2 / max(pixels, 0.01)).rounded()), 1)
        }
    }

    /// Returns whether the strip has moved since the frame before.
    func moves(at frame: Int64) -> Bool { frame % Int64(interval) == 0 }

    /// Returns the number of the frame that begins `samples` after frame 0.
    func frame(after samples: Int64) -> Int64 {
        Int64((Double(samples) / Double(ProgramTime.sampleRate) * rate).rounded())
    }

    /// Returns the pixels from the edge where the text enters to its beginning, without whole strips that have left.
    ///
    /// - Parameters:
    ///   - frame: Counted from the moment when the offset was `startOffset`.
    ///   - startOffset: 0 for a ticker that starts then.
    func offset(at frame: Int64, startOffset: Int = 0) -> Int {
        let offset = Int(clamping: max(frame, 0) / Int64(interval) * Int64(step)) + startOffset
        // Whole strips that have left the canvas make no difference.
        return offset > canvasWidth + stripWidth
            ? canvasWidth + (offset - canvasWidth) % stripWidth + stripWidth : offset
    }

    /// Returns the left edges of the strip's visible copies in a frame, counted as for `offset`.
    ///
    /// The first copy enters from the edge; each is followed by the next one without a gap.
    func positions(at frame: Int64, startOffset: Int = 0) -> [Int] {
        var offset = offset(at: frame, startOffset: startOffset)
        var positions: [Int] = []
        while offset > 0 {
            if offset - stripWidth < canvasWidth {
                positions.append(isRightToLeft ? offset - stripWidth : canvasWidth - offset)
            }
            offset -= stripWidth
        }
        return positions
    }
}

extension Canvas {
    /// Paints the band of a ticker.
    ///
    /// - Parameter positions: The left edges of the strip's copies.
    func paint(_ strip: TickerStrip, rendered: OverlayImage, at positions: [Int]) {
        let band = TickerStrip.band(width: width, height: height)
        let isCovered = (positions.min() ?? width) <= 0 && (positions.max() ?? 0) + rendered.width >= width
        // Until the text has crossed the canvas once, part of the band is empty.
        if !isCovered { fill(band, strip.bandColour) }
        for x in positions { blend(rendered, x: x, y: band.y, within: band) }
    }
}
