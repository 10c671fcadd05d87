/// Creates and validates the ids of rooms, participants, tracks and sessions.
public enum StageIdentifier {
    /// Returns `prefix` and 32 random hexadecimal digits.
    public static func make(_ prefix: String) -> String {
        var generator = SystemRandomNumberGenerator()
        return prefix + hexadecimal(bytes: 16, using: &generator)
    }

    /// Whether a text has the format of such an id.
    public static func isValid(_ text: String, _ prefix: String) -> Bool {
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        let isHexadecimal = digits.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        return text.hasPrefix(prefix) && digits.count == 32 && isHexadecimal
    }

    static func hexadecimal(bytes: Int, using generator: inout SystemRandomNumberGenerator) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = (0..<bytes * 2).map { _ in digits[Int.random(in: 0..<16, using: &generator)] }
        return String(decoding: text, as: UTF8.self)
    }
}
