/// What the program is at a time when it shows nobody.
public struct SlateResource: Codable, Sendable, Hashable {
    /// Up to 500 characters; the usual words when left out.
    public var text: String?
    /// What fills the canvas, `asset:NAME` or a URL; the background when left out.
    public var image: String?
    /// What is played, `asset:NAME` or a URL; silence when left out.
    public var music: String?

    /// Makes a slate; what is left out is nil.
    public init(text: String? = nil, image: String? = nil, music: String? = nil) {
        self.text = text
        self.image = image
        self.music = music
    }

    private enum CodingKeys: String, CodingKey {
        case text
        case image
        case music
    }
}
