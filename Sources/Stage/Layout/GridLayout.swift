/// Where the tiles of a grid lie on a canvas: row by row, with a gap between them, the last incomplete row centred.
public enum GridLayout {
    /// Pixels between two tiles.
    public static let gap = 8
    /// More hosts than this wait for a place.
    public static let maximumTiles = 12

    /// The rectangles of `count` tiles in row-major order.
    ///
    /// - Parameters:
    ///   - count: Tiles to place; more than `maximumTiles` are cut off.
    ///   - width: Canvas width in pixels, even.
    ///   - height: Canvas height in pixels, even.
    ///   - orientation: Which way the grid is longer; nil follows the canvas.
    public static func rectangles(
        count: Int,
        width: Int,
        height: Int,
        orientation: Orientation? = nil
    ) -> [TileRectangle] {
        let count = min(count, maximumTiles)
        guard count > 0 else { return [] }
        let orientation = orientation ?? Orientation(width: width, height: height)
        let grid = GridGeometry(count: count, orientation: orientation)
        let canvas = TileRectangle(x: 0, y: 0, width: width, height: height)
        return canvas.tiled(count, rows: grid.rows, columns: grid.columns)
    }
}
