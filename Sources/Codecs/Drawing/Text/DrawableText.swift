/// Text from outside, made safe and cheap to lay out.
enum DrawableText {
    /// Unicode scalars; no less than there are in the longest text that a room may show, of 16000 bytes.
    ///
    /// One character may have many: vowel signs and marks count by themselves.
    static let longest = 16_000

    /// `text` without control characters, its white space in one line as single spaces, cut to `longest`.
    ///
    /// - Parameter keepsLines: Line feeds stay, as breaks within one paragraph: pango limits the lines of each paragraph,
    ///   not those of all.
    static func cleaned(_ text: String, keepsLines: Bool) -> String {
        var result = String.UnicodeScalarView()
        var isAfterSpace = true
        for scalar in text.unicodeScalars.prefix(longest) {
            if keepsLines, scalar == "\n" {
                result.append("\u{2028}")
                isAfterSpace = true
                continue
            }
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                // A tab or a line feed parts words as well as a space does; other control characters are nothing.
                let isSpace = scalar.properties.isWhitespace
                if isSpace, !isAfterSpace {
                    result.append(" ")
                    isAfterSpace = true
                }
            case .surrogate, .unassigned, .privateUse:
                // No font shows them as anything but a box.
                continue
            default:
                result.append(scalar)
                isAfterSpace = false
            }
        }
        while result.last == " " { result.removeLast() }
        return String(result)
    }
}
