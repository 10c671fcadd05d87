import Codecs

/// The letters and the colour that stand for a person without a picture.
enum Initials {
    /// The first letters of the first and the last word; one of a single word, and one of a script without capitals,
    /// whose letters do not stand for words.
    static func of(_ name: String) -> String {
        let words = name.split { $0.isWhitespace }.compactMap { word in word.first { $0.isLetter || $0.isNumber } }
        guard let first = words.first else { return name.first { !$0.isWhitespace }.map(String.init) ?? "" }
        guard words.count > 1, let last = words.last, first.isCased, last.isCased else {
            return first.uppercased()
        }
        return first.uppercased() + last.uppercased()
    }

    /// A colour on which white letters are seen; the same for a name in every process.
    static func colour(of name: String) -> RGBAColour {
        // FNV-1a: the standard library's hashes differ from run to run.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return colours[Int((hash ^ hash >> 32) % UInt64(colours.count))]
    }

    private static let colours = [
        RGBAColour(red: 196, green: 69, blue: 54), RGBAColour(red: 176, green: 96, blue: 16),
        RGBAColour(red: 120, green: 120, blue: 24), RGBAColour(red: 48, green: 128, blue: 64),
        RGBAColour(red: 20, green: 128, blue: 128), RGBAColour(red: 40, green: 104, blue: 192),
        RGBAColour(red: 88, green: 84, blue: 208), RGBAColour(red: 136, green: 64, blue: 184),
        RGBAColour(red: 184, green: 52, blue: 128), RGBAColour(red: 96, green: 104, blue: 120),
    ]
}
