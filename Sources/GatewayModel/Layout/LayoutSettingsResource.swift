/// How a room's tiles are arranged.
public struct LayoutSettingsResource: Codable, Sendable, Hashable {
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

    /// Makes settings.
    public init(
        type: String,
        priority: String = "SPEAKER",
        gridSize: Int,
        orientation: String,
        theme: String = "DEFAULT",
        scaleMode: String = "fill",
        autoSwitchOnScreenShare: Bool = true,
        overlays: OverlaysResource = OverlaysResource(name: true, mic: true)
    ) {
        self.type = type
        self.priority = priority
        self.gridSize = gridSize
        self.orientation = orientation
        self.theme = theme
        self.scaleMode = scaleMode
        self.autoSwitchOnScreenShare = autoSwitchOnScreenShare
        self.overlays = overlays
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
    }
}
