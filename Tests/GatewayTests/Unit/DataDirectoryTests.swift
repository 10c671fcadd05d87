import Foundation
import FootlightTesting
import Glibc
@testable import Gateway
import Testing

@Suite("The data folder")
struct DataDirectoryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("data") }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("It is made for its owner alone, and so are its secrets")
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

    @Test("A secret is 32 random bytes, the same at every start, and of its own for each name")
    func secrets() throws {
        let path = folder.file("data")
        let first = try DataDirectory(path).secret("a")
        #expect(first.count == 32)
        #expect(Set(first).count > 8)
        #expect(try DataDirectory(path).secret("a") == first)
        #expect(try DataDirectory(path).secret("b") != first)
        #expect(try DataDirectory(folder.file("other")).secret("a") != first)
    }

    @Test("A secret that ends in a newline, as an editor leaves it, is read")
    func newline() throws {
        let data = try DataDirectory(folder.path)
        let secret = try data.secret("a")
        let text = try #require(try data.read("a.key"))
        try data.write(text + Data("\n".utf8), to: "a.key", mode: 0o600)
        #expect(try data.secret("a") == secret)
    }

    @Test(
        "A damaged secret is an error that names the file, never a new secret",
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
        "A secret that a power cut left empty or short is made anew while nothing was made with it, and then an error",
        arguments: ["", "x", "AAAA", "====\n"]
    )
    func cutShort(content: String) throws {
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

    @Test("A folder that others could look into is for its owner alone from then on; one for everybody stays so")
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
        "On a full disk the old content stays, no part of the new one does, and a first start leaves no empty key",
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

    @Test("What root writes belongs to the owner of the folder", .enabled(if: geteuid() == 0))
    func owner() throws {
        let data = try DataDirectory(folder.file("owned"))
        chown(data.path, 65_534, 65_534)
        try data.write(Data("x".utf8), to: "x", mode: 0o600)
        let owner = try FileManager.default.attributesOfItem(atPath: data.filePath("x"))[.ownerAccountID]
        let user = try #require(owner)
        #expect("\(user)" == "65534")
    }

    @Test("A file is replaced whole, and can be removed")
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

    @Test("One holder at a time locks it; the next one is told who that is, and has it when that one is gone")
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

    @Test("The endpoints of another process are left alone")
    func endpoints() throws {
        let data = try DataDirectory(folder.path)
        let own = ProcessInfo.processInfo.processIdentifier
        for (pid, isLeft) in [(own + 1, true), (own, false)] {
            try Endpoints(rtmpPort: 1, httpPort: 2, adminPort: 3, pid: pid).write(to: data)
            Endpoints.removeOwn(from: data)
            #expect(try (data.read(Endpoints.fileName) != nil) == isLeft)
        }
    }
}

/// A disk of 64 KiB, where the right to mount one is given.
private struct SmallDisk {
    /// Whether this process may mount it.
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
