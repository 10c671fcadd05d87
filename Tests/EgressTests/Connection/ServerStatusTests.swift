import Testing

@testable import Egress

@Suite("What a target says is read without trust")
struct ServerStatusTests {
    private static func text(_ text: String) -> [UInt8] {
        [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xFF)] + Array(text.utf8)
    }

    private static func message(_ command: String, level: String, code: String, description: String) -> [UInt8] {
        let number: [UInt8] = [0x00, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0]
        var bytes: [UInt8] = [0x02] + text(command) + number + [0x05, 0x03]
        for (name, value) in [("level", level), ("code", code), ("description", description)] {
            bytes += text(name) + [0x02] + text(value)
        }
        return bytes + [0x00, 0x00, 0x09]
    }

    private static func read(_ bytes: [UInt8]) -> ServerStatus? {
        bytes.withUnsafeBytes { ServerStatus($0) }
    }

    @Test("a refusal and a consent are told apart")
    func meaning() throws {
        let name = "NetStream.Publish.BadName"
        let refusal = try #require(
            Self.read(Self.message("onStatus", level: "error", code: name, description: "Already publishing\nhere"))
        )
        #expect(refusal.isRefusal)
        #expect(refusal.summary == "NetStream.Publish.BadName: Already publishing here")
        let consent = try #require(
            Self.read(Self.message("onStatus", level: "status", code: "NetStream.Publish.Start", description: ""))
        )
        #expect(!consent.isRefusal)
        #expect(consent.isPublishStart)
        let shrug = try #require(
            Self.read(Self.message("_error", level: "error", code: "", description: "releaseStream"))
        )
        #expect(!shrug.isRefusal)
    }

    @Test("every cut and every changed byte is read or turned down, never followed out of bounds")
    func damage() {
        let whole = Self.message("onStatus", level: "error", code: "NetStream.Publish.Denied", description: "no")
        for length in 0..<whole.count { _ = Self.read(Array(whole.prefix(length))) }
        for index in whole.indices {
            for value in [UInt8(0), 3, 8, 9, 0x7F, 0xFF] {
                var bytes = whole
                bytes[index] = value
                _ = Self.read(bytes)
            }
        }
        #expect(Self.read([]) == nil)
        #expect(Self.read([0x02, 0xFF, 0xFF, 0x41]) == nil)
    }
}
