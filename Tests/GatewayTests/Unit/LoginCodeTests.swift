import Foundation
import TestSupport
import Testing

@testable import Gateway

@Suite("Login codes")
struct LoginCodeTests {
    private let folder: TemporaryFolder
    private let directory: DataDirectory

    init() throws {
        folder = try TemporaryFolder("login")
        directory = try DataDirectory(folder.file("data"))
    }

    @Test("a code is good once, in any case, with or without its hyphen, and is not stored itself")
    func once() async throws {
        for change in [{ $0 }, { $0.lowercased() }, { $0.replacing("-", with: "") }, { " \($0) " }]
            as [(String) -> String]
        {
            let code = try LoginCode.make(in: directory)
            #expect(code.wholeMatch(of: /[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}/) != nil, "\(code)")
            let file = try Data(contentsOf: URL(fileURLWithPath: directory.filePath(LoginCode.fileName)))
            #expect(!String(decoding: file, as: UTF8.self).contains(code.prefix(4)))
            #expect(await redeem(change(code)))
            #expect(await !redeem(change(code)))
        }
    }

    @Test("a code ends after ten minutes, and with the next one")
    func lifetime() async throws {
        let code = try LoginCode.make(in: directory, at: 1000)
        #expect(await !redeem(code, at: 1601))
        let first = try LoginCode.make(in: directory, at: 1000)
        let second = try LoginCode.make(in: directory, at: 1000)
        #expect(await !redeem(first, at: 1001))
        #expect(await redeem(second, at: 1599))
    }

    @Test("wrong codes leave the present one good, and other texts are no codes")
    func guesses() async throws {
        let code = try LoginCode.make(in: directory)
        for text in ["", "guess", String(repeating: "A", count: 10_000), "ABCD-EFG0", "ABCD-EFGI"] {
            #expect(!LoginCode.isCode(text))
            #expect(await !redeem(text))
        }
        let wrong = code.hasPrefix("AAAA") ? "BBBB-BBBB" : "AAAA-AAAA"
        for _ in 0..<50 { #expect(await !redeem(wrong)) }
        #expect(await redeem(code))
    }

    @Test("of many logins at once with one code, one succeeds")
    func concurrent() async throws {
        let code = try LoginCode.make(in: directory)
        let good = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { await redeem(code) } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 1)
    }

    private func redeem(_ code: String, at now: Double = Date().timeIntervalSince1970) async -> Bool {
        await LoginCode.redeem(code, in: directory, at: now)
    }
}
