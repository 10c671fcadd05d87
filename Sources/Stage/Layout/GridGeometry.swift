/// How many rows and columns a grid of tiles has.
public struct GridGeometry: Sendable, Equatable {
    /// The device a grid is drawn for; the composed program uses `pad`.
    public enum Idiom: Sendable {
        case phone
        case pad

        /// More tiles than this are never shown at the same time.
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

    /// Makes a grid of a given shape.
    public init(rows: Int, columns: Int) {
        self.rows = rows
        self.columns = columns
    }

    /// The grid for `count` tiles; a phone holds at most 6 and a pad at most 12, whatever the count.
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
