import Foundation
import Testing

private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

@Suite("The article of statements")
struct StatementTests {
    /// A row of the article: the statement, and its tests.
    private struct Row {
        let id: String
        let tests: [(suite: String, function: String)]
        let isOpen: Bool
    }

    private static let count = ["D": 37, "S": 16, "L": 15, "T": 21, "V": 26, "U": 20]

    private func rows() throws -> [Row] {
        let path = root.path + "/Sources/Gateway/Gateway.docc/Statements.md"
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap { line in
            guard let match = line.wholeMatch(of: /\| ([A-Z]\d+b?) \| (.+) \| (.*) \|/) else { return nil }
            let tests = match.3.matches(of: /`(\w+)\/(\w+)`/).map { (String($0.1), String($0.2)) }
            return Row(id: String(match.1), tests: tests, isOpen: match.2.contains("**Open"))
        }
    }

    /// The names that each test file declares, such as `struct RoomTests` and `func joins`.
    private func declarations() throws -> [Set<String>] {
        let folder = root.appending(path: "Tests")
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (found?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }.map { url in
            let words = try String(contentsOf: url, encoding: .utf8).split { $0 == " " || $0 == "\n" }
            return Set(
                zip(words, words.dropFirst()).compactMap { keyword, word in
                    let name = word.prefix { $0 == "_" || $0.isLetter || $0.isNumber }
                    switch keyword {
                    case "struct", "class", "enum", "actor": return "type \(name)"
                    case "func": return "func \(name)"
                    default: return nil
                    }
                }
            )
        }
    }

    @Test("The article contains each statement once and in order, with its tests or marked open")
    func complete() throws {
        let expected = ["D", "S", "L", "T", "V", "U"].flatMap { letter in
            (1...(Self.count[letter] ?? 0)).flatMap { number in
                letter == "T" && number == 3 ? ["T3", "T3b"] : ["\(letter)\(number)"]
            }
        }
        let rows = try rows()
        #expect(rows.map(\.id) == expected)
        for row in rows { #expect(row.tests.isEmpty == row.isOpen, "\(row.id)") }
    }

    @Test("Every test that the article names exists")
    func tests() throws {
        let declarations = try declarations()
        for row in try rows() {
            for test in row.tests {
                let isThere = declarations.contains { names in
                    names.contains("type \(test.suite)") && names.contains("func \(test.function)")
                }
                #expect(isThere, "\(row.id): \(test.suite)/\(test.function)")
            }
        }
    }
}
