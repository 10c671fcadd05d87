/// A room's pictures and sounds, by name.
public struct AssetList: Codable, Sendable, Hashable {
    /// All of them.
    public var assets: [AssetResource]

    /// Makes a list.
    public init(assets: [AssetResource]) {
        self.assets = assets
    }

    private enum CodingKeys: String, CodingKey {
        case assets
    }
}
