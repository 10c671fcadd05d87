/// A place on the canvas in pixels; all four numbers are even, because chroma has half the resolution.
public struct TileRectangle: Sendable, Hashable, Codable {
    /// Pixels from the left.
    public let x: Int
    /// Pixels from the top.
    public let y: Int
    /// Pixels across.
    public let width: Int
    /// Pixels down.
    public let height: Int

    /// Makes a rectangle.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}
