/// How a room's tiles are arranged.
public struct LayoutSettingsResource: Codable, Sendable, Hashable {
    /// `GRID`.
    public var type: String?
    /// Tiles at the same time, 1 to 12.
    public var gridSize: Int?

    /// Makes settings; what is left out is nil.
    public init(type: String? = nil, gridSize: Int? = nil) {
        self.type = type
        self.gridSize = gridSize
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case gridSize = "grid_size"
    }
}
