import FootlightTesting
import Foundation
import Testing

@testable import Recording

@Suite("A recording that nobody finished") struct FragmentScanTests {
    private func big(_ number: UInt64, _ count: Int = 4) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(UInt64(content.count + 8)) + Array(type.utf8) + content
    }

    /// One fragment of one track that begins at `start`, in ticks of a thousandth of a second.
    private func file(start: UInt64, run: [UInt8]) -> [UInt8] {
        let header = box("tkhd", big(0, 12) + big(1))
        let media = box("mdia", box("mdhd", big(0, 12) + big(1000)))
        let fragment =
            box("tfhd", big(0) + big(1) + big(UInt64(UInt32.max)))
            + box("tfdt", big(1 << 24) + big(start, 8)) + box("trun", run)
        return box("moov", box("trak", header + media)) + box("moof", box("traf", fragment)) + box("mdat", [1, 2])
    }

    @Test("says how long it lasts, and nothing of a fragment whose numbers are beyond all measure")
    func durations() throws {
        let folder = try TemporaryFolder("scan")
        func scan(_ bytes: [UInt8]) throws -> FragmentScan {
            let path = folder.file("a.mp4")
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return FragmentScan(path: path)
        }
        let good = file(start: 5000, run: big(0x101) + big(2) + big(0) + big(40) + big(40))
        #expect(try scan(good).duration == 5.08)
        #expect(try scan(good).bytes == good.count)
        // The default length of a sample is the longest there is, and there are as many as a number can say.
        for start in [UInt64.max, UInt64.max - 1, 1 << 63] as [UInt64] {
            let huge = file(start: start, run: big(0) + big(UInt64(UInt32.max)))
            #expect(try scan(huge).duration == 0)
        }
    }
}
