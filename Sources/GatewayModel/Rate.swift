/// Pictures per second as the API writes them: a number where that is exact enough for people, else a fraction in text.
///
/// Whether the text is a rate that can be used is decided by whoever takes it.
public struct Rate: Codable, Sendable, Hashable {
    /// Such as `30`, `29.97` or `30000/1001`.
    public var text: String

    /// Wraps a rate's text.
    public init(_ text: String) {
        self.text = text
    }

    /// Reads a number or text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let whole = try? container.decode(Int.self) {
            text = String(whole)
        } else if let number = try? container.decode(Double.self) {
            text = String(number)
        } else {
            text = try container.decode(String.self)
        }
    }

    /// Writes a number where the text is one, else the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let whole = Int(text) {
            try container.encode(whole)
        } else if let number = Double(text), String(number) == text {
            try container.encode(number)
        } else {
            try container.encode(text)
        }
    }
}
