/// Dividing a part of the canvas into tiles.
///
/// Every number stays even as long as those of the part are.
extension TileRectangle {
    /// `count` tiles of one size in row-major order, centred in here, `GridLayout.gap` apart.
    ///
    /// The tiles are as large as `rows` times `columns` of them would be; an incomplete row is centred, and so is an
    /// incomplete stack of rows.
    func tiled(_ count: Int, rows: Int, columns: Int) -> [TileRectangle] {
        guard count > 0, rows > 0, columns > 0 else { return [] }
        let tileWidth = Self.share(of: width, columns)
        let tileHeight = Self.share(of: height, rows)
        let usedRows = min((count + columns - 1) / columns, rows)
        let top = y + Self.evenFloor((height - Self.span(usedRows, tileHeight)) / 2)
        return (0..<min(count, rows * columns)).map { index in
            let row = index / columns
            let inRow = min(columns, count - row * columns)
            let left = x + Self.evenFloor((width - Self.span(inRow, tileWidth)) / 2)
            return TileRectangle(
                x: left + index % columns * (tileWidth + GridLayout.gap),
                y: top + row * (tileHeight + GridLayout.gap),
                width: tileWidth,
                height: tileHeight
            )
        }
    }

    static func evenFloor(_ value: Int) -> Int {
        value - value % 2
    }

    /// The length of each of `parts` that share a length, gaps taken off.
    private static func share(of length: Int, _ parts: Int) -> Int {
        evenFloor((length - (parts - 1) * GridLayout.gap) / parts)
    }

    private static func span(_ tiles: Int, _ length: Int) -> Int {
        tiles * length + (tiles - 1) * GridLayout.gap
    }
}
