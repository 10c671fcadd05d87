import Foundation
import FootlightTesting
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
        let text = try #require(data.read("a.key"))
        try data.write(text + Data("\n".utf8), to: "a.key", mode: 0o600)
        #expect(try data.secret("a") == secret)
    }

    @Test(
        "A damaged secret is an error that names the file, never a new secret",
        arguments: ["", "x", "AAAA", "====\n"]
    )
    func damaged(content: String) throws {
        let data = try DataDirectory(folder.path)
        try data.write(Data(content.utf8), to: "a.key", mode: 0o600)
        let error = #expect(throws: DataDirectoryError.self) { try data.secret("a") }
        #expect(error?.description.contains(data.filePath("a.key")) == true)
        #expect(data.read("a.key") == Data(content.utf8))
    }

    @Test("A file is replaced whole, and can be removed")
    func replaces() throws {
        let data = try DataDirectory(folder.path)
        #expect(data.read("x") == nil)
        try data.write(Data(repeating: 1, count: 10_000), to: "x", mode: 0o600)
        try data.write(Data("short".utf8), to: "x", mode: 0o644)
        #expect(data.read("x") == Data("short".utf8))
        #expect(try mode(data.filePath("x")) == 0o644)
        data.remove("x")
        #expect(data.read("x") == nil)
        data.remove("x")
    }
}
