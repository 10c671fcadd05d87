/// What lies behind the tiles: one of the two.
public struct BackgroundResource: Codable, Sendable, Hashable {
    /// `#rrggbb`.
    public var colour: String?
    /// `asset:NAME`, or an `http://` or `https://` URL.
    public var image: String?

    /// Makes a background.
    public init(colour: String? = nil, image: String? = nil) {
        self.colour = colour
        self.image = image
    }

    private enum CodingKeys: String, CodingKey {
        case colour
        case image
    }
}
