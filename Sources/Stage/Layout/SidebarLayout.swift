/// Where one large tile and a strip of small ones below it lie on a canvas.
public enum SidebarLayout {
    /// The large tile and then those of the strip, from left to right.
    ///
    /// The strip has a quarter of the canvas's height. Its tiles are as wide as make a full strip end flush with the
    /// canvas; fewer are centred. A single tile has the whole canvas.
    ///
    /// - Parameters:
    ///   - count: Tiles to place, the large one included; more than find place in the strip are left out.
    ///   - width: Canvas width in pixels, even.
    ///   - height: Canvas height in pixels, even.
    ///   - orientation: Whether the strip's tiles are wide or tall; nil follows the canvas.
    public static func rectangles(
        count: Int,
        width: Int,
        height: Int,
        orientation: Orientation? = nil
    ) -> [TileRectangle] {
        guard count > 1 else { return GridLayout.rectangles(count: count, width: width, height: height) }
        let strip = stripHeight(height)
        let main = height - strip - GridLayout.gap
        let columns = places(width: width, height: height, orientation: orientation)
        let row = TileRectangle(x: 0, y: main + GridLayout.gap, width: width, height: strip)
        return [TileRectangle(x: 0, y: 0, width: width, height: main)]
            + row.tiled(min(count - 1, columns), rows: 1, columns: columns)
    }

    /// How many tiles find place beside the large one: as many of 16:9 as fit, or of 9:16 in portrait, at least one.
    ///
    /// On a canvas of 16:9 or 9:16 that is four.
    public static func places(width: Int, height: Int, orientation: Orientation? = nil) -> Int {
        let strip = Double(stripHeight(height))
        let shape =
            switch orientation ?? Orientation(width: width, height: height) {
            case .landscape: 16.0 / 9
            case .portrait: 9.0 / 16
            }
        // A tenth too little is not seen: 852x480 is meant to be 16:9 too.
        let fitting = Double(width) / max(strip * shape, 1) + 0.1
        return Int(min(max(fitting, 1), Double(GridLayout.maximumTiles - 1)))
    }

    private static func stripHeight(_ height: Int) -> Int {
        TileRectangle.evenFloor(height / 4)
    }
}
