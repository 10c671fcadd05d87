/// How a room's tiles are arranged, and what they look like.
public struct LayoutSettings: Sendable, Hashable, Codable {
    /// The arrangements there are.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// Tiles of one size, row by row; beside a large screen while one is shared.
        case grid = "GRID"
        /// Nobody but who matters most.
        case spotlight = "SPOTLIGHT"
        /// Who matters most large, the others in a strip below.
        case sidebar = "SIDEBAR"
    }

    /// Who matters most where not everybody can.
    public enum Priority: String, Sendable, Hashable, Codable, CaseIterable {
        /// Who has the floor, also before somebody who is pinned.
        case speaker = "SPEAKER"
        /// Who is pinned.
        case pin = "PIN"
    }

    /// The colours around the tiles.
    public enum Theme: String, Sendable, Hashable, Codable, CaseIterable {
        case dark = "DARK"
        case light = "LIGHT"
        case standard = "DEFAULT"
    }

    /// What is written on the tiles.
    public struct Overlays: Sendable, Hashable, Codable {
        /// The host's display name.
        public var name: Bool
        /// Whether the microphone is heard.
        public var mic: Bool

        /// Makes a choice; both by default.
        public init(name: Bool = true, mic: Bool = true) {
            self.name = name
            self.mic = mic
        }
    }

    /// The arrangement.
    public var kind: Kind
    /// Who matters most.
    public var priority: Priority
    /// Tiles at the same time, the large one included, 1 to 12; hosts beyond wait for a place.
    public var gridSize: Int
    /// Which way the tiles are arranged; nil follows the canvas.
    public var orientation: Orientation?
    /// The colours around the tiles.
    public var theme: Theme
    /// How cameras are fitted into their tiles; a screen is always seen whole.
    public var scaleMode: Tile.ScaleMode
    /// A screen that is shared becomes the large tile; otherwise it takes the place of its host's camera.
    public var autoSwitchOnScreenShare: Bool
    /// What is written on the tiles.
    public var overlays: Overlays
    /// Milliseconds in which tiles move, come and go, 0 to 2000; 0 is at once.
    public var transition: Int
    /// Seconds after which hosts without a place take turns with those who have one, 3 to 300; 0 shows those who wait only
    /// when they speak, are pinned or share a screen.
    public var rotation: Int = 0
    /// What lies behind the tiles; nil is the theme's colour.
    public var background: Background?
    /// A picture over a corner of the canvas.
    public var logo: Logo?
    /// Two lines over the lower part of the canvas.
    public var lowerThird: LowerThird?
    /// Text that runs along the lower edge of the canvas.
    public var ticker: Ticker?
    /// What the program is while it shows nobody.
    public var slates: Slates
    /// Those of the `addresses` that an operator gave: they alone may be private ones, where the gateway allows that.
    public var operatorAddresses: Set<String> = []

    /// Milliseconds of a transition that nobody set.
    public static let usualTransition = 300

    /// Makes settings; what is not named has its default.
    ///
    /// Nothing is checked before `validate(path:)`.
    public init(
        kind: Kind = .grid,
        priority: Priority = .speaker,
        gridSize: Int = GridLayout.maximumTiles,
        orientation: Orientation? = nil,
        theme: Theme = .standard,
        scaleMode: Tile.ScaleMode = .fill,
        autoSwitchOnScreenShare: Bool = true,
        overlays: Overlays = .init(),
        transition: Int = usualTransition,
        background: Background? = nil,
        logo: Logo? = nil,
        lowerThird: LowerThird? = nil,
        ticker: Ticker? = nil,
        slates: Slates = .init()
    ) {
        self.kind = kind
        self.priority = priority
        self.gridSize = gridSize
        self.orientation = orientation
        self.theme = theme
        self.scaleMode = scaleMode
        self.autoSwitchOnScreenShare = autoSwitchOnScreenShare
        self.overlays = overlays
        self.transition = transition
        self.background = background
        self.logo = logo
        self.lowerThird = lowerThird
        self.ticker = ticker
        self.slates = slates
    }

    /// Reads stored settings; what was not there yet when they were stored has its default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        kind = try values.decode(Kind.self, forKey: .kind)
        priority = try values.decode(Priority.self, forKey: .priority)
        gridSize = try values.decode(Int.self, forKey: .gridSize)
        orientation = try values.decodeIfPresent(Orientation.self, forKey: .orientation)
        theme = try values.decode(Theme.self, forKey: .theme)
        scaleMode = try values.decode(Tile.ScaleMode.self, forKey: .scaleMode)
        autoSwitchOnScreenShare = try values.decode(Bool.self, forKey: .autoSwitchOnScreenShare)
        overlays = try values.decode(Overlays.self, forKey: .overlays)
        transition = try values.decodeIfPresent(Int.self, forKey: .transition) ?? Self.usualTransition
        rotation = try values.decodeIfPresent(Int.self, forKey: .rotation) ?? 0
        background = try values.decodeIfPresent(Background.self, forKey: .background)
        logo = try values.decodeIfPresent(Logo.self, forKey: .logo)
        lowerThird = try values.decodeIfPresent(LowerThird.self, forKey: .lowerThird)
        ticker = try values.decodeIfPresent(Ticker.self, forKey: .ticker)
        slates = try values.decodeIfPresent(Slates.self, forKey: .slates) ?? Slates()
        operatorAddresses = try values.decodeIfPresent(Set<String>.self, forKey: .operatorAddresses) ?? []
    }
}
