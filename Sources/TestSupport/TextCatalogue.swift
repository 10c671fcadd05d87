/// The texts of a page in one language, as its script has them: a tree of names, with a text or plural forms at each end.
///
/// A script of texts has nothing but `export const en = { ... };` with names, texts in single quotes, and sums of texts.
public struct TextCatalogue {
    /// The texts by their full names, such as `hosts.title`; those with plural forms have several.
    public private(set) var texts: [String: [String]] = [:]
    private var rest: Substring

    /// Reads a script.
    ///
    /// - Parameters:
    ///   - script: The script.
    ///   - language: The name of the constant: `en` or `de`.
    /// - Throws: `ToolFailure` for anything else than names and texts.
    public init(of script: String, language: String) throws {
        guard let begin = script.firstRange(of: "const \(language) = {") else {
            throw ToolFailure("no texts in \(language)")
        }
        rest = script[begin.upperBound...]
        try readGroup("")
    }

    /// The full names.
    public var keys: Set<String> { Set(texts.keys) }

    /// Returns the names of the values of a text.
    public func values(of key: String) -> Set<String> {
        Set((texts[key] ?? []).flatMap { $0.matches(of: /\{(\w+)\}/).map { String($0.output.1) } })
    }

    private mutating func readGroup(_ path: String) throws {
        var forms: [String: [String]] = [:]
        while true {
            skipSpace()
            if skip("}") { break }
            guard let match = rest.prefixMatch(of: /(\w+): */) else {
                throw ToolFailure("no name at \(rest.prefix(40))")
            }
            let name = String(match.output.1)
            rest = rest[match.range.upperBound...]
            let key = path.isEmpty ? name : "\(path).\(name)"
            if skip("{") {
                try readGroup(key)
            } else {
                forms[name] = [try readText()]
            }
            skipSpace()
            _ = skip(",")
        }
        if forms.keys.contains("other") {
            texts[path] = forms.values.flatMap(\.self)
        } else {
            for (name, text) in forms { texts[path.isEmpty ? name : "\(path).\(name)"] = text }
        }
    }

    private mutating func readText() throws -> String {
        guard let match = rest.prefixMatch(of: /'((?:[^'\\\n]|\\.)*)'\s*(\+?)\s*/) else {
            throw ToolFailure("no text at \(rest.prefix(40))")
        }
        rest = rest[match.range.upperBound...]
        let text = String(match.output.1)
        return match.output.2.isEmpty ? text : text + (try readText())
    }

    private mutating func skipSpace() {
        while let match = rest.prefixMatch(of: /\s+|\/\/[^\n]*\n/) { rest = rest[match.range.upperBound...] }
    }

    private mutating func skip(_ sign: Character) -> Bool {
        guard rest.first == sign else { return false }
        rest.removeFirst()
        return true
    }
}
