import FootlightTesting
import Foundation
import Glibc
import NIOCore
import Stage
import TestSupport
import Testing

@testable import Assets

@Suite("Asset store")
struct AssetStoreTests {
    private let folder: TemporaryFolder
    private let store: AssetStore
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    init() throws {
        folder = try TemporaryFolder("assets")
        store = AssetStore(path: folder.file("assets"))
    }

    /// Returns a file as a stream of chunks.
    private func pieces(_ bytes: [UInt8], of length: Int = 1000) -> AsyncStream<ByteBuffer> {
        AsyncStream { continuation in
            for start in stride(from: 0, to: bytes.count, by: length) {
                continuation.yield(ByteBuffer(bytes: bytes[start..<min(start + length, bytes.count)]))
            }
            continuation.finish()
        }
    }

    private func content(_ file: AssetFile) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        try await file.forEachChunk { bytes += $0.readableBytesView }
        return bytes
    }

    private func files(_ room: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.file("assets/\(room)"))) ?? []).sorted()
    }

    @Test("returns a stored file unchanged and lists it by name")
    func roundTrip() async throws {
        let bytes = Self.png + (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let stored = try await store.store(pieces(bytes), as: "logo", room: "RM1")
        #expect(stored.kind == .image && stored.contentType == "image/png" && stored.size == bytes.count)
        _ = try await store.store(pieces(Array("ID3".utf8) + [3, 0, 0]), as: "A-tune", room: "RM1")
        let file = try await store.open("logo", room: "RM1")
        #expect(file.asset == stored && file.fileName == "logo.png")
        #expect(try await content(file) == bytes)
        #expect(try await store.assets(of: "RM1").map(\.name) == ["A-tune", "logo"])
        #expect(try await store.assets(of: "RM2").isEmpty)
        #expect(files("RM1") == ["A-tune", "logo"])
        #expect(try await store.remove("logo", room: "RM1") == stored)
        await #expect(throws: StageError.assetNotFound) { try await store.remove("logo", room: "RM1") }
        await #expect(throws: StageError.assetNotFound) { try await store.open("../x", room: "RM1") }
        // An open file remains readable after its removal.
        #expect(try await content(file) == bytes)
    }

    @Test("replaces a file atomically with a new version and keeps it when a replacement fails")
    func replaced() async throws {
        let old = try await store.store(pieces(Self.png + [1]), as: "logo", room: "RM1")
        let reader = try await store.open("logo", room: "RM1")
        let new = try await store.store(pieces(Array("GIF89a".utf8)), as: "logo", room: "RM1")
        #expect(new.contentType == "image/gif" && new.version != old.version)
        #expect(try await content(reader) == Self.png + [1])
        await #expect(throws: StageError.assetFormatUnknown) {
            try await store.store(pieces(Array("<svg></svg>".utf8)), as: "logo", room: "RM1")
        }
        struct Lost: Error {}
        let broken = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
            continuation.yield(ByteBuffer(bytes: Self.png))
            continuation.finish(throwing: Lost())
        }
        await #expect(throws: Lost.self) { try await store.store(broken, as: "logo", room: "RM1") }
        let error = await #expect(throws: StageError.self) {
            try await store.store(pieces(Self.png), as: "a/../../b", room: "RM1")
        }
        #expect(error?.code == 3073 && error?.message.hasPrefix("name ") == true)
        #expect(try await store.assets(of: "RM1") == [new])
        #expect(try await eventually { files("RM1") == ["logo"] }, "no partial file is left")
    }

    @Test("accepts 64 files per room, also concurrently, and allows replacing them")
    func limit() async throws {
        let refused = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<70 {
                group.addTask {
                    do {
                        _ = try await store.store(pieces(Self.png), as: "n\(number)", room: "RM1")
                        return 0
                    } catch let error as StageError {
                        #expect(error.code == 3073 && error.status == 409)
                        return 1
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(refused == 6)
        let assets = try await store.assets(of: "RM1")
        #expect(assets.count == 64)
        _ = try await store.store(pieces(Self.png + [2]), as: try #require(assets.first).name, room: "RM1")
        _ = try await store.store(pieces(Self.png), as: "one", room: "RM2")
    }

    @Test("deletes files with their room and leftovers at the next start")
    func removeOrphans() async throws {
        for room in ["RM1", "RM2", "RM3"] { _ = try await store.store(pieces(Self.png), as: "logo", room: room) }
        store.roomEnded("RM1")
        #expect(try await eventually { files("RM1").isEmpty })
        try Data(Self.png).write(to: URL(fileURLWithPath: folder.file("assets/RM2/.logo.17")))
        AssetStore(path: folder.file("assets")).removeOrphans { $0 == "RM2" }
        #expect(files("RM2") == ["logo"] && files("RM3").isEmpty)
        #expect(try await store.assets(of: "RM2").count == 1)
        AssetStore(path: folder.file("nowhere")).removeOrphans { _ in false }
    }
}

@Suite("Open file")
struct OpenFileTests {
    @Test("reads a modification time beyond the year 2262")
    func farAwayTime() throws {
        let folder = try TemporaryFolder("assets-late")
        let path = folder.file("a.bin")
        try Data([1]).write(to: URL(fileURLWithPath: path))
        var times = [timespec(tv_sec: 13_000_000_000, tv_nsec: 0), timespec(tv_sec: 13_000_000_000, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, path, &times, 0) == 0)
        #expect(try OpenFile(path, flags: O_RDONLY).status().size == 1)
    }
}
