/// One range of a `Range` header (RFC 9110, 14.2), resolved against a body's length.
struct ByteRange: Equatable {
    enum Reading: Equatable {
        /// No range, several ranges, or a form that is not understood: the whole body is the right answer.
        case whole
        case partial(ByteRange)
        case unsatisfiable
    }

    let first: Int
    let last: Int

    var count: Int { last - first + 1 }

    static func read(_ header: String?, length: Int) -> Reading {
        guard let header, header.hasPrefix("bytes=") else { return .whole }
        let parts = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, !header.contains(",") else { return .whole }
        switch (number(parts[0]), number(parts[1])) {
        case (let first?, let last?):
            guard first <= last else { return .whole }
            guard first < length else { return .unsatisfiable }
            return .partial(ByteRange(first: first, last: min(last, length - 1)))
        case (let first?, nil):
            guard parts[1].isEmpty else { return .whole }
            guard first < length else { return .unsatisfiable }
            return .partial(ByteRange(first: first, last: length - 1))
        case (nil, let suffix?):
            guard parts[0].isEmpty else { return .whole }
            guard suffix > 0, length > 0 else { return .unsatisfiable }
            return .partial(ByteRange(first: max(0, length - suffix), last: length - 1))
        case (nil, nil):
            return .whole
        }
    }

    /// Digits alone: what `Int` takes beyond them, the grammar does not.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(text) : nil
    }
}
