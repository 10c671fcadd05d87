import Foundation
import FootlightTesting
import Testing

@Suite("Folders and ports of a test") struct FolderAndPortTests {
    @Test("A folder goes away with its value, and lists its files oldest first")
    func folder() throws {
        var folder: TemporaryFolder? = try TemporaryFolder("mine")
        let path = try #require(folder?.path)
        let later = try #require(try folder?.write("b", to: "a.txt"))
        let earlier = try #require(try folder?.write("a", to: "b.txt"))
        let old = Date(timeIntervalSinceNow: -60)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: earlier)
        #expect(try folder?.files(endingWith: ".txt") == [earlier, later])
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("Ports are distinct, and nobody listens on them")
    func ports() async throws {
        let ports = try FreePort.pick(8)
        #expect(Set(ports).count == 8)
        #expect(!ports.contains(where: FreePort.isListening))
        await #expect(throws: ToolFailure.self) {
            try await FreePort.waitUntilListening(ports[0], within: .milliseconds(30))
        }
    }
}
