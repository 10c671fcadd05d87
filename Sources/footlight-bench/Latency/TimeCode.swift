import Codecs
import Foundation
import Media
import TestSupport

/// A time code drawn into a frame as black and white blocks that survive scaling and encoding.
///
/// Four rows of eight blocks hold the milliseconds of the monotonic clock modulo 2^32, the highest bit first; a fifth
/// row holds the exclusive or of the four, so that a blend of two codes is detected. The blocks are centred in the
/// frame, where no crop removes them.
enum TimeCode {
    /// Blocks across.
    static let columns = 8
    /// Blocks down.
    static let rows = 5
    /// Side of a block in the host's frame of 1280x720.
    static let side = 48
    private static let frameWidth = 1280
    private static let frameHeight = 720

    /// Draws the code for `milliseconds` into the centre of a canvas of 1280x720.
    static func draw(_ milliseconds: UInt32, on canvas: Canvas) {
        let (left, top) = ((frameWidth - columns * side) / 2, (frameHeight - rows * side) / 2)
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

    /// Reads the code of a host shown in `tile`, filling it; nil when there is no valid one.
    static func read(_ canvas: Canvas, tile: PixelRectangle) -> UInt32? {
        let scale = max(Double(tile.width) / Double(frameWidth), Double(tile.height) / Double(frameHeight))
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

    /// Returns the milliseconds encoded by five rows of blocks, white ones being 1; nil when the checksum does not
    /// match.
    static func value(of rows: [UInt8]) -> UInt32? {
        let value = rows.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return rows == bytes(of: value) && value != 0 ? value : nil
    }

    private static func bytes(of milliseconds: UInt32) -> [UInt8] {
        let parts = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: milliseconds >> UInt32($0)) }
        return parts + [parts.reduce(0x5A, ^)]
    }
}

extension TimeCode {
    /// The side to which a block is scaled before it is read; the inner half of each side is sampled.
    private static let scaled = 8

    /// Reads the code from an image file that shows exactly one host.
    ///
    /// - Parameter frame: The program's rectangle in the image, in the syntax of ffmpeg's crop filter (`W:H:X:Y`); nil
    ///   for the whole image.
    static func read(file: String, frame: String? = nil) async throws -> UInt32? {
        let folder = try TemporaryFolder("code")
        // The code is at the centre of a host's frame of 1280x720.
        let (width, height) = (columns * side, rows * side)
        let filters =
            [frame.map { "crop=\($0)" }].compactMap(\.self) + [
                "crop=iw*\(width)/1280:ih*\(height)/720", "scale=\(columns * scaled):\(rows * scaled):flags=area",
                "format=gray",
            ]
        try await ChildProcess.run(
            ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", file, "-vf", filters.joined(separator: ",")]
                + ["-f", "rawvideo", folder.file("raw")],
            within: .seconds(10)
        )
        let pixels = [UInt8](FileManager.default.contents(atPath: folder.file("raw")) ?? Data())
        guard pixels.count == columns * scaled * rows * scaled else { return nil }
        return value(
            of: (0..<rows).map { row in
                (0..<columns).reduce(UInt8(0)) { byte, column in
                    byte << 1 | (isWhite(pixels, row: row, column: column) ? 1 : 0)
                }
            }
        )
    }

    /// Returns the milliseconds from a code to a moment of the wall clock.
    static func age(of code: UInt32, at date: Date) -> Double {
        let elapsed = date.timeIntervalSince1970 * 1000 - clockOffset - Double(code)
        let wrapped = elapsed.truncatingRemainder(dividingBy: 4_294_967_296)
        // The code is rounded down to milliseconds: half a millisecond on average.
        return (wrapped < 0 ? wrapped + 4_294_967_296 : wrapped) - 0.5
    }

    /// Milliseconds of the wall clock minus those of the monotonic clock of the codes.
    static var clockOffset: Double {
        Date().timeIntervalSince1970 * 1000 - Double(MonotonicTime.now().nanoseconds) / 1e6
    }

    private static func isWhite(_ pixels: [UInt8], row: Int, column: Int) -> Bool {
        let inner = scaled / 4..<scaled * 3 / 4
        let sum = inner.reduce(0) { sum, y in
            inner.reduce(sum) { sum, x in
                sum + Int(pixels[(row * scaled + y) * columns * scaled + column * scaled + x])
            }
        }
        return sum > 125 * inner.count * inner.count
    }
}
