/// What is on air.
public struct LayoutResource: Codable, Sendable, Hashable {
    /// `GRID`.
    public var type: String
    /// Tiles at the same time at most.
    public var gridSize: Int
    /// `landscape` or `portrait`.
    public var orientation: String
    /// Canvas width in pixels.
    public var width: Int
    /// Canvas height in pixels.
    public var height: Int
    /// In order of position.
    public var tiles: [TileResource]

    /// Makes a layout.
    public init(type: String, gridSize: Int, orientation: String, width: Int, height: Int, tiles: [TileResource]) {
        self.type = type
        self.gridSize = gridSize
        self.orientation = orientation
        self.width = width
        self.height = height
        self.tiles = tiles
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case gridSize = "grid_size"
        case orientation
        case width
        case height
        case tiles
    }
}
