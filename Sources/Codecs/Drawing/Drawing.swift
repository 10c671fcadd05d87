/// What is to be drawn, in painting order; a value that says nothing about how.
///
/// `render()` turns it into an overlay. It takes milliseconds, and the first one of a thread tens of them while fonts are
/// looked up: do it on a thread that nobody waits for.
public struct Drawing: Sendable {
    /// One thing on a drawing.
    public enum Mark: Sendable {
        /// A filled rectangle with round corners.
        case box(DrawingBox, cornerRadius: Double, RGBAColour)
        /// A filled rectangle whose colour changes evenly from its upper to its lower edge.
        case gradient(DrawingBox, upper: RGBAColour, lower: RGBAColour)
        /// The largest filled circle in the middle of a box.
        case disc(DrawingBox, RGBAColour)
        /// Text, cut or wrapped to the box's width.
        case text(String, TextStyle, DrawingBox)
        /// A symbol in the middle of a box.
        case icon(DrawingIcon, DrawingBox, RGBAColour)
        /// An image at its own size, its upper left corner at a pixel, its corners rounded.
        case image(StillPicture, x: Int, y: Int, cornerRadius: Double, opacity: Double)
    }

    /// Pixels across, even.
    public let width: Int
    /// Pixels down, even.
    public let height: Int
    /// What is drawn, the first below all others.
    public var marks: [Mark]

    /// A drawing; nothing is seen where nothing is drawn.
    ///
    /// - Parameters:
    ///   - width: Pixels; rounded up to an even number.
    ///   - height: Pixels; rounded up to an even number.
    public init(width: Int, height: Int, marks: [Mark] = []) {
        // Limited first, so that no sum of a large number runs over.
        self.width = (min(max(width, 0), OverlayPicture.longestSide) + 1) & ~1
        self.height = (min(max(height, 0), OverlayPicture.longestSide) + 1) & ~1
        self.marks = marks
    }

    /// The whole drawing.
    public var bounds: DrawingBox { DrawingBox(x: 0, y: 0, width: width, height: height) }

    /// Draws everything.
    ///
    /// May be called on any thread, by several at a time: fonts are kept per thread.
    ///
    /// - Throws: `.badConfiguration` for an empty drawing, `.tooLarge` beyond the limits of `OverlayPicture`.
    public func render() throws(CodecError) -> OverlayPicture {
        let picture = try OverlayPicture(width: width, height: height)
        // A surface of cairo's is at most 32767 pixels a side, and one as long as a ticker would be needless memory.
        let step = DrawingSurface.longestSide
        for y in stride(from: 0, to: height, by: step) {
            for x in stride(from: 0, to: width, by: step) {
                let part = PixelRectangle(x: x, y: y, width: min(step, width - x), height: min(step, height - y))
                let surface = try DrawingSurface(showing: part)
                for mark in marks { surface.draw(mark) }
                surface.copy(to: picture, at: part)
            }
        }
        picture.findRuns()
        return picture
    }
}
