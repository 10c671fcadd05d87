/// The names of media files, and back: a name says by itself where its bytes are.
enum MediaName: Equatable {
    case initialization(Int)
    case segment(Int)
    case part(Int, Int)

    var text: String {
        switch self {
        case .initialization(let number): "init\(number).mp4"
        case .segment(let sequence): "s\(sequence).m4s"
        case .part(let sequence, let index): "s\(sequence).p\(index).m4s"
        }
    }

    /// Reads a name as a request gives it; nil for any that we did not write so.
    ///
    /// It is read for every part that is sent to anybody, so byte by byte and without strings of its pieces.
    init?(_ text: String) {
        var rest = text.utf8[...]
        if let number = Self.number(after: "init", in: &rest) {
            guard rest.elementsEqual(".mp4".utf8) else { return nil }
            self = .initialization(number)
        } else if let sequence = Self.number(after: "s", in: &rest) {
            if rest.elementsEqual(".m4s".utf8) {
                self = .segment(sequence)
            } else {
                guard let index = Self.number(after: ".p", in: &rest), rest.elementsEqual(".m4s".utf8) else {
                    return nil
                }
                self = .part(sequence, index)
            }
        } else {
            return nil
        }
    }

    /// Takes `prefix` and the number behind it, written as we write numbers; nil, and nothing taken, for all else.
    private static func number(after prefix: StaticString, in text: inout Substring.UTF8View) -> Int? {
        let isPrefixed = prefix.withUTF8Buffer { text.starts(with: $0) }
        guard isPrefixed else { return nil }
        var rest = text.dropFirst(prefix.utf8CodeUnitCount)
        var number = 0
        var digits = 0
        while let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            // More than 18 digits are no number of ours; nor does one begin with 0 that is longer.
            guard digits < 18, digits == 0 || number > 0 else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
            digits += 1
            rest.removeFirst()
        }
        guard digits > 0 else { return nil }
        text = rest
        return number
    }
}
