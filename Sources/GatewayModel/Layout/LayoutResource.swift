/// What is on air: how the tiles are arranged, and the tiles.
///
/// The settings' fields are its own on the wire, and in code.
@dynamicMemberLookup
public struct LayoutResource: Codable, Sendable, Hashable {
    /// How the tiles are arranged.
    public var settings: LayoutSettingsResource
    /// Canvas width in pixels.
    public var width: Int
    /// Canvas height in pixels.
    public var height: Int
    /// In order of position.
    public var tiles: [TileResource]

    /// Makes a layout.
    public init(settings: LayoutSettingsResource, width: Int, height: Int, tiles: [TileResource]) {
        self.settings = settings
        self.width = width
        self.height = height
        self.tiles = tiles
    }

    /// A field of the settings.
    public subscript<Value>(dynamicMember field: KeyPath<LayoutSettingsResource, Value>) -> Value {
        settings[keyPath: field]
    }

    /// Reads the settings' fields and its own from one object.
    public init(from decoder: any Decoder) throws {
        settings = try LayoutSettingsResource(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        width = try values.decode(Int.self, forKey: .width)
        height = try values.decode(Int.self, forKey: .height)
        tiles = try values.decode([TileResource].self, forKey: .tiles)
    }

    /// Writes the settings' fields and its own into one object.
    public func encode(to encoder: any Encoder) throws {
        try settings.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(width, forKey: .width)
        try values.encode(height, forKey: .height)
        try values.encode(tiles, forKey: .tiles)
    }

    private enum CodingKeys: String, CodingKey {
        case width
        case height
        case tiles
    }
}
