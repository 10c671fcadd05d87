/// What is on air in a room at one moment: the arrangement, the canvas, and each tile.
public struct LayoutView: Sendable, Hashable {
    /// How the tiles are arranged.
    public var settings: LayoutSettings
    /// Canvas width in pixels.
    public var width: Int
    /// Canvas height in pixels.
    public var height: Int
    /// In order of position.
    public var tiles: [Tile]

    /// Which way the tiles are arranged.
    public var orientation: Orientation {
        settings.orientation ?? Orientation(width: width, height: height)
    }

    /// Makes a layout from its parts.
    public init(settings: LayoutSettings, width: Int, height: Int, tiles: [Tile]) {
        self.settings = settings
        self.width = width
        self.height = height
        self.tiles = tiles
    }
}
