import Foundation
import TestSupport
import Testing

@testable import Gateway

@Suite("Login codes")
struct LoginCodeTests {
    private let folder: TemporaryFolder
    private let directory: DataDirectory
    private let codes: LoginCodes

    init() throws {
        folder = try TemporaryFolder("login")
        directory = try DataDirectory(folder.file("data"))
        codes = LoginCodes(directory)
    }

    @Test("a code is good once, in any case, with or without its hyphen, and is not stored itself")
    func once() throws {
        for change in [{ $0 }, { $0.lowercased() }, { $0.replacing("-", with: "") }, { " \($0) " }]
            as [(String) -> String]
        {
            let code = try LoginCode.make(in: directory)
            #expect(code.wholeMatch(of: /[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}/) != nil, "\(code)")
            let file = try Data(contentsOf: URL(fileURLWithPath: directory.filePath(LoginCode.fileName)))
            #expect(!String(decoding: file, as: UTF8.self).contains(code.prefix(4)))
            #expect(codes.redeem(change(code)))
            #expect(!codes.redeem(change(code)))
        }
    }

    @Test("a code ends after ten minutes, and with the next one")
    func lifetime() throws {
        let code = try LoginCode.make(in: directory, at: 1000)
        #expect(!codes.redeem(code, at: 1601))
        let first = try LoginCode.make(in: directory, at: 1000)
        let second = try LoginCode.make(in: directory, at: 1000)
        #expect(!codes.redeem(first, at: 1001) && codes.redeem(second, at: 1599))
    }

    @Test("twenty wrong codes make the present one void; other texts are no codes")
    func guesses() throws {
        let code = try LoginCode.make(in: directory)
        for text in ["", "guess", String(repeating: "A", count: 10_000), "ABCD-EFG0", "ABCD-EFGI"] {
            #expect(!LoginCode.isCode(text) && !codes.redeem(text))
        }
        let wrong = code.hasPrefix("AAAA") ? "BBBB-BBBB" : "AAAA-AAAA"
        for _ in 0..<19 { #expect(!codes.redeem(wrong)) }
        #expect(codes.redeem(code))
        let other = try LoginCode.make(in: directory)
        for _ in 0..<20 { #expect(!codes.redeem(wrong)) }
        #expect(!codes.redeem(other))
    }
}
