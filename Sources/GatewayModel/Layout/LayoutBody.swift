/// The body of `PUT /v1/rooms/{room}/layout`; what is left out stays as it is.
public struct LayoutBody: Codable, Sendable, Hashable {
    /// `GRID`, `SPOTLIGHT` or `SIDEBAR`.
    public var type: String?
    /// Who comes first: `SPEAKER` or `PIN`.
    public var priority: String?
    /// Tiles at the same time, 1 to 12.
    public var gridSize: Int?
    /// `landscape` or `portrait`.
    public var orientation: String?
    /// `DARK`, `LIGHT` or `DEFAULT`.
    public var theme: String?
    /// How cameras fill their tiles: `fill` or `fit`.
    public var scaleMode: String?
    /// A screen share takes the large place by itself.
    public var autoSwitchOnScreenShare: Bool?
    /// What is written on the tiles.
    public var overlays: OverlaysBody?

    /// Makes a body; what is left out is nil.
    public init(
        type: String? = nil,
        priority: String? = nil,
        gridSize: Int? = nil,
        orientation: String? = nil,
        theme: String? = nil,
        scaleMode: String? = nil,
        autoSwitchOnScreenShare: Bool? = nil,
        overlays: OverlaysBody? = nil
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
