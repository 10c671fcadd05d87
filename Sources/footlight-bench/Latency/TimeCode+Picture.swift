import FootlightTesting
import Foundation
import Media

extension TimeCode {
    /// Side to which a block is scaled before it is read; of its pixels the inner half of each side counts.
    private static let scaled = 8

    /// Reads the code out of a picture file that shows a host, and nobody else.
    ///
    /// - Parameter frame: Where the program is in the picture, as ffmpeg's crop filter takes it (`W:H:X:Y`); all of it
    ///   when nil.
    static func read(file: String, frame: String? = nil) async throws -> UInt32? {
        let folder = try TemporaryFolder("code")
        // The code lies in the middle of a host's picture of 1280x720.
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

    /// Milliseconds from the moment that a code says to a moment of the wall clock.
    static func age(of code: UInt32, at date: Date) -> Double {
        let elapsed = date.timeIntervalSince1970 * 1000 - clockOffset - Double(code)
        let wrapped = elapsed.truncatingRemainder(dividingBy: 4_294_967_296)
        // The code has whole milliseconds, rounded down: half a millisecond more on average.
        return (wrapped < 0 ? wrapped + 4_294_967_296 : wrapped) - 0.5
    }

    /// Milliseconds of the wall clock minus those of the clock that codes are taken from.
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
