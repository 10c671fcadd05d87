import NIOCore
import TestSupport
import Testing

@testable import Pages

@Suite("Texts of the pages")
struct TextTests {
    private static let languages = ["en", "de"]
    /// The parts of the dashboard's catalogue.
    private static let dashboard = ["dashboard", "studio", "figures", "administration"]
    /// What stands in the scripts between quotes, but is no text of a language.
    private static let names: Set<String> = ["Footlight", "Mac OS"]

    private let files = StaticFiles()

    /// The texts of a page by language.
    private func catalogue(of page: String) throws -> [String: [String: TextCatalogue]] {
        var result: [String: [String: TextCatalogue]] = [:]
        for language in Self.languages {
            for part in page == "watch" ? ["watch"] : Self.dashboard {
                let script = try text(of: "texts/\(part)-\(page == "watch" ? "texts" : language).js")
                result[language, default: [:]][part] = try TextCatalogue(of: script, language: language)
            }
        }
        return result
    }

    private func keys(of page: String) throws -> Set<String> {
        try catalogue(of: page)["en", default: [:]].values.reduce(into: []) { $0.formUnion($1.keys) }
    }

    @Test("are complete in each language, with the same values", arguments: ["dashboard", "watch"])
    func completeness(page: String) throws {
        let all = try catalogue(of: page)
        for (part, english) in all["en", default: [:]] {
            let german = try #require(all["de"]?[part])
            #expect(!english.keys.isEmpty)
            #expect(english.keys.subtracting(german.keys).isEmpty, "missing in German")
            #expect(german.keys.subtracting(english.keys).isEmpty, "missing in English")
            for key in english.keys {
                #expect(english.values(of: key) == german.values(of: key), "\(key)")
                #expect(english.texts[key]?.count == german.texts[key]?.count, "the plural forms of \(key)")
            }
        }
    }

    @Test("are all used, and all that are asked for exist", arguments: ["dashboard", "watch"])
    func use(page: String) throws {
        let keys = try keys(of: page)
        let scripts = try files.names.filter { $0.hasPrefix("\(page)/") }.map(text) + [text(of: "\(page).html")]
        var used: Set<String> = []
        var groups: Set<String> = []
        for script in scripts {
            used.formUnion(script.matches(of: /["'](\w+(?:\.\w+)+)["']/).map { String($0.output.1) })
            groups.formUnion(script.matches(of: /\bt\(`([\w.]+\.)\$\{/).map { String($0.output.1) })
            groups.formUnion(script.matches(of: /wordOf\('([\w.]+)'/).map { $0.output.1 + "." })
            for call in script.matches(of: /\bt\(([^()]*)/) {
                for key in call.output.1.matches(of: /'(\w+(?:\.\w+)+)'/).map({ String($0.output.1) }) {
                    #expect(keys.contains(key), "\(key) is missing")
                }
            }
            for key in script.matches(of: /data-(?:text|label)="([^"]+)"/).map({ String($0.output.1) }) {
                #expect(keys.contains(key), "\(key) is missing")
            }
        }
        for group in groups { #expect(keys.contains { $0.hasPrefix(group) }, "the group \(group) is missing") }
        let unused = keys.subtracting(used).filter { key in !groups.contains { key.hasPrefix($0) } }
        #expect(unused.isEmpty, "\(unused.sorted())")
    }

    @Test("stand nowhere else: neither in the scripts nor in the pages")
    func nowhereElse() throws {
        for name in files.names where name.hasSuffix(".js") && !name.hasPrefix("texts/") {
            for line in try text(of: name).split(separator: "\n") {
                let code = line.replacing(/\/\/ .*|^\s*(?:\*|\/\*\*).*/, with: "")
                let labelled = /(?:'aria-label'|\btitle|placeholder): ['`](?!rtmp:|hand\.raised)[A-Za-z]/
                #expect(code.firstMatch(of: labelled) == nil, "\(name): \(line)")
                // What elements and messages show, and what begins as a sentence does.
                let shownBy = /(?:\}, |setText\(\w+, |confirm\(|toast\()['`]([^'`]*[A-Za-z][^'`]*)['`]/
                for match in code.matches(of: shownBy) {
                    let shown = match.output.1.drop { $0 == " " }
                    #expect(Self.names.contains(String(shown)) || shown.hasPrefix("${"), "\(name): \(shown)")
                }
                for match in code.matches(of: /'([A-Z][a-z]+ [^']*)'/) {
                    #expect(Self.names.contains(String(match.output.1)), "\(name): \(match.output.1)")
                }
            }
        }
        for page in ["dashboard.html", "watch.html"] {
            let markup = try text(of: page).replacing(/<noscript>.*<\/noscript>/, with: "")
            for match in markup.matches(of: />([^<]*[A-Za-z][^<]*)</) {
                #expect(Self.names.contains(String(match.output.1)), "\(page): \(match.output.1)")
            }
            #expect(markup.firstMatch(of: /(?:aria-label|title|placeholder)="/) == nil, "\(page)")
        }
    }

    private func text(of name: String) throws -> String {
        String(buffer: try #require(files[name]).bytes)
    }
}
