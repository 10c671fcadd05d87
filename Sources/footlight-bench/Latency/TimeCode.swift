import Codecs

/// A moment written into a picture as black and white blocks that survive scaling and coding.
///
/// Four rows of eight blocks hold the milliseconds of the monotonic clock modulo 2^32, the highest bit first; a fifth
/// row holds the exclusive or of the four, so that a picture caught between two codes is told from a good one. The
/// blocks lie around the picture's centre, which no crop takes away.
enum TimeCode {
    /// Blocks across.
    static let columns = 8
    /// Blocks down.
    static let rows = 5
    /// Side of a block in the host's picture of 1280x720.
    static let side = 48
    private static let pictureWidth = 1280
    private static let pictureHeight = 720

    /// Writes the code for `milliseconds` into the centre of a canvas of 1280x720.
    static func draw(_ milliseconds: UInt32, on canvas: Canvas) {
        let (left, top) = ((pictureWidth - columns * side) / 2, (pictureHeight - rows * side) / 2)
        for (row, byte) in bytes(of: milliseconds).enumerated() {
            for column in 0..<columns {
                let isWhite = byte & (0x80 >> UInt8(column)) != 0
                canvas.fill(
                    PixelRectangle(x: left + column * side, y: top + row * side, width: side, height: side),
                    isWhite ? YUVColour(y: 235, u: 128, v: 128) : .black
                )
            }
        }
    }

    /// Reads the code of a host shown in `tile`, filling it; nil when there is none or it cannot be trusted.
    static func read(_ canvas: Canvas, tile: PixelRectangle) -> UInt32? {
        let scale = max(Double(tile.width) / Double(pictureWidth), Double(tile.height) / Double(pictureHeight))
        let pitch = Double(side) * scale
        let (middleX, middleY) = (Double(tile.x) + Double(tile.width) / 2, Double(tile.y) + Double(tile.height) / 2)
        var read: [UInt8] = []
        for row in 0..<rows {
            var byte: UInt8 = 0
            for column in 0..<columns {
                let x = middleX + (Double(column) - Double(columns) / 2 + 0.5) * pitch
                let y = middleY + (Double(row) - Double(rows) / 2 + 0.5) * pitch
                // The inner half of the block.
                let inner = Int(pitch / 2)
                let part = PixelRectangle(x: Int(x) - inner / 2, y: Int(y) - inner / 2, width: inner, height: inner)
                byte = byte << 1 | (canvas.averageColour(of: part).y > 125 ? 1 : 0)
            }
            read.append(byte)
        }
        return value(of: read)
    }

    /// The milliseconds that five rows of blocks say, white ones being 1; nil when they do not belong together.
    static func value(of rows: [UInt8]) -> UInt32? {
        let value = rows.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return rows == bytes(of: value) && value != 0 ? value : nil
    }

    private static func bytes(of milliseconds: UInt32) -> [UInt8] {
        let parts = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: milliseconds >> UInt32($0)) }
        return parts + [parts.reduce(0x5A, ^)]
    }
}
