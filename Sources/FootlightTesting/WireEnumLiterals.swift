public import FootlightModel

// Tests write and compare values of the API as the JSON has them.
extension WireEnum: ExpressibleByStringLiteral {
    /// Creates a value from its text.
    public init(stringLiteral text: String) {
        self.init(rawValue: text)
    }
}
