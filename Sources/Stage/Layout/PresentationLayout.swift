/// Where a shared screen and the grid beside it lie on a canvas.
public enum PresentationLayout {
    /// The large tile and then those of the grid, row by row.
    ///
    /// The grid has the right quarter of a landscape canvas, in one column of up to four tiles or two of up to six, or
    /// the lowest quarter of a portrait canvas, in one row or two likewise. A single tile has the whole canvas.
    ///
    /// - Parameters:
    ///   - count: Tiles to place, the large one included; more than `GridLayout.maximumTiles` are left out.
    ///   - width: Canvas width in pixels, even.
    ///   - height: Canvas height in pixels, even.
    ///   - orientation: Which side the grid is on; nil follows the canvas.
    public static func rectangles(
        count: Int,
        width: Int,
        height: Int,
        orientation: Orientation? = nil
    ) -> [TileRectangle] {
        guard count > 1 else { return GridLayout.rectangles(count: count, width: width, height: height) }
        let others = min(count, GridLayout.maximumTiles) - 1
        switch orientation ?? Orientation(width: width, height: height) {
        case .landscape:
            let side = TileRectangle.evenFloor(width / 4)
            let main = width - side - GridLayout.gap
            let column = TileRectangle(x: main + GridLayout.gap, y: 0, width: side, height: height)
            return [TileRectangle(x: 0, y: 0, width: main, height: height)]
                + column.tiled(others, rows: others <= 4 ? 4 : 6, columns: others <= 4 ? 1 : 2)
        case .portrait:
            let side = TileRectangle.evenFloor(height / 4)
            let main = height - side - GridLayout.gap
            let row = TileRectangle(x: 0, y: main + GridLayout.gap, width: width, height: side)
            return [TileRectangle(x: 0, y: 0, width: width, height: main)]
                + row.tiled(others, rows: others <= 4 ? 1 : 2, columns: others <= 4 ? 4 : (others + 1) / 2)
        }
    }
}
