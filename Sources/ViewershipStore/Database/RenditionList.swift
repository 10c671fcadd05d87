/// The renditions of a session in one column: joined by a character that no name has.
enum RenditionList {
    private static let separator: Character = "\u{1F}"

    static func text(of names: [String]) -> String {
        names.map { $0.filter { $0 != separator } }.joined(separator: String(separator))
    }

    static func names(in text: String) -> [String] {
        text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
