import Testing

@testable import Egress

@Suite("A target's messages are read from any cut of its bytes, and nonsense ends the reading")
struct ServerMessageReaderTests {
    /// A message of `length` bytes in chunks of 128 on chunk stream 3.
    private static func message(type: UInt8, length: Int) -> [UInt8] {
        let size = [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
        var bytes: [UInt8] = [0x03, 0, 0, 0] + size + [type, 0, 0, 0, 0]
        for index in 0..<length {
            if index > 0, index % 128 == 0 { bytes.append(0xC3) }
            bytes.append(UInt8(index & 0xFF))
        }
        return bytes
    }

    @Test("whole, and one byte at a time")
    func cuts() throws {
        let bytes = Self.message(type: 20, length: 300) + Self.message(type: 4, length: 6)
        var whole = ServerMessageReader()
        whole.append(bytes)
        #expect(try whole.next()?.body.count == 300)
        #expect(try whole.next() == ServerMessageReader.Message(type: 4, body: [0, 1, 2, 3, 4, 5]))
        #expect(try whole.next() == nil)
        var slow = ServerMessageReader()
        var lengths: [Int] = []
        for byte in bytes {
            slow.append([byte])
            if let message = try slow.next() { lengths.append(message.body.count) }
        }
        #expect(lengths == [300, 6])
    }

    @Test("a length that changes in mid-message, a huge message and too many streams are violations")
    func violations() {
        var changed = ServerMessageReader()
        changed.append(Self.message(type: 20, length: 300).prefix(140) + Self.message(type: 20, length: 900))
        #expect(throws: ServerMessageReader.Violation.self) { while try changed.next() != nil {} }
        var huge = ServerMessageReader()
        huge.append([0x03, 0, 0, 0, 0xFF, 0xFF, 0xFF, 20, 0, 0, 0, 0])
        #expect(throws: ServerMessageReader.Violation.self) { try huge.next() }
    }

    @Test("noise never traps", arguments: 0..<200)
    func noise(round: Int) {
        var reader = ServerMessageReader()
        for _ in 0..<20 {
            reader.append((0..<500).map { _ in UInt8.random(in: 0...255) })
            do {
                while let message = try reader.next() {
                    _ = message.body.withUnsafeBytes { ServerStatus($0) }
                }
            } catch { return }
        }
    }
}

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
