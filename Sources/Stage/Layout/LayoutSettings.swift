/// How a room's tiles are arranged.
public struct LayoutSettings: Sendable, Hashable {
    /// The arrangements there are.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// Tiles of one size, row by row.
        case grid = "GRID"
    }

    /// The arrangement.
    public var kind: Kind
    /// Tiles at the same time, 1 to 12; hosts beyond wait for a place.
    public var gridSize: Int

    /// Makes settings; a grid of up to twelve tiles by default.
    public init(kind: Kind = .grid, gridSize: Int = GridLayout.maximumTiles) {
        self.kind = kind
        self.gridSize = gridSize
    }

    /// Checks the grid's size.
    ///
    /// - Throws: 3073 naming `layout.grid_size`.
    public func validate() throws(StageError) {
        try StageError.check(gridSize, in: 1...GridLayout.maximumTiles, field: "layout.grid_size")
    }
}
