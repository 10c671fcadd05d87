/// The body of `PUT /v1/rooms/{room}/layout`; what is left out stays as it is.
public struct LayoutBody: Codable, Sendable, Hashable {
    /// `GRID`, `SPOTLIGHT` or `SIDEBAR`.
    public var type: String?
    /// Who comes first: `SPEAKER` or `PIN`.
    public var priority: String?
    /// Tiles at the same time, 1 to 12.
    public var gridSize: Int?
    /// Seconds after which hosts without a tile take turns with those who have one, 3 to 300; 0 is never.
    public var rotateEvery: Int?
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
    /// Milliseconds in which tiles move, come and go, 0 to 2000; null is 300 again.
    public var transitionMS: ExplicitNull<Int>?
    /// What lies behind the tiles; null is the theme's colour again.
    public var background: ExplicitNull<BackgroundResource>?
    /// A picture over a corner of the canvas; null takes it away.
    public var logo: ExplicitNull<LogoResource>?
    /// Two lines over the lower part of the canvas; null takes them away.
    public var lowerThird: ExplicitNull<LowerThirdResource>?
    /// Text that runs along the lower edge of the canvas; null takes it away.
    public var ticker: ExplicitNull<TickerResource>?
    /// What the program is while it shows nobody; null is the plain slates again.
    public var slates: ExplicitNull<SlatesBody>?

    /// Makes a body; what is left out is nil.
    public init(
        type: String? = nil,
        priority: String? = nil,
        gridSize: Int? = nil,
        rotateEvery: Int? = nil,
        orientation: String? = nil,
        theme: String? = nil,
        scaleMode: String? = nil,
        autoSwitchOnScreenShare: Bool? = nil,
        overlays: OverlaysBody? = nil,
        transitionMS: ExplicitNull<Int>? = nil,
        background: ExplicitNull<BackgroundResource>? = nil,
        logo: ExplicitNull<LogoResource>? = nil,
        lowerThird: ExplicitNull<LowerThirdResource>? = nil,
        ticker: ExplicitNull<TickerResource>? = nil,
        slates: ExplicitNull<SlatesBody>? = nil
    ) {
        self.type = type
        self.priority = priority
        self.gridSize = gridSize
        self.rotateEvery = rotateEvery
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
