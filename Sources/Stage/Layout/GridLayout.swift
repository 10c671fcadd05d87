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
    public static func rectangles(count: Int, width: Int, height: Int) -> [TileRectangle] {
        let count = min(count, maximumTiles)
        guard count > 0 else { return [] }
        let grid = GridGeometry(count: count, orientation: Orientation(width: width, height: height))
        let tileWidth = evenFloor((width - (grid.columns - 1) * gap) / grid.columns)
        let tileHeight = evenFloor((height - (grid.rows - 1) * gap) / grid.rows)
        let top = evenFloor((height - span(grid.rows, tileHeight)) / 2)
        return (0..<count).map { index in
            let row = index / grid.columns
            let inRow = min(grid.columns, count - row * grid.columns)
            let left = evenFloor((width - span(inRow, tileWidth)) / 2)
            return TileRectangle(
                x: left + index % grid.columns * (tileWidth + gap),
                y: top + row * (tileHeight + gap),
                width: tileWidth,
                height: tileHeight
            )
        }
    }

    private static func span(_ tiles: Int, _ length: Int) -> Int {
        tiles * length + (tiles - 1) * gap
    }

    private static func evenFloor(_ value: Int) -> Int {
        value - value % 2
    }
}
