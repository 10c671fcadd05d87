public import Stage

/// An image or audio file that was uploaded to a room.
public struct AssetResource: Codable, Sendable, Hashable {
    /// The name in the room; other fields refer to it as `asset:` and the name.
    public var name: String
    /// `image` or `sound`.
    public var kind: WireEnum<Asset.Kind>
    /// The MIME type, such as `image/png`.
    public var contentType: String
    /// The size in bytes.
    public var size: Int
    /// A value that differs for every content ever stored under the name.
    public var version: String
    /// The upload time.
    public var dateStored: Timestamp

    /// Makes a description.
    public init(
        name: String,
        kind: WireEnum<Asset.Kind>,
        contentType: String,
        size: Int,
        version: String,
        dateStored: Timestamp
    ) {
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

/// The assets of a room, by name.
public struct AssetList: Codable, Sendable, Hashable {
    /// The assets.
    public var assets: [AssetResource]

    /// Makes a list.
    public init(assets: [AssetResource]) {
        self.assets = assets
    }
}
