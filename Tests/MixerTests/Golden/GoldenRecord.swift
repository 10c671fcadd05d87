import Codecs
import Foundation
import NIOCore
import Testing

/// What pictures look like, as lines of text that are kept beside the tests.
///
/// A line is the picture's name and then for each part of it that matters where it lies, `=`, and bytes in hexadecimal
/// digits. The file is written anew when the environment has `FOOTLIGHT_GOLDEN_FRAMES=write`; with a folder instead, the
/// pictures are put there as PNGs to be looked at.
struct GoldenRecord {
    private static let wish = ProcessInfo.processInfo.environment["FOOTLIGHT_GOLDEN_FRAMES"]

    private let file: URL
    /// By how much a byte may be another one: letters come from the fonts of the machine.
    private let tolerance: Int

    /// - Parameter name: The file's name in the folder of the golden frames.
    init(_ name: String, tolerance: Int) {
        file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: name)
        self.tolerance = tolerance
    }

    /// Compares what was painted with what was agreed.
    func check(_ lines: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        if Self.wish == "write" {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        }
        let golden = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(golden.count == lines.count, sourceLocation: sourceLocation)
        for (line, agreed) in zip(lines, golden) {
            #expect(isAlike(line, agreed), "\(line)\nagreed: \(agreed)", sourceLocation: sourceLocation)
        }
    }

    /// Whether places are the same and colours nearly.
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

    /// Puts the picture where it can be looked at, if that is wished for.
    static func keep(_ canvas: Canvas, _ name: String) throws {
        guard let wish, wish != "write" else { return }
        let png = try canvas.png()
        let path = URL(fileURLWithPath: wish).appending(path: name.replacingOccurrences(of: " ", with: "_") + ".png")
        try Data(png.readableBytesView).write(to: path)
    }
}
