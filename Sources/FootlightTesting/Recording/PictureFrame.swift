/// One decoded picture.
public struct PictureFrame: Sendable {
    /// Pixels.
    public let width: Int
    /// Pixels.
    public let height: Int
    /// When it is shown, in seconds from the start of its recording.
    public let time: Double
    /// Red, green, blue; row by row from the top left; `width * height * 3` bytes.
    public let pixels: [UInt8]

    /// The colour of one pixel; a place outside of the picture is read at its edge.
    public func colour(x: Int, y: Int) -> Colour {
        let column = min(max(x, 0), width - 1)
        let row = min(max(y, 0), height - 1)
        let start = (row * width + column) * 3
        return Colour(red: Int(pixels[start]), green: Int(pixels[start + 1]), blue: Int(pixels[start + 2]))
    }

    /// The mean colour of a rectangle, cut to the picture; black when nothing of it is inside.
    public func averageColour(x: Int, y: Int, width: Int, height: Int) -> Colour {
        let columns = max(x, 0)..<max(max(x, 0), min(x + width, self.width))
        let rows = max(y, 0)..<max(max(y, 0), min(y + height, self.height))
        let count = columns.count * rows.count
        guard count > 0 else { return .black }
        var sums = (0, 0, 0)
        pixels.withUnsafeBufferPointer { pixels in
            for row in rows {
                for column in columns {
                    let start = (row * self.width + column) * 3
                    sums.0 += Int(pixels[start])
                    sums.1 += Int(pixels[start + 1])
                    sums.2 += Int(pixels[start + 2])
                }
            }
        }
        let half = count / 2
        return Colour(red: (sums.0 + half) / count, green: (sums.1 + half) / count, blue: (sums.2 + half) / count)
    }

    /// The number that a host with `hasFrameNumber` wrote into the middle of the picture, from 0 to 65535.
    ///
    /// - Parameters:
    ///   - x: Left edge of the tile that shows the host, in pixels; the whole picture without these four.
    ///   - y: Top edge.
    ///   - width: Width of the tile.
    ///   - height: Height that the host's whole picture has in the tile, which is more than the tile's own when the top
    ///     and bottom are cropped.
    /// - Returns: nil when a square is neither black nor white, as in a blend of two pictures.
    public func frameNumber(x: Int = 0, y: Int = 0, width: Int? = nil, height: Int? = nil) -> Int? {
        let block = FrameNumberBlock(x: x, y: y, width: width ?? self.width, height: height ?? self.height)
        var number = 0
        for cell in block.cells {
            // The edge of a square is soft after scaling and compression.
            let inset = cell.side / 4
            let side = cell.side - 2 * inset
            let luma = averageColour(x: cell.x + inset, y: cell.y + inset, width: side, height: side).luma
            guard luma < 80 || luma > 175 else { return nil }
            if luma > 175 { number |= 1 << cell.bit }
        }
        return number
    }
}

extension PictureFrame: CustomStringConvertible {
    /// Size and time; the pixels would fill a failed test's report with millions of numbers.
    public var description: String { "\(width)x\(height) at \(time) s" }
}
