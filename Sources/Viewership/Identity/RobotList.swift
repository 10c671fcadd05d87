import Foundation

/// The names by which crawlers, link previewers and checkers of availability are told from viewers.
public struct RobotList: Sendable {
    /// Why a file is of no use.
    public enum Fault: Error {
        /// It cannot be read.
        case unreadable
        /// It is longer than a MiB, or has more than 10,000 words.
        case tooLong
        /// A word of it has fewer than three bytes, or more than 128.
        case badWord(line: Int)
    }

    /// Those that the list leaves out, or knows by another name.
    private static let own = WordIndex([
        "facebookexternalhit", "facebookcatalog", "whatsapp/", "skypeuripreview", "embedly", "quora link preview",
        "pinterest/0", "bingpreview", "google-inspectiontool", "meta-external", "yahoo! slurp", "snap url preview",
        "vkshare", "viber/", "mastodon/", "iframely", "headlesschrome-lighthouse", "chrome-lighthouse", "pingdom",
        "uptimerobot", "statuscake", "blackbox exporter", "kube-probe", "googlehc/", "elb-healthchecker",
        "better uptime", "betterstack", "signal link preview", "datadog", "yandexmetrika", "zoominfo", "newrelic",
        "new relic", "crawler", "spider",
    ])
    private static let listed = WordIndex(RobotWords.all, areWhole: true)
    private static let longestFile = 1 << 20
    private static let mostWords = 10_000

    private let more: WordIndex

    /// The list, and an operator's own words.
    ///
    /// - Parameter words: Each is looked for anywhere in a name, whatever the size of its letters.
    public init(_ words: [String] = []) {
        more = WordIndex(words.map { $0.lowercased() })
    }

    /// The list, and the words of a file: one a line, without empty lines and those that begin with `#`.
    ///
    /// - Throws: A fault, when the file is of no use.
    public init(path: String) throws(Fault) {
        guard let file = FileManager.default.contents(atPath: path) else { throw .unreadable }
        guard file.count <= Self.longestFile else { throw .tooLong }
        var words: [String] = []
        let lines = String(decoding: file, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            let word = line.trimmingCharacters(in: .whitespaces)
            guard !word.isEmpty, !word.hasPrefix("#") else { continue }
            guard (3...128).contains(word.utf8.count) else { throw .badWord(line: number + 1) }
            words.append(word)
        }
        guard words.count <= Self.mostWords else { throw .tooLong }
        self.init(words)
    }

    /// Whether `name`, in small letters, is that of no viewer.
    func names(_ name: [UInt8]) -> Bool {
        Self.isBot(name) || Self.own.isIn(name) || Self.listed.isIn(name) || more.isIn(name)
    }

    /// Whether the name has "bot" at the end of a word; the telephones of Cubot do, and are none.
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
