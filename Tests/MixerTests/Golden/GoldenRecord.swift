import Codecs
import Foundation
import NIOCore
import Testing

/// Compares rendered frames with golden lines of text beside the tests.
///
/// A line is the frame's name, followed by each recorded part: its rectangle, `=`, and bytes in hexadecimal digits. The
/// file is rewritten if the environment has `FOOTLIGHT_GOLDEN_FRAMES=write`; with a folder instead, the frames are
/// written there as PNG files.
struct GoldenRecord {
    private static let mode = ProcessInfo.processInfo.environment["FOOTLIGHT_GOLDEN_FRAMES"]

    private let file: URL
    /// The tolerated difference of a byte: text is rendered with the fonts of the machine.
    private let tolerance: Int

    /// - Parameter name: The file's name in the folder of the golden frames.
    init(_ name: String, tolerance: Int) {
        file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: name)
        self.tolerance = tolerance
    }

    /// Compares the rendered lines with the golden file.
    func check(_ lines: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        if Self.mode == "write" {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        }
        let golden = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(golden.count == lines.count, sourceLocation: sourceLocation)
        for (line, agreed) in zip(lines, golden) {
            #expect(isAlike(line, agreed), "\(line)\nagreed: \(agreed)", sourceLocation: sourceLocation)
        }
    }

    /// Returns whether rectangles are equal and colours nearly.
    func isAlike(_ line: String, _ other: String) -> Bool {
        let (parts, others) = (line.split(separator: " "), other.split(separator: " "))
        return parts.count == others.count
            && zip(parts, others).allSatisfy { one, other in
                let (one, other) = (one.split(separator: "="), other.split(separator: "="))
                guard one.count == 2, other.count == 2, one[0] == other[0] else { return one == other }
                return one[1].count == other[1].count
                    && zip(Self.values(one[1]), Self.values(other[1])).allSatisfy { abs($0 - $1) <= tolerance }
            }
    }

    private static func values(_ text: Substring) -> [Int] {
        stride(from: 0, to: text.count - 1, by: 2).map { index in
            let start = text.index(text.startIndex, offsetBy: index)
            return Int(text[start...].prefix(2), radix: 16) ?? -1000
        }
    }

    static func hex(_ value: UInt8) -> String {
        (value < 16 ? "0" : "") + String(value, radix: 16)
    }

    /// Writes the frame as a PNG file, if a folder is set.
    static func writePNG(_ canvas: Canvas, _ name: String) throws {
        guard let mode, mode != "write" else { return }
        let png = try canvas.png()
        let path = URL(fileURLWithPath: mode).appending(path: name.replacingOccurrences(of: " ", with: "_") + ".png")
        try Data(png.readableBytesView).write(to: path)
    }
}
