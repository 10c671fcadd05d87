import Foundation
import Glibc
@testable import Gateway
import TestSupport
import Testing

@Suite("Data folder")
struct DataDirectoryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("data") }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("folder and secrets are created for the owner only")
    func modes() throws {
        let data = try DataDirectory(folder.file("new/data"))
        #expect(try mode(data.path) == 0o700)
        _ = try data.secret("signing")
        #expect(try mode(data.filePath("signing.key")) == 0o600)
        try data.write(Data("{}".utf8), to: "endpoints.json", mode: 0o644)
        #expect(try mode(data.filePath("endpoints.json")) == 0o644)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: data.path).sorted() == [
                "endpoints.json", "signing.key",
            ]
        )
    }

    @Test("a secret has 32 random bytes, is stable, and differs by name")
    func secrets() throws {
        let path = folder.file("data")
        let first = try DataDirectory(path).secret("a")
        #expect(first.count == 32)
        #expect(Set(first).count > 8)
        #expect(try DataDirectory(path).secret("a") == first)
        #expect(try DataDirectory(path).secret("b") != first)
        #expect(try DataDirectory(folder.file("other")).secret("a") != first)
    }

    @Test("reads a secret with a trailing newline")
    func newline() throws {
        let data = try DataDirectory(folder.path)
        let secret = try data.secret("a")
        let text = try #require(try data.read("a.key"))
        try data.write(text + Data("\n".utf8), to: "a.key", mode: 0o600)
        #expect(try data.secret("a") == secret)
    }

    @Test(
        "a damaged secret is an error that names the file, and is not replaced",
        arguments: [String(repeating: "=", count: 44), String(repeating: "A", count: 40)]
    )
    func damaged(content: String) throws {
        let data = try DataDirectory(folder.path)
        try data.write(Data(content.utf8), to: "a.key", mode: 0o600)
        let error = #expect(throws: DataDirectoryError.self) { try data.secret("a") }
        #expect(error?.description.contains(data.filePath("a.key")) == true)
        #expect(try data.read("a.key") == Data(content.utf8))
    }

    @Test(
        "replaces an empty or short secret unless a dependent file exists",
        arguments: ["", "x", "AAAA", "====\n"]
    )
    func truncated(content: String) throws {
        let data = try DataDirectory(folder.path)
        try data.write(Data(content.utf8), to: "a.key", mode: 0o600)
        try data.write(Data(), to: "rooms.sqlite", mode: 0o600)
        let secret = try data.secret("a", for: ["operator.token", "rooms.sqlite"])
        #expect(secret.count == 32)
        #expect(try DataDirectory(folder.path).secret("a") == secret)
        try data.write(Data(content.utf8), to: "a.key", mode: 0o600)
        try data.write(Data("rooms".utf8), to: "rooms.sqlite", mode: 0o600)
        let error = #expect(throws: DataDirectoryError.self) { try data.secret("a", for: ["rooms.sqlite"]) }
        let text = error?.description ?? ""
        #expect(text.contains(data.filePath("a.key")) && text.contains(data.filePath("rooms.sqlite")))
        #expect(try data.read("a.key") == Data(content.utf8))
    }

    @Test("narrows the permissions of an open folder, but not of a shared one")
    func tightened() throws {
        let path = folder.file("loose")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let data = try DataDirectory(path)
        #expect(try mode(path) == 0o700)
        #expect(data.widerMode == 0o755)
        #expect(try DataDirectory(path).widerMode == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: path)
        #expect(try DataDirectory(path).widerMode == nil)
        #expect(try mode(path) == 0o1777)
    }

    @Test(
        "a full disk keeps the old content and leaves no partial file or empty key",
        .enabled(if: SmallDisk.isPossible)
    )
    func full() throws {
        let mount = try #require(try SmallDisk(folder.file("disk")))
        defer { mount.end() }
        let data = try DataDirectory(folder.file("disk"))
        try data.write(Data("old".utf8), to: "x", mode: 0o600)
        let file = try #require(fopen(data.filePath("big"), "w"))
        let bytes = [UInt8](repeating: 0, count: 200_000)
        #expect(fwrite(bytes, 1, bytes.count, file) < bytes.count || fflush(file) != 0)
        fclose(file)
        #expect(throws: DataDirectoryError.self) {
            try data.write(Data(repeating: 1, count: 10_000), to: "x", mode: 0o600)
        }
        #expect(try data.read("x") == Data("old".utf8))
        #expect(throws: DataDirectoryError.self) { try data.secret("a") }
        let names = try FileManager.default.contentsOfDirectory(atPath: data.path).sorted()
        #expect(names == ["big", "x"])
        data.remove("big")
        #expect(try data.secret("a").count == 32)
    }

    @Test("a file written by root gets the owner of the folder", .enabled(if: geteuid() == 0))
    func owner() throws {
        let data = try DataDirectory(folder.file("owned"))
        chown(data.path, 65_534, 65_534)
        try data.write(Data("x".utf8), to: "x", mode: 0o600)
        let owner = try FileManager.default.attributesOfItem(atPath: data.filePath("x"))[.ownerAccountID]
        let user = try #require(owner)
        #expect("\(user)" == "65534")
    }

    @Test("replaces a file atomically, and removes it")
    func replaces() throws {
        let data = try DataDirectory(folder.path)
        #expect(try data.read("x") == nil)
        try data.write(Data(repeating: 1, count: 10_000), to: "x", mode: 0o600)
        try data.write(Data("short".utf8), to: "x", mode: 0o644)
        #expect(try data.read("x") == Data("short".utf8))
        #expect(try mode(data.filePath("x")) == 0o644)
        data.remove("x")
        #expect(try data.read("x") == nil)
        data.remove("x")
    }

    @Test("locks the folder for one holder at a time, and names it in the error")
    func lock() throws {
        let data = try DataDirectory(folder.path)
        var first: DataDirectoryLock? = try DataDirectoryLock(data)
        let text = try #require(try data.read(DataDirectoryLock.fileName))
        #expect(String(decoding: text, as: UTF8.self).contains("\(ProcessInfo.processInfo.processIdentifier)"))
        let error = #expect(throws: DataDirectoryError.self) { try DataDirectoryLock(data) }
        let words = try #require(error?.description)
        #expect(words.contains("pid \(ProcessInfo.processInfo.processIdentifier), since 20"), "\(words)")
        #expect(try data.read(DataDirectoryLock.fileName) == text, "a refused start changes nothing")
        withExtendedLifetime(first) {}
        first = nil
        _ = try DataDirectoryLock(data)
    }

    @Test("keeps the endpoints file of another process")
    func endpoints() throws {
        let data = try DataDirectory(folder.path)
        let own = ProcessInfo.processInfo.processIdentifier
        for (pid, isLeft) in [(own + 1, true), (own, false)] {
            try Endpoints(rtmpPort: 1, httpPort: 2, adminPort: 3, pid: pid).write(to: data)
            Endpoints.removeIfOwned(from: data)
            #expect(try (data.read(Endpoints.fileName) != nil) == isLeft)
        }
    }
}

/// A tmpfs of 64 KiB, where mounting is permitted.
private struct SmallDisk {
    /// Whether this process may mount a tmpfs.
    static let isPossible: Bool = {
        guard let folder = try? TemporaryFolder("disk"), let disk = try? SmallDisk(folder.path) else { return false }
        disk.end()
        return true
    }()

    let path: String

    init?(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0 else { return nil }
        self.path = path
    }

    func end() {
        umount2(path, Int32(MNT_DETACH))
    }
}
