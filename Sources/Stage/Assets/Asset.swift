/// A picture or sound that was put into a room, for its mixer to use.
public struct Asset: Sendable, Hashable {
    /// What it can be used for.
    public enum Kind: String, Sendable, Hashable, Codable {
        case image
        case sound
    }

    /// Pixels of the longest side of an image that is drawn.
    public static let longestSide = 4096

    /// Its name in the room, `[A-Za-z0-9_-]{1,64}`.
    public var name: String
    /// What it can be used for.
    public var kind: Kind
    /// What its bytes are, such as `image/png`.
    public var contentType: String
    /// Bytes.
    public var size: Int
    /// Another one for every content that was ever put under the name.
    public var version: String
    /// Seconds since 1970.
    public var storedAt: Double

    /// Makes a description.
    public init(name: String, kind: Kind, contentType: String, size: Int, version: String, storedAt: Double) {
        self.name = name
        self.kind = kind
        self.contentType = contentType
        self.size = size
        self.version = version
        self.storedAt = storedAt
    }
}
