/// The naming rule of rooms, participants and outputs: `[A-Za-z0-9_-]{1,64}`.
///
/// Names appear in URLs, file names, logs and metric labels, so characters that need escaping in any of them are
/// refused.
public enum NameRule {
    /// The violations of the rule.
    public enum Fault: Sendable, Equatable {
        case empty
        case tooLong
        case wrongCharacters
    }

    /// The maximum length, in characters.
    public static let maximumLength = 64

    /// Returns the first violation of `name`; nil for a valid one.
    public static func check(_ name: String) -> Fault? {
        let bytes = name.utf8
        if bytes.isEmpty { return .empty }
        if bytes.count > maximumLength { return .tooLong }
        return bytes.allSatisfy(isAllowed) ? nil : .wrongCharacters
    }

    /// Returns the first violation of a file's name, which may also have dots, but not at its beginning.
    public static func checkFile(_ name: String) -> Fault? {
        let bytes = name.utf8
        if bytes.isEmpty { return .empty }
        if bytes.count > maximumLength { return .tooLong }
        let dot = UInt8(ascii: ".")
        return bytes.first != dot && bytes.allSatisfy { isAllowed($0) || $0 == dot } ? nil : .wrongCharacters
    }

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}
