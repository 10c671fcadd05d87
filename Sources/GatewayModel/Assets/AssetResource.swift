/// A picture or sound that was put into a room.
public struct AssetResource: Codable, Sendable, Hashable {
    /// Its name in the room; `asset:` and the name is what other fields call it by.
    public var name: String
    /// `image` or `sound`.
    public var kind: String
    /// What its bytes are, such as `image/png`.
    public var contentType: String
    /// Bytes.
    public var size: Int
    /// Another one for every content that was ever put under the name.
    public var version: String
    /// When it was put there.
    public var dateStored: Timestamp

    /// Makes a description.
    public init(name: String, kind: String, contentType: String, size: Int, version: String, dateStored: Timestamp) {
        self.name = name
        self.kind = kind
        self.contentType = contentType
        self.size = size
        self.version = version
        self.dateStored = dateStored
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case kind
        case contentType = "content_type"
        case size
        case version
        case dateStored = "date_stored"
    }
}
