/// A picture over a corner of the canvas.
public struct LogoResource: Codable, Sendable, Hashable {
    /// `asset:NAME`, or an `http://` or `https://` URL.
    public var image: String
    /// `top_left`, `top_right`, `bottom_left` or `bottom_right`; `top_right` when left out.
    public var position: String?
    /// 0, not seen, to 1, nothing seen through it; 1 when left out.
    public var opacity: Double?
    /// A part of the canvas's height, 0.02 to 0.5; 0.1 when left out.
    public var height: Double?

    /// Makes a logo; what is left out is nil.
    public init(image: String, position: String? = nil, opacity: Double? = nil, height: Double? = nil) {
        self.image = image
        self.position = position
        self.opacity = opacity
        self.height = height
    }

    private enum CodingKeys: String, CodingKey {
        case image
        case position
        case opacity
        case height
    }
}
