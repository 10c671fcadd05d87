import Foundation

/// Matches user agents of crawlers, link previewers and availability monitors.
public struct RobotList: Sendable {
    /// The reason why a file cannot be used.
    public enum Fault: Error {
        /// The file cannot be read.
        case unreadable
        /// The file exceeds 1 MiB or 10,000 words.
        case tooLong
        /// A word has fewer than 3 bytes or more than 128.
        case badWord(line: Int)
    }

    /// Names that `BotNames` lacks or spells differently.
    private static let assign = WordIndex([
        "facebookexternalhit", "facebookcatalog", "whatsapp/", "skypeuripreview", "embedly", "quora link preview",
        "pinterest/0", "bingpreview", "google-inspectiontool", "meta-external", "yahoo! slurp", "snap url preview",
        "vkshare", "viber/", "mastodon/", "iframely", "headlesschrome-lighthouse", "chrome-lighthouse", "pingdom",
        "uptimerobot", "statuscake", "blackbox exporter", "kube-probe", "googlehc/", "elb-healthchecker",
        "better uptime", "betterstack", "signal link preview", "datadog", "yandexmetrika", "zoominfo", "newrelic",
        "new relic", "crawler", "spider",
    ])
    private static let listed = WordIndex(BotNames.all, wholeWords: true)
    private static let maximumFileSize = 1 << 20
    private static let maximumWords = 10_000

    private let more: WordIndex

    /// Creates a list of the built-in names and an operator's own words.
    ///
    /// - Parameter words: Substrings of user agents, case-insensitive.
    public init(_ words: [String] = []) {
        more = WordIndex(words.map { $0.lowercased() })
    }

    /// Creates a list with the words of a file: one per line; empty lines and lines that start with `#` are ignored.
    ///
    /// - Throws: `Fault` when the file cannot be used.
    public init(path: String) throws(Fault) {
        guard let file = FileManager.default.contents(atPath: path) else { throw .unreadable }
        guard file.count <= Self.maximumFileSize else { throw .tooLong }
        var words: [String] = []
        let lines = String(decoding: file, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            let word = line.trimmingCharacters(in: .whitespaces)
            guard !word.isEmpty, !word.hasPrefix("#") else { continue }
            guard (3...128).contains(word.utf8.count) else { throw .badWord(line: number + 1) }
            words.append(word)
        }
        guard words.count <= Self.maximumWords else { throw .tooLong }
        self.init(words)
    }

    /// Whether a lowercase user agent matches.
    func matches(_ name: [UInt8]) -> Bool {
        Self.isBot(name) || Self.assign.matches(name) || Self.listed.matches(name) || more.matches(name)
    }

    /// Whether a word ends in "bot"; Cubot phones are excepted.
    private static func isBot(_ name: [UInt8]) -> Bool {
        let word = Array("bot".utf8)
        guard name.count >= word.count else { return false }
        for start in 0...name.count - word.count where name[start...].starts(with: word) {
            let end = start + word.count
            if end < name.count, WordIndex.isLetter(name[end]) { continue }
            if start >= 2, name[start - 2] == UInt8(ascii: "c"), name[start - 1] == UInt8(ascii: "u") { continue }
            return true
        }
        return false
    }
}

/// Finds any of many words in a text, in one pass.
///
/// Text and words are lowercase UTF-8; words have at least three bytes.
struct WordIndex: Sendable {
    private let words: [UInt32: [[UInt8]]]
    private let wholeWords: Bool

    /// - Parameter wholeWords: Whether a match must not be a part of a longer word.
    init(_ words: [String], wholeWords: Bool = false) {
        let bytes = words.map { Array($0.utf8) }.filter { $0.count >= 3 }
        self.words = Dictionary(grouping: bytes) { Self.key(of: $0, at: 0) }
        self.wholeWords = wholeWords
    }

    /// Whether `text` contains one of the words.
    func matches(_ text: [UInt8]) -> Bool {
        guard !words.isEmpty, text.count >= 3 else { return false }
        for start in 0...text.count - 3 {
            guard let candidates = words[Self.key(of: text, at: start)] else { continue }
            let isWithin = start > 0 && Self.isLetter(text[start - 1])
            for word in candidates where text[start...].starts(with: word) {
                guard wholeWords else { return true }
                let end = start + word.count
                let continues = end < text.count && Self.isLetter(text[end - 1]) && Self.isLetter(text[end])
                if !isWithin, !continues { return true }
            }
        }
        return false
    }

    private static func key(of text: [UInt8], at offset: Int) -> UInt32 {
        UInt32(text[offset]) << 16 | UInt32(text[offset + 1]) << 8 | UInt32(text[offset + 2])
    }

    static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
