import Codecs

/// One or two lines of text on a panel over the lower part of the canvas.
struct LowerThirdOverlay: Sendable, Hashable, Codable {
    var title: String
    var subtitle: String?
    /// The canvas width in pixels, which limits the panel.
    var canvasWidth: Int
    /// The canvas height in pixels; the text size is proportional to it.
    var canvasHeight: Int
    var theme: OverlayTheme = .dark

    /// Returns the position of the panel's upper left corner.
    ///
    /// The panel lies above a ticker, and above a strip of tiles and the tag over the strip, whose names it would hide.
    /// It lies beside a logo at its left, or above a logo that leaves no room for that.
    ///
    /// - Parameter logo: The part of the canvas that a logo covers; nil without one.
    static func origin(
        of panel: OverlayImage,
        on plan: TilePlan,
        beside logo: PixelRectangle? = nil
    ) -> (x: Int, y: Int) {
        let (left, below) = (Int(Double(plan.width) * 0.05), Int(Double(min(plan.width, plan.height)) * 0.1))
        // The distance to a ticker is smaller than that to an edge.
        let bottom = min(plan.stripTop - below, plan.tickerTop - below / 2, plan.topOfTagOverStrip)
        let (x, y) = (left & ~1, (bottom - panel.height) & ~1)
        let place = PixelRectangle(x: x, y: y, width: panel.width, height: panel.height)
        guard let logo, logo.overlaps(place) else { return (x, y) }
        let beside = (logo.right + below / 3 + 1) & ~1
        if logo.x <= x, beside + panel.width <= plan.width - left { return (beside, y) }
        return (x, max(logo.y - below / 3 - panel.height, 0) & ~1)
    }

    /// Returns the drawing; nil without text.
    func drawing() -> Drawing? {
        let side = Double(min(canvasWidth, canvasHeight))
        let room = Double(canvasWidth) * 0.9
        var title = TextStyle(size: side * 0.052, weight: .bold, colour: theme.panelText)
        var subtitle = TextStyle(size: side * 0.034, weight: .regular, colour: theme.faintPanelText)
        let padding = title.size * 0.6
        let bar = (title.size * 0.14).rounded()
        let free = (room - 2 * padding - bar).rounded(.down)
        let first = title.extent(of: self.title, width: free)
        let second = subtitle.extent(of: self.subtitle ?? "", width: free)
        guard first.lines + second.lines > 0, free > 0 else { return nil }
        let text = Double(max(first.width, second.width))
        let heights = (
            first: first.lines > 0 ? title.size * 1.45 : 0,
            second: second.lines > 0 ? subtitle.size * 1.6 : 0
        )
        let edge = padding * 0.55
        var drawing = Drawing(
            width: Int((bar + 2 * padding + text).rounded(.up)),
            height: Int((2 * edge + heights.first + heights.second).rounded(.up))
        )
        let bounds = drawing.bounds
        // The accent lies at the side where reading begins.
        let isMirrored = TextStyle.isRightToLeft(self.title)
        // A panel over arbitrary video is darker than a tag.
        drawing.marks.append(.box(bounds, cornerRadius: 0, theme.panel.with(opacity: 0.8)))
        drawing.marks.append(
            .box(
                DrawingBox(x: isMirrored ? bounds.width - bar : 0, y: 0, width: bar, height: bounds.height),
                cornerRadius: 0,
                theme.accent
            )
        )
        title.placement = .middle
        subtitle.placement = .middle
        let left = isMirrored ? bounds.width - bar - padding - text : bar + padding
        drawing.marks.append(
            .text(self.title, title, DrawingBox(x: left, y: edge, width: text, height: heights.first))
        )
        if let words = self.subtitle {
            let box = DrawingBox(x: left, y: edge + heights.first, width: text, height: heights.second)
            drawing.marks.append(.text(words, subtitle, box))
        }
        return drawing
    }
}
