/// A strict parser of the subset of YAML 1.2 that the API's description uses: block maps and lists, scalars, folded
/// text.
indirect enum YAMLText: Equatable {
    case map([String: YAMLText])
    case list([YAMLText])
    case word(String)

    struct Fault: Error {
        let line: String
        let why: String
    }

    private struct Line {
        let depth: Int
        let text: Substring
    }

    init(_ text: String) throws {
        var lines: [Line] = []
        for line in text.split(separator: "\n") {
            guard !line.contains("\t") else { throw Fault(line: String(line), why: "a tab") }
            let depth = line.prefix { $0 == " " }.count
            if depth < line.count { lines.append(Line(depth: depth, text: line.dropFirst(depth))) }
        }
        var index = 0
        self = try Self.block(lines, &index, depth: 0)
        guard index == lines.count else { throw Fault(line: String(lines[index].text), why: "unexpected depth") }
    }

    subscript(path: String...) -> YAMLText? {
        path.reduce(self) { node, key in
            if case .map(let entries)? = node { entries[key] } else { nil }
        }
    }

    var keys: Set<String> {
        if case .map(let entries) = self { Set(entries.keys) } else { [] }
    }

    var words: [String] {
        guard case .list(let items) = self else { return [] }
        return items.compactMap { if case .word(let text) = $0 { text } else { nil } }
    }

    private static func block(_ lines: [Line], _ index: inout Int, depth: Int) throws -> YAMLText {
        lines[index].text.hasPrefix("- ") ? try list(lines, &index, depth) : try map(lines, &index, depth)
    }

    private static func map(_ lines: [Line], _ index: inout Int, _ depth: Int) throws -> YAMLText {
        var entries: [String: YAMLText] = [:]
        while index < lines.count, lines[index].depth == depth, !lines[index].text.hasPrefix("- ") {
            let line = lines[index].text
            guard let colon = line.firstIndex(of: ":") else { throw Fault(line: String(line), why: "no key") }
            let key = unquoted(line[..<colon])
            let rest = line[line.index(after: colon)...].drop { $0 == " " }
            guard entries[key] == nil else { throw Fault(line: String(line), why: "twice") }
            index += 1
            if rest == ">-" {
                var words: [Substring] = []
                while index < lines.count, lines[index].depth > depth {
                    words.append(lines[index].text)
                    index += 1
                }
                entries[key] = .word(words.joined(separator: " "))
            } else if rest.isEmpty {
                guard index < lines.count, lines[index].depth > depth else {
                    throw Fault(line: String(line), why: "no value")
                }
                entries[key] = try block(lines, &index, depth: lines[index].depth)
            } else {
                // In a plain scalar ": " and " #" have another meaning.
                let isQuoted = rest.hasPrefix("'") || rest.hasPrefix("\"") || rest.hasPrefix("{") || rest.hasPrefix("[")
                guard isQuoted || !(rest.contains(": ") || rest.contains(" #")) else {
                    throw Fault(line: String(line), why: "needs quotes")
                }
                entries[key] = .word(unquoted(rest))
            }
        }
        return .map(entries)
    }

    private static func list(_ lines: [Line], _ index: inout Int, _ depth: Int) throws -> YAMLText {
        var items: [YAMLText] = []
        while index < lines.count, lines[index].depth == depth, lines[index].text.hasPrefix("- ") {
            let item = lines[index].text.dropFirst(2)
            if item.contains(": ") || item.hasSuffix(":") {
                // Further keys of a map that begins after the dash are indented by two columns.
                var inner = lines
                inner[index] = Line(depth: depth + 2, text: item)
                items.append(try map(inner, &index, depth + 2))
            } else {
                items.append(.word(unquoted(item)))
                index += 1
            }
        }
        return .list(items)
    }

    private static func unquoted(_ text: Substring) -> String {
        for quote in ["'", "\""] where text.count >= 2 && text.hasPrefix(quote) && text.hasSuffix(quote) {
            return String(text.dropFirst().dropLast()).replacing("''", with: "'")
        }
        return String(text)
    }
}
