import Foundation
import Testing

private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// Words that the project once used in place of the field's own, and what replaced them; see the article Glossary.
private let retiredWords: [String: String] = [
    "picture": "frame, video or image", "pictures": "frames or images", "sound": "audio", "sounds": "audio",
    "wish": "preference or request", "wishes": "preferences", "wished": "requested",
    "heard": "received", "hear": "receive", "told": "reported", "untold": "unreported",
    "nobody": "empty or none", "somebody": "any", "whoever": "any", "anew": "again",
    "wardrobe": "overlay cache", "choreography": "transition", "veil": "fade", "thrift": "degradation",
    "rung": "rendition", "rungs": "renditions", "bell": "signal", "errand": "request", "errands": "requests",
    "desk": "worker", "stranger": "unverified client", "strangers": "unverified clients", "door": "ingest or router",
    "doors": "router", "afterlife": "retention", "hopeless": "failing", "patience": "timeout",
    "lifeline": "watchdog", "keeper": "store", "upkeep": "maintenance",
]

/// First words of functions that say nothing of what the function does.
private let retiredVerbs: Set = ["take", "tell", "hear", "note", "look", "wish", "attend", "keep"]

/// Names that a standard or the wire dictates.
private let exceptions: Set = [
    // H.264 and HEVC.
    "pictureParameterSets", "pictureParameters", "pictureInPicture",
    // Fields and schemas of the API.
    "sound", "setSound", "RoomSoundResource", "RoomSoundBody", "ParticipantSoundResource", "ParticipantSoundBody",
    "roomSoundBody", "roomSoundResource", "participantSoundBody", "participantSoundResource",
]

@Suite("Vocabulary")
struct VocabularyTests {
    private struct Declaration {
        let file: String
        let keyword: String
        let name: String
        /// The words of the name in lower case.
        let words: [String]
    }

    private func declarations() throws -> [Declaration] {
        try ["Sources", "Tests"].flatMap(swiftFiles).flatMap { file in
            try text(of: file).split(separator: "\n").flatMap { declarations(in: $0, of: file) }
        }
    }

    private static let keywords: Set<Substring> = [
        "struct", "class", "enum", "protocol", "actor", "typealias", "func", "var", "let", "case",
    ]

    /// Splits into identifiers by hand: a regular expression takes a minute for all lines.
    private func declarations(in line: Substring, of file: String) -> [Declaration] {
        var found: [Declaration] = []
        var keyword: Substring?
        for token in line.split(whereSeparator: { $0 == " " || $0 == "`" }) {
            if token.hasPrefix("//") { break }
            if let keyword {
                let name = token.prefix { $0 == "_" || $0.isLetter || $0.isNumber }
                if let first = name.first, !first.isNumber {
                    found.append(
                        Declaration(file: file, keyword: String(keyword), name: String(name), words: words(of: name))
                    )
                }
            }
            keyword = Self.keywords.contains(token) ? token : nil
        }
        return found
    }

    /// Returns the words of a name in lower case; an abbreviation in capitals is one word.
    private func words(of name: Substring) -> [String] {
        var words: [String] = []
        var word = ""
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            let next = index + 1 < characters.count ? characters[index + 1] : nil
            let isStart = character.isUppercase && (word.last?.isUppercase != true || next?.isLowercase == true)
            if !character.isLetter || isStart {
                if !word.isEmpty { words.append(word.lowercased()) }
                word = ""
            }
            if character.isLetter { word.append(character) }
        }
        return word.isEmpty ? words : words + [word.lowercased()]
    }

    @Test("no declared name has a retired word")
    func names() throws {
        let all = try declarations()
        #expect(all.count > 20_000, "only \(all.count) declarations were found")
        for declaration in all where !exceptions.contains(declaration.name) {
            for word in declaration.words {
                guard let replacement = retiredWords[word] else { continue }
                Issue.record("\(declaration.file): \(declaration.name) has '\(word)'; the word is \(replacement)")
            }
            if declaration.keyword == "func", let verb = declaration.words.first, retiredVerbs.contains(verb) {
                Issue.record("\(declaration.file): \(declaration.name) begins with '\(verb)'")
            }
        }
    }

    @Test("no type name is declared in two targets")
    func types() throws {
        let pattern =
            /^(?:@\w+(?:\(.*?\))?\s+)*(?:(?:public|package|internal|final|indirect)\s+)*(?:struct|class|enum|protocol|actor)\s+(\w+)/
        var targets: [String: Set<String>] = [:]
        for file in try swiftFiles(below: "Sources") {
            let target = file.split(separator: "/")[1]
            for match in try text(of: file).matches(of: pattern.anchorsMatchLineEndings()) {
                targets[String(match.1), default: []].insert(String(target))
            }
        }
        #expect(targets.count > 500, "only \(targets.count) types were found")
        for (name, targets) in targets where targets.count > 1 {
            Issue.record("\(name) is declared in \(targets.sorted().joined(separator: " and "))")
        }
    }

    private func swiftFiles(below folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.path + "/" + folder)
            .filter { $0.hasSuffix(".swift") }
            .map { folder + "/" + $0 }
    }

    private func text(of file: String) throws -> String {
        try String(contentsOfFile: root.path + "/" + file, encoding: .utf8)
    }
}
