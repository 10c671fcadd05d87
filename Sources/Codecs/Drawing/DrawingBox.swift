/// A place in a drawing, in pixels from its upper left corner; need be neither even nor whole.
public struct DrawingBox: Sendable, Hashable {
    /// Left edge.
    public var x: Double
    /// Upper edge.
    public var y: Double
    /// Pixels across.
    public var width: Double
    /// Pixels down.
    public var height: Double

    /// Makes a box.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// A box of whole pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.init(x: Double(x), y: Double(y), width: Double(width), height: Double(height))
    }

    /// The box that is smaller by `distance` on each side.
    public func inset(by distance: Double) -> DrawingBox {
        DrawingBox(
            x: x + distance,
            y: y + distance,
            width: max(width - 2 * distance, 0),
            height: max(height - 2 * distance, 0)
        )
    }
}
