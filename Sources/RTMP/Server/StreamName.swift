/// Takes apart what peers write where an application or stream name is expected.
struct StreamName: Equatable {
    /// Parts joined by `/`, none at the ends.
    var path: String
    var query: [String: String]

    /// Reads `"live/?token=x"`, `/key?a=b`, and the like; quotes, blanks and slashes at the ends mean nothing.
    init(_ text: String) {
        let trimmed = text.drop { Self.isJunk($0) }
        let halves = trimmed.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let parts = (halves.first ?? "").split(separator: "/")
        var last = parts.joined(separator: "/")
        while let character = last.last, Self.isJunk(character) { last.removeLast() }
        path = last
        query = halves.count > 1 ? Self.parameters(halves[1]) : [:]
    }

    /// The path and query of an `rtmp://` address; nil when it is none.
    init?(url: String) {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        self.init(String(rest[slash...]))
    }

    /// Up to four parts of letters, digits, `_`, `-` and `.`; none of dots alone, none too long, and at least one.
    func isAcceptable(limits: RTMPLimits) -> Bool {
        let parts = path.split(separator: "/")
        return (1...4).contains(parts.count)
            && parts.allSatisfy { part in
                part.utf8.count <= limits.nameLength
                    && part.utf8.allSatisfy(Self.isAllowed)
                    && part.contains { $0 != "." }
            }
    }

    /// Splits off the last part: some encoders have one field for the address and none for the key.
    mutating func removeLastPart() -> String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let last = String(path[path.index(after: slash)...])
        path = String(path[..<slash])
        return last
    }

    private static func isJunk(_ character: Character) -> Bool {
        character == "\"" || character == "'" || character == " " || character == "\0"
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func parameters(_ text: Substring) -> [String: String] {
        var result: [String: String] = [:]
        for pair in text.split(separator: "&").prefix(32) {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let key = decoded(halves[0])
            if result[key] == nil { result[key] = halves.count > 1 ? decoded(halves[1]) : "" }
        }
        return result
    }

    /// Resolves `%41`; anything else stays as it is.
    private static func decoded(_ text: Substring) -> String {
        guard text.contains("%") else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let value = UInt8(String(Substring(digits)), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
