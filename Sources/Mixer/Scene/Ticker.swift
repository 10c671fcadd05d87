/// Text that runs along the lower edge of the canvas, round and round.
public struct Ticker: Sendable, Hashable, Codable {
    /// One line.
    public var text: String
    /// Canvas widths per second.
    public var speed: Double

    /// Makes a ticker.
    public init(text: String, speed: Double = 0.1) {
        self.text = text
        self.speed = speed
    }
}
