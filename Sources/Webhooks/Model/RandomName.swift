/// Makes the stable ids of endpoints and messages.
enum RandomName {
    /// `prefix` and 32 random hexadecimal digits.
    static func make(_ prefix: String) -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        let text = (0..<32).map { _ in digits[Int.random(in: 0..<16, using: &generator)] }
        return prefix + String(decoding: text, as: UTF8.self)
    }
}
