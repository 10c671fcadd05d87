/// A place on the canvas in pixels; all four numbers are even, because chroma has half the resolution.
public struct TileRectangle: Sendable, Hashable, Codable {
    public let x: Int
    public let y: Int
    public let width: Int
    public let height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}
