import Stage

extension Scene {
    /// Whether a tile lies wholly under a later one: each is painted to its edges, whatever it shows.
    func isCovered(_ index: Int) -> Bool {
        tiles[(index + 1)...].contains { $0.rectangle.covers(tiles[index].rectangle) }
    }
}

extension TileRectangle {
    /// Numbers from outside may be anything; beyond this no canvas is.
    private static let largest: UInt = 1 << 24

    /// Whether nothing is seen of a tile in `other` when one in this rectangle is painted over it.
    ///
    /// Four pixels share a colour, so what is not on even edges is held to reach as far as its colours do, and to cover
    /// nothing.
    fileprivate func covers(_ other: TileRectangle) -> Bool {
        let numbers = [x, y, width, height]
        guard numbers.allSatisfy({ $0 & 1 == 0 && $0.magnitude <= Self.largest }),
            [other.x, other.y, other.width, other.height].allSatisfy({ $0.magnitude <= Self.largest })
        else { return false }
        let (right, bottom) = ((other.x + other.width + 1) & ~1, (other.y + other.height + 1) & ~1)
        return x <= other.x & ~1 && y <= other.y & ~1 && right <= x + width && bottom <= y + height
    }
}
