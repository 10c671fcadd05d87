import FootlightTesting
import Foundation
import Glibc
import Testing

@testable import Assets

@Suite("An open file of the store")
struct OpenFileTests {
    @Test("tells of a time of writing beyond the year 2262")
    func farAwayTime() throws {
        let folder = try TemporaryFolder("assets-late")
        let path = folder.file("a.bin")
        try Data([1]).write(to: URL(fileURLWithPath: path))
        var times = [timespec(tv_sec: 13_000_000_000, tv_nsec: 0), timespec(tv_sec: 13_000_000_000, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, path, &times, 0) == 0)
        #expect(try OpenFile(path, flags: O_RDONLY).status().size == 1)
    }
}
