/// What is on air: how the tiles are arranged, and the tiles.
public struct LayoutResource: Codable, Sendable, Hashable {
    /// `GRID`, `SPOTLIGHT` or `SIDEBAR`.
    public var type: String
    /// Who comes first: `SPEAKER` or `PIN`.
    public var priority: String
    /// Tiles at the same time, 1 to 12.
    public var gridSize: Int
    /// `landscape` or `portrait`.
    public var orientation: String
    /// `DARK`, `LIGHT` or `DEFAULT`.
    public var theme: String
    /// How cameras fill their tiles: `fill` or `fit`.
    public var scaleMode: String
    /// A screen share takes the large place by itself.
    public var autoSwitchOnScreenShare: Bool
    /// What is written on the tiles.
    public var overlays: OverlaysResource
    /// Canvas width in pixels.
    public var width: Int
    /// Canvas height in pixels.
    public var height: Int
    /// In order of position.
    public var tiles: [TileResource]

    /// Makes a layout.
    public init(
        type: String,
        priority: String = "SPEAKER",
        gridSize: Int,
        orientation: String,
        theme: String = "DEFAULT",
        scaleMode: String = "fill",
        autoSwitchOnScreenShare: Bool = true,
        overlays: OverlaysResource = OverlaysResource(name: true, mic: true),
        width: Int,
        height: Int,
        tiles: [TileResource]
    ) {
        self.type = type
        self.priority = priority
        self.gridSize = gridSize
        self.orientation = orientation
        self.theme = theme
        self.scaleMode = scaleMode
        self.autoSwitchOnScreenShare = autoSwitchOnScreenShare
        self.overlays = overlays
        self.width = width
        self.height = height
        self.tiles = tiles
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case priority
        case gridSize = "grid_size"
        case orientation
        case theme
        case scaleMode = "scale_mode"
        case autoSwitchOnScreenShare = "auto_switch_on_screen_share"
        case overlays
        case width
        case height
        case tiles
    }
}
