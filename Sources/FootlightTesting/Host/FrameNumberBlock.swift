/// Where the number of a frame stands in the picture: sixteen squares in the middle, one bit each, white for 1.
///
/// The block is a quarter of the height wide and high, so it survives a crop to any tile and a scaling to a quarter.
struct FrameNumberBlock {
    struct Cell {
        var bit: Int
        var x: Int
        var y: Int
        var side: Int
    }

    /// The squares from the lowest bit to the highest, in rows of four.
    let cells: [Cell]

    /// The block of a picture, or of a tile that shows the middle of the picture at `height` / its own height.
    init(x: Int = 0, y: Int = 0, width: Int, height: Int) {
        let side = height / 16 / 2 * 2
        let left = x + (width / 2 - side * 2) / 2 * 2
        let top = y + (height / 2 - side * 2) / 2 * 2
        cells = (0..<16).map { Cell(bit: $0, x: left + $0 % 4 * side, y: top + $0 / 4 * side, side: side) }
    }
}
