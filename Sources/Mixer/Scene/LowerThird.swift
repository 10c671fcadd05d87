/// Two lines of text over the lower part of the canvas.
public struct LowerThird: Sendable, Hashable, Codable {
    /// The larger line.
    public var title: String
    /// The smaller line below it.
    public var subtitle: String?

    /// Makes a lower third.
    public init(title: String, subtitle: String? = nil) {
        self.title = title
        self.subtitle = subtitle
    }
}
