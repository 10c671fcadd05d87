/// A decoded video frame in 24-bit RGB.
public struct RGBFrame: Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The presentation time in seconds from the start of its recording.
    public let time: Double
    /// The red, green and blue bytes in rows from the top left; `width * height * 3` bytes.
    public let pixels: [UInt8]

    /// Returns the colour of a pixel; coordinates are clamped to the frame.
    public func colour(x: Int, y: Int) -> Colour {
        let column = min(max(x, 0), width - 1)
        let row = min(max(y, 0), height - 1)
        let start = (row * width + column) * 3
        return Colour(red: Int(pixels[start]), green: Int(pixels[start + 1]), blue: Int(pixels[start + 2]))
    }

    /// Returns the mean colour of a rectangle clipped to the frame; black if it is outside.
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

    /// Returns the number, 0 to 65535, that a host with `hasFrameNumber` encoded in the frame.
    ///
    /// - Parameters:
    ///   - x: The left edge in pixels of the tile that shows the host; the full frame by default.
    ///   - y: The top edge of the tile.
    ///   - width: The width of the tile.
    ///   - height: The height of the host's full frame in the tile, which exceeds the tile's height if the top and
    ///     bottom are cropped.
    /// - Returns: nil if a square is neither black nor white, as in a blend of two frames.
    public func frameNumber(x: Int = 0, y: Int = 0, width: Int? = nil, height: Int? = nil) -> Int? {
        let block = FrameNumberBlock(x: x, y: y, width: width ?? self.width, height: height ?? self.height)
        var number = 0
        for cell in block.cells {
            // The edges of a square are soft after scaling and compression.
            let inset = cell.side / 4
            let side = cell.side - 2 * inset
            let luma = averageColour(x: cell.x + inset, y: cell.y + inset, width: side, height: side).luma
            guard luma < 80 || luma > 175 else { return nil }
            if luma > 175 { number |= 1 << cell.bit }
        }
        return number
    }
}

extension RGBFrame: CustomStringConvertible {
    /// The size and time; the pixels would make a test report unreadable.
    public var description: String { "\(width)x\(height) at \(time) s" }
}

/// An 8-bit full-range RGB colour.
public struct Colour: Sendable, Hashable, CustomStringConvertible {
    /// Red, 0 to 255.
    public var red: Int
    /// Green, 0 to 255.
    public var green: Int
    /// Blue, 0 to 255.
    public var blue: Int

    /// Creates a colour from its components, 0 to 255 each.
    public init(red: Int, green: Int, blue: Int) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// A saturated red.
    public static let red = Colour(red: 200, green: 30, blue: 30)
    /// A saturated green.
    public static let green = Colour(red: 30, green: 170, blue: 40)
    /// A saturated blue.
    public static let blue = Colour(red: 30, green: 50, blue: 200)
    /// A saturated yellow.
    public static let yellow = Colour(red: 220, green: 200, blue: 30)
    /// Middle grey.
    public static let grey = Colour(red: 128, green: 128, blue: 128)
    /// Black.
    public static let black = Colour(red: 0, green: 0, blue: 0)
    /// White.
    public static let white = Colour(red: 255, green: 255, blue: 255)

    /// Returns the largest component difference: 0 for equal colours, 255 between black and white.
    public func distance(to other: Colour) -> Int {
        max(abs(red - other.red), abs(green - other.green), abs(blue - other.blue))
    }

    /// The luma by the weights of BT.601, 0 to 255.
    public var luma: Double {
        0.299 * Double(red) + 0.587 * Double(green) + 0.114 * Double(blue)
    }

    /// The components as six hexadecimal digits after `#`.
    public var description: String {
        "#"
            + [red, green, blue].map {
                let digits = String(min(max($0, 0), 255), radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
    }
}

/// The position of the frame number in a frame: sixteen squares in the centre, one bit each, white for 1.
///
/// The block is a quarter of the frame's height in size, so it survives cropping to a tile and scaling to a quarter.
struct FrameNumberBlock {
    struct Cell {
        var bit: Int
        var x: Int
        var y: Int
        var side: Int
    }

    /// The squares from the least to the most significant bit, in rows of four.
    let cells: [Cell]

    /// Creates the block of a frame, or of a tile that shows the centre of a frame scaled to `height`.
    init(x: Int = 0, y: Int = 0, width: Int, height: Int) {
        let side = height / 16 / 2 * 2
        let left = x + (width / 2 - side * 2) / 2 * 2
        let top = y + (height / 2 - side * 2) / 2 * 2
        cells = (0..<16).map { Cell(bit: $0, x: left + $0 % 4 * side, y: top + $0 / 4 * side, side: side) }
    }
}
