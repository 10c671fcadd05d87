/// Two lines over the lower part of the canvas.
public struct LowerThirdResource: Codable, Sendable, Hashable {
    /// The larger line, up to 500 characters.
    public var title: String
    /// The smaller line, up to 500 characters.
    public var subtitle: String?

    /// Makes a lower third.
    public init(title: String, subtitle: String? = nil) {
        self.title = title
        self.subtitle = subtitle
    }

    private enum CodingKeys: String, CodingKey {
        case title
        case subtitle
    }
}
