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
    init?(_ text: String) {
        guard text.utf8.count <= 48 else { return nil }
        let pieces = text.split(separator: ".", omittingEmptySubsequences: false)
        switch pieces.count {
        case 2 where pieces[1] == "mp4":
            guard let number = Self.number(pieces[0], after: "init") else { return nil }
            self = .initialization(number)
        case 2 where pieces[1] == "m4s":
            guard let sequence = Self.number(pieces[0], after: "s") else { return nil }
            self = .segment(sequence)
        case 3 where pieces[2] == "m4s":
            guard let sequence = Self.number(pieces[0], after: "s"), let index = Self.number(pieces[1], after: "p")
            else { return nil }
            self = .part(sequence, index)
        default: return nil
        }
        guard self.text == text else { return nil }
    }

    private static func number(_ text: Substring, after prefix: String) -> Int? {
        text.hasPrefix(prefix) ? Int(text.dropFirst(prefix.count)) : nil
    }
}
