import Foundation
import Testing

private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

@Suite("What is asked of the gateway is shown")
struct StatementTests {
    /// A line of the article: what is asked, and the tests that show it.
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

    /// The text of every file of tests.
    private func files() throws -> [String] {
        let folder = root.appending(path: "Tests")
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (found?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }.map { url in
            try String(contentsOf: url, encoding: .utf8)
        }
    }

    @Test("The article has each statement once, in order, and says of each what shows it or that it is open")
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

    @Test("Each test that the article names is there")
    func tests() throws {
        let files = try files()
        for row in try rows() {
            for test in row.tests {
                let declaration = try Regex("\\b(struct|class|enum|actor) \(test.suite)\\b")
                let function = try Regex("\\bfunc \(test.function)\\(")
                let isThere = files.contains { $0.contains(declaration) && $0.contains(function) }
                #expect(isThere, "\(row.id): \(test.suite)/\(test.function)")
            }
        }
    }
}
