/// Text that runs along the lower edge of the canvas.
public struct TickerResource: Codable, Sendable, Hashable {
    /// One line, up to 2000 characters and 16000 bytes.
    public var text: String
    /// Canvas widths per second, 0.01 to 1; 0.1 when left out.
    public var speed: Double?

    /// Makes a ticker.
    public init(text: String, speed: Double? = nil) {
        self.text = text
        self.speed = speed
    }

    private enum CodingKeys: String, CodingKey {
        case text
        case speed
    }
}
