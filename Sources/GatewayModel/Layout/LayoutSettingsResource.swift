/// How a room's tiles are arranged.
public struct LayoutSettingsResource: Codable, Sendable, Hashable {
    /// `GRID`, `SPOTLIGHT` or `SIDEBAR`.
    public var type: String
    /// Who comes first: `SPEAKER` or `PIN`.
    public var priority: String
    /// Tiles at the same time, 1 to 12.
    public var gridSize: Int
    /// Seconds after which hosts without a tile take turns with those who have one; left out where they never do.
    public var rotateEvery: Int?
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
    /// Milliseconds in which tiles move, come and go.
    public var transitionMS: Int
    /// What lies behind the tiles; null is the theme's colour.
    @ExplicitNull public var background: BackgroundResource?
    /// A picture over a corner of the canvas; null without one.
    @ExplicitNull public var logo: LogoResource?
    /// Two lines over the lower part of the canvas; null without them.
    @ExplicitNull public var lowerThird: LowerThirdResource?
    /// Text that runs along the lower edge of the canvas; null without it.
    @ExplicitNull public var ticker: TickerResource?
    /// What the program is while it shows nobody.
    public var slates: SlatesResource

    /// Makes settings; the usual ones unless said.
    public init(
        type: String,
        priority: String = "SPEAKER",
        gridSize: Int,
        orientation: String,
        theme: String = "DEFAULT",
        scaleMode: String = "fill",
        autoSwitchOnScreenShare: Bool = true,
        overlays: OverlaysResource = OverlaysResource(name: true, mic: true),
        transitionMS: Int = 300,
        background: BackgroundResource? = nil,
        logo: LogoResource? = nil,
        lowerThird: LowerThirdResource? = nil,
        ticker: TickerResource? = nil,
        slates: SlatesResource = SlatesResource()
    ) {
        self.type = type
        self.priority = priority
        self.gridSize = gridSize
        self.orientation = orientation
        self.theme = theme
        self.scaleMode = scaleMode
        self.autoSwitchOnScreenShare = autoSwitchOnScreenShare
        self.overlays = overlays
        self.transitionMS = transitionMS
        self.background = background
        self.logo = logo
        self.lowerThird = lowerThird
        self.ticker = ticker
        self.slates = slates
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case priority
        case gridSize = "grid_size"
        case rotateEvery = "rotate_every"
        case orientation
        case theme
        case scaleMode = "scale_mode"
        case autoSwitchOnScreenShare = "auto_switch_on_screen_share"
        case overlays
        case transitionMS = "transition_ms"
        case background
        case logo
        case lowerThird = "lower_third"
        case ticker
        case slates
    }
}
