/// The geometry of a grid on a canvas: row by row, with a gap between tiles, the last incomplete row centred.
public enum GridLayout {
    /// Pixels between two tiles.
    public static let gap = 8
    /// The maximum number of tiles.
    public static let maximumTiles = 12

    /// Returns the rectangles of `count` tiles in row-major order.
    ///
    /// - Parameters:
    ///   - count: The number of tiles, limited to `maximumTiles`.
    ///   - width: Canvas width in pixels, even.
    ///   - height: Canvas height in pixels, even.
    ///   - orientation: The longer side of the grid; nil follows the canvas.
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

/// The number of rows and columns of a grid of tiles.
public struct GridGeometry: Sendable, Equatable {
    /// The device a grid is drawn for; the composed program uses `pad`.
    public enum Idiom: Sendable {
        case phone
        case pad

        /// The maximum number of tiles.
        public var maximumTiles: Int {
            switch self {
            case .phone: 6
            case .pad: 12
            }
        }
    }

    /// Tiles from top to bottom.
    public let rows: Int
    /// Tiles from left to right.
    public let columns: Int

    /// Creates a grid of a given shape.
    public init(rows: Int, columns: Int) {
        self.rows = rows
        self.columns = columns
    }

    /// Creates the grid for `count` tiles; a phone has at most 6 and a pad at most 12.
    public init(count: Int, orientation: Orientation, idiom: Idiom = .pad) {
        let (long, short) = Self.sides(count: max(count, 0), idiom: idiom)
        switch orientation {
        case .portrait: self.init(rows: long, columns: short)
        case .landscape: self.init(rows: short, columns: long)
        }
    }

    private static func sides(count: Int, idiom: Idiom) -> (long: Int, short: Int) {
        switch (count, idiom) {
        case (0, _): (0, 0)
        case (1, _): (1, 1)
        case (2...3, _): (count, 1)
        case (4, _): (2, 2)
        case (5...6, _), (_, .phone): (3, 2)
        case (7...8, .pad): (4, 2)
        case (9, .pad): (3, 3)
        default: (4, 3)
        }
    }
}

/// The geometry of one large tile with a strip of small ones below it.
public enum SidebarLayout {
    /// Returns the large tile and then those of the strip, from left to right.
    ///
    /// The strip has a quarter of the canvas's height. Tiles of the canvas's shape are centred in it; more than fit are
    /// narrower, and span the canvas's width in one row or two. A single tile fills the canvas.
    ///
    /// - Parameters:
    ///   - count: The number of tiles, the large one included; tiles beyond the strip's capacity are omitted.
    ///   - width: Canvas width in pixels, even.
    ///   - height: Canvas height in pixels, even.
    ///   - orientation: Whether the strip's tiles are wide or tall; nil follows the canvas.
    ///   - stripSize: The strip's capacity; nil for as many tiles of the canvas's shape as fit.
    public static func rectangles(
        count: Int,
        width: Int,
        height: Int,
        orientation: Orientation? = nil,
        stripSize: Int? = nil
    ) -> [TileRectangle] {
        guard count > 1 else { return GridLayout.rectangles(count: count, width: width, height: height) }
        let strip = stripHeight(height)
        let main = height - strip - GridLayout.gap
        let row = TileRectangle(x: 0, y: main + GridLayout.gap, width: width, height: strip)
        let fitting = stripCapacity(width: width, height: height, orientation: orientation)
        let others = min(count - 1, stripSize.map(limited) ?? fitting)
        let grid =
            others <= fitting
            ? GridGeometry(rows: 1, columns: fitting)
            : narrowGrid(others, in: row, orientation ?? Orientation(width: width, height: height))
        return [TileRectangle(x: 0, y: 0, width: width, height: main)]
            + row.tiled(others, rows: grid.rows, columns: grid.columns)
    }

    /// Returns the strip's capacity: as many tiles of 16:9 as fit, or of 9:16 in portrait, at least one.
    ///
    /// On a canvas of 16:9 or 9:16 the capacity is four.
    public static func stripCapacity(width: Int, height: Int, orientation: Orientation? = nil) -> Int {
        let strip = Double(stripHeight(height))
        let shape =
            switch orientation ?? Orientation(width: width, height: height) {
            case .landscape: 16.0 / 9
            case .portrait: 9.0 / 16
            }
        // A tolerance of a tenth: 852x480 counts as 16:9.
        let fitting = Double(width) / max(strip * shape, 1) + 0.1
        return limited(Int(min(fitting, Double(GridLayout.maximumTiles))))
    }

    /// Returns a number of tiles that a strip can have beside the large one.
    private static func limited(_ count: Int) -> Int {
        min(max(count, 1), GridLayout.maximumTiles - 1)
    }

    /// Returns the grid of one row or two whose tiles are nearer to 4:3, or 3:4 in portrait, in which a face is whole.
    private static func narrowGrid(_ count: Int, in row: TileRectangle, _ orientation: Orientation) -> GridGeometry {
        let shape = orientation == .landscape ? 4.0 / 3 : 3.0 / 4
        func distance(_ grid: GridGeometry) -> Double {
            guard let tile = row.tiled(1, rows: grid.rows, columns: grid.columns).first else { return .infinity }
            let own = Double(max(tile.width, 1)) / Double(max(tile.height, 1))
            return max(own / shape, shape / own)
        }
        let (one, two) = (GridGeometry(rows: 1, columns: count), GridGeometry(rows: 2, columns: (count + 1) / 2))
        return distance(one) <= distance(two) ? one : two
    }

    private static func stripHeight(_ height: Int) -> Int {
        TileRectangle.evenFloor(height / 4)
    }
}

/// The geometry of a shared screen with a grid beside it.
public enum PresentationLayout {
    /// Returns the large tile and then those of the grid, row by row.
    ///
    /// The grid has the right quarter of a landscape canvas, in one column of up to four tiles or two of up to six, or
    /// the lowest quarter of a portrait canvas, in one row or two likewise. A single tile has the whole canvas.
    ///
    /// - Parameters:
    ///   - count: The number of tiles, the large one included, limited to `GridLayout.maximumTiles`.
    ///   - width: Canvas width in pixels, even.
    ///   - height: Canvas height in pixels, even.
    ///   - orientation: The side of the grid; nil follows the canvas.
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

/// The orientation of a canvas.
public enum Orientation: String, Sendable, Hashable, Codable, CaseIterable {
    case landscape
    case portrait

    /// Portrait when `width` is less than `height`; a square is landscape.
    public init(width: Int, height: Int) {
        self = width < height ? .portrait : .landscape
    }
}

/// A rectangle on the canvas in pixels; all four numbers are even, because chroma has half the resolution.
public struct TileRectangle: Sendable, Hashable, Codable {
    /// The left edge in pixels.
    public let x: Int
    /// The top edge in pixels.
    public let y: Int
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int

    /// Creates a rectangle.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// Division of a rectangle into tiles.
///
/// All numbers stay even if those of the rectangle are.
extension TileRectangle {
    /// Returns `count` tiles of one size in row-major order, centred in the rectangle, `GridLayout.gap` apart.
    ///
    /// The tiles have the size of a full grid of `rows` times `columns`; an incomplete row is centred, and so is an
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

    /// Returns the length of each of `parts`, without the gaps.
    private static func share(of length: Int, _ parts: Int) -> Int {
        evenFloor((length - (parts - 1) * GridLayout.gap) / parts)
    }

    private static func span(_ tiles: Int, _ length: Int) -> Int {
        tiles * length + (tiles - 1) * GridLayout.gap
    }
}
