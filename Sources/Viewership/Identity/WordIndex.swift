/// Words that are looked for in a text all together, in one pass over it.
///
/// Text and words are bytes of UTF-8 in small letters, words three of them or more.
struct WordIndex: Sendable {
    private let words: [UInt32: [[UInt8]]]
    private let areWhole: Bool

    /// - Parameter areWhole: Whether a word must not be a part of a longer one.
    init(_ words: [String], areWhole: Bool = false) {
        let bytes = words.map { Array($0.utf8) }.filter { $0.count >= 3 }
        self.words = Dictionary(grouping: bytes) { Self.key(of: $0, at: 0) }
        self.areWhole = areWhole
    }

    /// Whether one of the words is in `text`.
    func isIn(_ text: [UInt8]) -> Bool {
        guard !words.isEmpty, text.count >= 3 else { return false }
        for start in 0...text.count - 3 {
            guard let candidates = words[Self.key(of: text, at: start)] else { continue }
            let isWithin = start > 0 && Self.isLetter(text[start - 1])
            for word in candidates where text[start...].starts(with: word) {
                guard areWhole else { return true }
                let end = start + word.count
                let goesOn = end < text.count && Self.isLetter(text[end - 1]) && Self.isLetter(text[end])
                if !isWithin, !goesOn { return true }
            }
        }
        return false
    }

    private static func key(of text: [UInt8], at place: Int) -> UInt32 {
        UInt32(text[place]) << 16 | UInt32(text[place + 1]) << 8 | UInt32(text[place + 2])
    }

    static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
